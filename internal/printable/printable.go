// Package printable makes texts of others fit to be shown: what a server, a file
// or another person wrote must not move the cursor, set colours, turn the
// direction of writing or begin a line of its own.
package printable

import (
	"strings"
	"unicode"
)

// Line returns the text on one line: white space becomes spaces, and characters without a visible
// form (control characters, directions, byte order marks, invalid UTF-8) become U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return escapeRune(r)
	}, s)
}

// Text is Line for a text of several lines, whose ends and tabs stay.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return escapeRune(r)
	}, s)
}

// OneLine is Line with single spaces, and none at the ends.
func OneLine(s string) string { return strings.Join(strings.Fields(Line(s)), " ") }

func escapeRune(r rune) rune {
	if unicode.IsGraphic(r) {
		return r
	}
	return unicode.ReplacementChar
}
