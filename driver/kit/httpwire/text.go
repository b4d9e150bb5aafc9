package httpwire

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tsmark/tsmark/driver/kit/limit"
)

// maxExplanation limits the bytes read from an error response.
const maxExplanation = 64 << 10

// ResponseError returns the error that explain makes of the response to a failed request.
func ResponseError(response *http.Response, explain func(status int, body []byte) error) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxExplanation))
	if err != nil {
		return fmt.Errorf("the response is truncated: %w", err)
	}
	return explain(response.StatusCode, text)
}

// longest is the length up to which OneLine does not shorten a text.
const longest = 4096

// OneLine returns a text without line breaks. It drops the middle of a text longer than any server's
// advice: servers quote the request there, put the reason before or after it, and the remedy at the
// end.
func OneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "it gave no reason"
	}
	if len(text) > longest {
		head, tail := longest/2, len(text)-longest/2
		for head > 0 && !utf8.RuneStart(text[head]) {
			head--
		}
		for tail < len(text) && !utf8.RuneStart(text[tail]) {
			tail++
		}
		text = text[:head] + "…" + text[tail:]
	}
	return text
}

// Counted counts the bytes read from another reader. Reading fails if too many bytes do not complete a
// row; see limit.Unread.
type Counted struct {
	From io.Reader
	N    int64

	unread limit.Unread
}

// Read implements io.Reader.
func (c *Counted) Read(p []byte) (int, error) {
	n, err := c.From.Read(p)
	c.N += int64(n)
	if endless := c.unread.Read(n); endless != nil {
		return 0, endless
	}
	return n, err
}

// Row records that the bytes read so far have produced a row.
func (c *Counted) Row() { c.unread.Row() }
