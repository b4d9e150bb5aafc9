package questdb

import (
	"fmt"
	"time"
)

// parseTime reads a time as REST writes it, 2016-01-01T00:00:00.000000Z with
// three, six or nine decimals, as nanoseconds since 1970.
func parseTime(text []byte) (int64, error) {
	const layout = "0000-00-00T00:00:00."
	bad := func() (int64, error) { return 0, fmt.Errorf("%q is no time such as 2016-01-01T00:00:00.000000Z", text) }
	if len(text) < len(layout)+2 || text[len(text)-1] != 'Z' {
		return bad()
	}
	for i, c := range []byte(layout) {
		if digit := text[i] >= '0' && text[i] <= '9'; c == '0' && !digit || c != '0' && text[i] != c {
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
	ns, decimals := 0, text[len(layout):len(text)-1]
	for i := range 9 {
		ns *= 10
		if i < len(decimals) {
			if decimals[i] < '0' || decimals[i] > '9' {
				return bad()
			}
			ns += int(decimals[i] - '0')
		}
	}
	if len(decimals) > 9 {
		return bad()
	}
	return time.Date(number(0, 4), time.Month(number(5, 7)), number(8, 10), number(11, 13), number(14, 16), number(17, 19), ns, time.UTC).UnixNano(), nil
}
