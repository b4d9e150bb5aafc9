package opentsdb

import (
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tsmark/tsmark/driver/metric"
)

// escape begins a byte that names and tags' values cannot have, and itself, in two hexadecimal
// digits behind it: /20 is a blank.
const escape = '/'

// allowed reports whether names and values can have the character, beside those that the
// server's tsd.core.tag.allow_specialchars names.
func allowed(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
		return true
	}
	// What is one character of Java's as well.
	return r > unicode.MaxASCII && r < 1<<16 && r != utf8.RuneError && unicode.IsLetter(r)
}

// name makes of a text one that OpenTSDB can have as a name or as a tag's value.
func name(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !allowed(r) }) < 0 {
		return text
	}
	var out []byte
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		part := text[at : at+size]
		at += size
		if allowed(r) {
			out = append(out, part...)
			continue
		}
		for i := range len(part) {
			out = hex.AppendEncode(append(out, escape), []byte{part[i]})
		}
	}
	return string(out)
}

// text is what name made a name of. What is none of its names stays as it is.
func text(name string) string {
	if strings.IndexByte(name, escape) < 0 {
		return name
	}
	var out []byte
	for i := 0; i < len(name); i++ {
		if name[i] != escape {
			out = append(out, name[i])
			continue
		}
		if i+2 >= len(name) {
			return name
		}
		b, err := hex.DecodeString(name[i+1 : i+3])
		if err != nil {
			return name
		}
		out = append(out, b...)
		i += 2
	}
	return string(out)
}

// metricOf is the metric of a table's field.
func metricOf(table, field string) string { return name(metric.Name(table, field)) }
