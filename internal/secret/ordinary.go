package secret

import (
	_ "embed"
	"regexp"
	"strings"
	"unicode"
)

// words are those of tsmark's documents and messages, of the errors of databases, and
// other common ones, of four characters and more, each between blanks.
//
//go:embed words.txt
var words string

// number is a number with the units that reports have, or a percentile.
var number = regexp.MustCompile(`^(?:[-+]?[0-9][0-9.,:]{0,8}(?:e[-+]?[0-9]{1,3})?(?:ns|µs|us|ms|s|m|h|d|%|k|K|M|G|B|[kKMGT]i?B|/s|×|x)?|p[0-9]{1,3})$`)

// ordinary reports whether a value is part of ordinary text: a common word, a number, or so short
// that it must occur by chance. Hiding it everywhere would make texts unreadable, and the stars
// would reveal the word. It is a secret only where a name or its place says so.
func ordinary(v string) bool {
	if len([]rune(v)) < shortest-1 || number.MatchString(v) || strings.IndexFunc(v, isWord) < 0 {
		return true
	}
	lower := strings.ToLower(v)
	if v != lower && v != strings.ToUpper(v) && v[1:] != lower[1:] {
		return false
	}
	if len(v) < shortest {
		return letters(v)
	}
	return strings.Contains(words, " "+lower+" ") && !strings.Contains(lower, " ")
}

// anywhere reports whether a value is a secret also within a word. Short ones, and short
// ones of letters alone, are part of many words.
func anywhere(v string) bool { return len(v) >= shortest && (len(v) >= 2*shortest || !letters(v)) }

func letters(v string) bool {
	return strings.IndexFunc(v, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}
