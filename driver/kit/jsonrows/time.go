package jsonrows

import (
	"fmt"
	"time"
)

// ParseTime reads a time such as 2016-01-01T00:00:00.000000Z, with up to nine
// decimals, as nanoseconds since 1970. A blank may stand for the T, and the Z may
// be left out.
func ParseTime(text []byte) (int64, error) {
	const layout = "0000-00-00T00:00:00"
	bad := func() (int64, error) {
		return 0, fmt.Errorf("%q is not a time such as 2016-01-01T00:00:00.000000Z", text)
	}
	if len(text) < len(layout) {
		return bad()
	}
	for i, c := range []byte(layout) {
		digit, blank := text[i] >= '0' && text[i] <= '9', c == 'T' && text[i] == ' '
		if c == '0' && !digit || c != '0' && text[i] != c && !blank {
			return bad()
		}
	}
	number := func(from, to int) int {
		n := 0
		for _, c := range text[from:to] {
			n = n*10 + int(c-'0')
		}
		return n
	}
	decimals := text[len(layout):]
	if n := len(decimals); n > 0 && decimals[n-1] == 'Z' {
		decimals = decimals[:n-1]
	}
	ns := 0
	if len(decimals) > 0 {
		if decimals[0] != '.' || len(decimals) == 1 || len(decimals) > 10 {
			return bad()
		}
		for i := 1; i < 10; i++ {
			ns *= 10
			if i < len(decimals) {
				if decimals[i] < '0' || decimals[i] > '9' {
					return bad()
				}
				ns += int(decimals[i] - '0')
			}
		}
	}
	return time.Date(number(0, 4), time.Month(number(5, 7)), number(8, 10), number(11, 13), number(14, 16), number(17, 19), ns, time.UTC).UnixNano(), nil
}
