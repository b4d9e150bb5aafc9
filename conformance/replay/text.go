package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// conversation is the messages of both sides of a connection.
type conversation struct {
	port     int // which of the server's ports, from 0
	messages []message
}

// message is a message of one side. Equal messages are equal Go values.
type message struct {
	from   Side
	length int
	digest string // of all of a client's long message: SHA-256 in hex; empty: body is all of it
	body   string
}

// Lengths in bytes: a client's message longer than long is stored by its digest and its first
// begin bytes, a message of worth bytes is long enough to be written only once, and a line
// ends after about column bytes.
const (
	long   = 1500
	begin  = 300
	worth  = 100
	column = 150
)

// newMessage returns a message as recordings store it.
func newMessage(from Side, payload []byte) message {
	m := message{from: from, length: len(payload), body: string(payload)}
	if from == Client && len(payload) > long {
		sum := sha256.Sum256(payload)
		m.digest, m.body = hex.EncodeToString(sum[:]), string(payload[:begin])
	}
	return m
}

// String is the message for people, cut if it is long.
func (m message) String() string {
	text := escape(m.body)
	const most = 2000
	if len(text) > most {
		text = text[:most] + "…"
	}
	if m.digest != "" {
		text += fmt.Sprintf("… (%d bytes, sha256:%s)", m.length, m.digest)
	}
	return text
}

// render writes conversations as text.
func render(all []conversation) string {
	var out strings.Builder
	numbers := make(map[message]int)
	for _, c := range all {
		fmt.Fprintf(&out, "== %d\n", c.port)
		for _, m := range c.messages {
			number, again := numbers[m]
			if again {
				fmt.Fprintf(&out, "%c #%d\n", m.from, number)
				continue
			}
			fmt.Fprintf(&out, "%c %d", m.from, m.length)
			if m.digest != "" {
				out.WriteString(" sha256:" + m.digest)
			}
			if len(m.body) >= worth {
				numbers[m] = len(numbers) + 1
				fmt.Fprintf(&out, " #%d", len(numbers))
			}
			out.WriteByte('\n')
			for _, line := range lines(m.body) {
				out.WriteString("  " + line + "\n")
			}
		}
	}
	return out.String()
}

// lines returns a payload's escaped lines.
func lines(body string) []string {
	var all []string
	for len(body) > 0 {
		n := min(len(body), column)
		if at := strings.IndexByte(body[:n], '\n'); at >= 0 {
			n = at + 1
		}
		for n < len(body) && (!utf8.RuneStart(body[n]) || body[n] == 0 && body[n-1] == 0) { // in the middle of a rune, or of zeroes
			n++
		}
		all = append(all, escape(body[:n]))
		body = body[n:]
	}
	return all
}

func escape(body string) string {
	var out strings.Builder
	for len(body) > 0 {
		r, size := utf8.DecodeRuneInString(body)
		switch zeroes := len(body) - len(strings.TrimLeft(body, "\x00")); {
		case zeroes > 1:
			fmt.Fprintf(&out, `\{%d}`, zeroes)
			size = zeroes
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\\':
			out.WriteString(`\\`)
		case r == utf8.RuneError && size <= 1 || !unicode.IsPrint(r):
			for i := range size {
				fmt.Fprintf(&out, `\x%02x`, body[i])
			}
		default:
			out.WriteString(body[:size])
		}
		body = body[size:]
	}
	return out.String()
}

func unescape(line string) (string, error) {
	var out strings.Builder
	for {
		plain, rest, found := strings.Cut(line, `\`)
		out.WriteString(plain)
		if !found {
			return out.String(), nil
		}
		if rest == "" {
			return "", errors.New(`a lone \`)
		}
		line = rest[1:]
		switch rest[0] {
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case '\\':
			out.WriteByte('\\')
		case 'x':
			if len(line) < 2 {
				return "", errors.New(`a \x without two digits`)
			}
			b, err := hex.DecodeString(line[:2])
			if err != nil {
				return "", err
			}
			out.Write(b)
			line = line[2:]
		case '{':
			digits, after, _ := strings.Cut(line, "}")
			n, err := strconv.Atoi(digits)
			if err != nil || n < 0 || n > 1<<28 {
				return "", fmt.Errorf(`\{%s} is not a number of zero bytes`, digits)
			}
			out.WriteString(strings.Repeat("\x00", n))
			line = after
		default:
			return "", fmt.Errorf(`unknown \%c`, rest[0])
		}
	}
}

// parse reads the output of render.
func parse(text []byte) ([]conversation, error) {
	var all []conversation
	var numbered []message
	keep := false // whether the last message gets a number
	var body strings.Builder
	end := func() error { // of a message
		if len(all) == 0 || len(all[len(all)-1].messages) == 0 {
			return nil
		}
		list := all[len(all)-1].messages
		last := &list[len(list)-1]
		if last.body != "" || last.length == 0 {
			return nil // it has ended, or has no body
		}
		if last.body = body.String(); last.digest == "" && body.Len() != last.length {
			return fmt.Errorf("a message of %d bytes has %d", last.length, body.Len())
		}
		if body.Reset(); keep {
			numbered = append(numbered, *last)
		}
		return nil
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSuffix(line, "\n")
		fail := func(err error) ([]conversation, error) { return nil, fmt.Errorf("line %d: %w", n, err) }
		if more, ok := strings.CutPrefix(line, "  "); ok {
			part, err := unescape(more)
			if err != nil {
				return fail(err)
			}
			body.WriteString(part)
			continue
		}
		if err := end(); err != nil {
			return fail(err)
		}
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "==":
			port, err := strconv.Atoi(words[1])
			if err != nil {
				return fail(err)
			}
			all = append(all, conversation{port: port})
		case len(words) >= 2 && len(all) > 0 && (words[0] == string(rune(Client)) || words[0] == string(rune(Server))):
			c := &all[len(all)-1]
			m := message{from: Side(words[0][0])}
			if number, again := strings.CutPrefix(words[1], "#"); again {
				at, err := strconv.Atoi(number)
				if err != nil || at < 1 || at > len(numbered) || numbered[at-1].from != m.from {
					return fail(fmt.Errorf("no such message as %s before", words[1]))
				}
				c.messages = append(c.messages, numbered[at-1])
				continue
			}
			var err error
			if m.length, err = strconv.Atoi(words[1]); err != nil {
				return fail(err)
			}
			keep = false
			for _, word := range words[2:] {
				if sum, ok := strings.CutPrefix(word, "sha256:"); ok {
					m.digest = sum
				} else if strings.HasPrefix(word, "#") {
					keep = true
				}
			}
			c.messages = append(c.messages, m)
		default:
			return fail(fmt.Errorf("%q begins neither a conversation nor a message", line))
		}
	}
	return all, end()
}
