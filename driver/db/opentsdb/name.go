package opentsdb

import (
	"encoding/hex"
	"strings"
)

// escape begins an escaped byte: a byte that is not allowed in names and tags' values, or escape
// itself, follows as two hexadecimal digits. /20 is a blank.
const escape = '/'

// allowed reports whether names and values can have the character. The server accepts all letters, and
// stores letters outside of Latin 1 as '?'.
func allowed(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// name encodes a text as a name or a tag's value of OpenTSDB.
func name(text string) string {
	at := 0
	for at < len(text) && allowed(text[at]) {
		at++
	}
	if at == len(text) {
		return text
	}
	out := []byte(text[:at])
	for _, c := range []byte(text[at:]) {
		if allowed(c) {
			out = append(out, c)
		} else {
			out = hex.AppendEncode(append(out, escape), []byte{c})
		}
	}
	return string(out)
}

// text decodes a name that name has encoded. It returns any other text unchanged.
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
