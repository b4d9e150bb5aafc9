package input

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/tsmark/tsmark/internal/suggest"
)

// Encodings of Unicode. All others have one byte a character.
const (
	utf8Name  = "utf-8"
	utf16Name = "utf-16"
	utf16LE   = "utf-16le"
	utf16BE   = "utf-16be"
)

// CheckEncoding returns an error for the name of an encoding that cannot be read. The empty name
// stands for UTF-8, or UTF-16 by its first bytes.
func CheckEncoding(name string) error {
	switch strings.ToLower(name) {
	case "", utf8Name, utf16Name, utf16LE, utf16BE:
		return nil
	}
	if charmapOf(name) != nil {
		return nil
	}
	names := []string{utf8Name, utf16Name, utf16LE, utf16BE, "latin1"}
	for _, e := range charmap.All {
		names = append(names, strings.ReplaceAll(strings.ToLower(fmt.Sprint(e)), " ", "-"))
	}
	return fmt.Errorf("unknown encoding %q%s", name, suggest.NamesOr(name, names, "; write utf-16, latin1, windows-1252 or another one that has one byte a character"))
}

// charmapOf returns an encoding of one byte a character, by a name such as latin1, ISO-8859-15 or
// cp1250; nil: it is unknown.
func charmapOf(name string) *charmap.Charmap {
	name = plainEncoding(name)
	for _, alias := range [...]struct{ short, long string }{{"latin1", "iso88591"}, {"latin9", "iso885915"}, {"cp", "windows"}} {
		if rest, ok := strings.CutPrefix(name, alias.short); ok && (rest == "" || alias.short == "cp" && strings.HasPrefix(rest, "125")) {
			name = alias.long + rest
		}
	}
	for _, e := range charmap.All {
		if c, ok := e.(*charmap.Charmap); ok && plainEncoding(c.String()) == name {
			return c
		}
	}
	return nil
}

// plainEncoding is the name of an encoding without blanks, hyphens and capitals.
func plainEncoding(name string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(name))
}

// decodeText returns a text in UTF-8.
func decodeText(from io.Reader, encoding string) (io.Reader, error) {
	in := bufio.NewReaderSize(from, 64<<10)
	begin, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	found := sniffUTF16(begin)
	switch name := strings.ToLower(encoding); name {
	case "":
		if found == "" {
			return in, nil
		}
		return newDecoder(in, found), nil
	case utf8Name:
		return in, nil
	case utf16Name, utf16LE, utf16BE:
		if found == "" || name != utf16Name {
			found = utf16LE
		}
		if name == utf16BE {
			found = name
		}
		return newDecoder(in, found), nil
	}
	if strings.HasPrefix(string(begin), "\xef\xbb\xbf") || found != "" {
		return nil, fmt.Errorf("the file begins as Unicode does, and not as %s; leave the encoding out", encoding)
	}
	return newDecoder(in, encoding), nil
}

// sniffUTF16 returns the encoding by a file's first bytes: its mark, or zeros around two characters
// of ASCII; empty: it is another one.
func sniffUTF16(begin []byte) string {
	if len(begin) < 2 {
		return ""
	}
	mark := binary.LittleEndian.Uint16(begin)
	var zero [4]bool
	for i, b := range begin {
		zero[i] = b == 0
	}
	switch {
	case mark == 0xfeff && (len(begin) < 4 || !zero[2] || !zero[3]), len(begin) == 4 && zero == [4]bool{false, true, false, true}:
		return utf16LE
	case mark == 0xfffe, len(begin) == 4 && zero == [4]bool{true, false, true, false}:
		return utf16BE
	}
	return ""
}

// decoder turns another encoding into UTF-8. It implements io.Reader, and returns everything before
// malformed bytes first, so that the error is that of the line with these.
type decoder struct {
	from io.Reader
	next func(text []byte) (r rune, size int, err error) // size 0: a character continues behind the text
	raw  []byte                                          // read, and not decoded
	out  []byte                                          // decoded, and not returned
	err  error
}

func newDecoder(from io.Reader, encoding string) *decoder {
	d := &decoder{from: from}
	switch c := charmapOf(encoding); {
	case c != nil:
		d.next = func(text []byte) (rune, int, error) {
			r := c.DecodeByte(text[0])
			if r == utf8.RuneError {
				return 0, 0, fmt.Errorf("the byte 0x%02x is not %s; give the encoding that the file has (own.encoding, --encoding)", text[0], c)
			}
			return r, 1, nil
		}
	case encoding == utf16BE:
		d.next = func(text []byte) (rune, int, error) { return nextUTF16(text, binary.BigEndian) }
	default:
		d.next = func(text []byte) (rune, int, error) { return nextUTF16(text, binary.LittleEndian) }
	}
	return d
}

// nextUTF16 decodes one character.
func nextUTF16(text []byte, order binary.ByteOrder) (rune, int, error) {
	if len(text) < 2 {
		return 0, 0, nil
	}
	r := rune(order.Uint16(text))
	if !utf16.IsSurrogate(r) {
		return r, 2, nil
	}
	if len(text) < 4 {
		return 0, 0, nil
	}
	if both := utf16.DecodeRune(r, rune(order.Uint16(text[2:]))); both != utf8.RuneError {
		return both, 4, nil
	}
	return 0, 0, fmt.Errorf("the line is not valid UTF-16: half of the character 0x%04x is missing; %s", r, CopyAgain)
}

// Read implements io.Reader.
func (d *decoder) Read(to []byte) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		before := len(d.raw)
		d.raw = append(d.raw, make([]byte, 16<<10)...)
		n, err := d.from.Read(d.raw[before:])
		d.raw = d.raw[:before+n]
		d.decode(err)
	}
	n := copy(to, d.out)
	d.out = d.out[n:]
	return n, nil
}

// decode decodes the bytes at hand; err is the error of reading more.
func (d *decoder) decode(err error) {
	d.out = d.out[:0]
	rest := d.raw
	for len(rest) > 0 {
		r, size, malformed := d.next(rest)
		if malformed != nil {
			d.err = malformed
			return
		}
		if size == 0 {
			break
		}
		d.out, rest = utf8.AppendRune(d.out, r), rest[size:]
	}
	d.raw = append(d.raw[:0], rest...)
	if d.err = err; errors.Is(err, io.EOF) && len(d.raw) > 0 {
		d.err = errors.New("the file ends within a character of UTF-16; " + CopyAgain)
	}
}
