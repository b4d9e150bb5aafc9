// Package properties reads Java's properties files and records the line of every entry. It reads
// them as UTF-8, the encoding of files with comments in Chinese; java.util.Properties.load, which
// reads ISO-8859-1, finds the same keys and values as long as they are ASCII.
package properties

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxSize is the maximum number of bytes of a file.
const MaxSize = 1 << 20

// Entry is a key and its value.
type Entry struct {
	Key, Value string // without escapes; the value without white space at its end
	Line       int    // line of the key, from 1
}

// Error is the error of a line.
type Error struct {
	Line int // from 1; 0: the whole file
	Text string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Text)
}

// Parse parses a file: see java.util.Properties.load. In addition, a repeated key is an error, and
// so is invalid UTF-8. Its error is an *Error.
func Parse(data []byte) ([]Entry, error) {
	if len(data) > MaxSize {
		return nil, &Error{0, fmt.Sprintf("is larger than %d bytes: not a properties file", MaxSize)}
	}
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return nil, &Error{1, "wrong encoding: this is UTF-16; save the file as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // the mark that some editors put first
	lines := split(data)
	for i, line := range lines {
		if at := firstInvalid(line); at >= 0 {
			return nil, &Error{i + 1, fmt.Sprintf("wrong encoding: byte 0x%02x is no UTF-8; save the file as UTF-8, as in iconv -f GB18030 -t UTF-8", line[at])}
		}
	}
	var entries []Entry
	seen := make(map[string]int)
	for i := 0; i < len(lines); {
		first := i
		piece := strings.TrimLeft(string(lines[i]), blanks)
		i++
		if piece == "" || piece[0] == '#' || piece[0] == '!' {
			continue
		}
		var logical strings.Builder
		for continues(piece) && i < len(lines) {
			logical.WriteString(piece[:len(piece)-1])
			piece = strings.TrimLeft(string(lines[i]), blanks)
			i++
		}
		logical.WriteString(piece)
		e, err := entry(logical.String(), first+1)
		if err != nil {
			return nil, err
		}
		if before, twice := seen[e.Key]; twice {
			return nil, &Error{e.Line, fmt.Sprintf("%s is there twice, first on line %d; leave one out", quote(e.Key), before)}
		}
		seen[e.Key] = e.Line
		entries = append(entries, e)
	}
	return entries, nil
}

// blanks are the characters that Java treats as white space.
const blanks = " \t\f"

// split returns the lines without their ends: \n, \r or both.
func split(data []byte) [][]byte {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	return bytes.Split(data, []byte("\n"))
}

// firstInvalid returns where a line is no UTF-8; -1: nowhere.
func firstInvalid(line []byte) int {
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// continues reports whether the next line belongs to this one: it ends in an odd
// number of backslashes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// entry splits a line at the first separator that is not escaped: =, : or white
// space.
func entry(line string, number int) (Entry, error) {
	end := 0
	for end < len(line) && !strings.ContainsRune("=:"+blanks, rune(line[end])) {
		if line[end] == '\\' {
			end++ // the escaped character does not end it
		}
		end++
	}
	end = min(end, len(line))
	rest := strings.TrimLeft(line[end:], blanks)
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], blanks)
	}
	key, err := unescape(line[:end])
	if err == nil && key == "" {
		err = fmt.Errorf("has a value without a key; write KEY=VALUE")
	}
	value := ""
	if err == nil {
		trimmed := strings.TrimRight(rest, blanks)
		if continues(trimmed) && len(trimmed) < len(rest) {
			trimmed = rest[:len(trimmed)+1] // that blank was escaped
		}
		value, err = unescape(trimmed)
	}
	if err != nil {
		return Entry{}, &Error{number, err.Error()}
	}
	return Entry{key, value, number}, nil
}

// unescape replaces \t, \n, \r, \f and \uXXXX; a backslash before anything else
// is left out.
func unescape(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out.WriteByte(text[i])
			continue
		}
		i++
		if i == len(text) {
			break
		}
		switch c := text[i]; c {
		case 't', 'n', 'r', 'f':
			out.WriteByte(map[byte]byte{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f'}[c])
		case 'u':
			r, length, err := unicode(text[i-1:])
			if err != nil {
				return "", err
			}
			out.WriteRune(r)
			i += length - 2
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}

// unicode parses \uXXXX, or a surrogate pair of two, and returns the number of bytes read.
func unicode(text string) (r rune, length int, err error) {
	unit := func(at string) (rune, bool) {
		if len(at) < 6 || at[:2] != `\u` {
			return 0, false
		}
		n, err := strconv.ParseUint(at[2:6], 16, 16)
		return rune(n), err == nil
	}
	r, ok := unit(text)
	if !ok {
		return 0, 0, fmt.Errorf("%s needs four hexadecimal digits behind it, as in \\u00e9", quote(`\u`))
	}
	if !utf16.IsSurrogate(r) {
		return r, 6, nil
	}
	if second, ok := unit(text[6:]); ok {
		if whole := utf16.DecodeRune(r, second); whole != utf8.RuneError {
			return whole, 12, nil
		}
	}
	return 0, 0, fmt.Errorf("%s is half a character", text[:6])
}

// quote returns a key as errors show it: on one line.
func quote(key string) string {
	if len(key) > 100 {
		return "a key of more than 100 characters"
	}
	quoted := strconv.Quote(key)
	if quoted == `"`+key+`"` {
		return key
	}
	return quoted
}
