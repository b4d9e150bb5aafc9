package monitor

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// sample is one line of Prometheus's text format: name{label="value",…} value.
type sample struct {
	name   string
	labels string // between the braces, as written
	value  float64
}

// label returns a label's value, unescaped; empty: the sample has none.
func (s sample) label(name string) string {
	for rest := s.labels; rest != ""; {
		key, value, after, ok := cutLabel(rest)
		if !ok {
			return ""
		}
		if key == name {
			return value
		}
		rest = after
	}
	return ""
}

// cutLabel takes the first label="value" off, and the comma behind it.
func cutLabel(text string) (key, value, rest string, ok bool) {
	key, quoted, ok := strings.Cut(text, "=")
	quoted = strings.TrimLeft(quoted, " \t")
	if !ok || !strings.HasPrefix(quoted, `"`) {
		return "", "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(quoted); i++ {
		switch c := quoted[i]; c {
		case '\\':
			i++
			if i == len(quoted) {
				return "", "", "", false
			}
			if quoted[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(quoted[i])
			}
		case '"':
			rest = strings.TrimLeft(quoted[i+1:], " \t")
			rest = strings.TrimLeft(strings.TrimPrefix(rest, ","), " \t")
			return strings.Trim(key, " \t"), b.String(), rest, true
		default:
			b.WriteByte(c)
		}
	}
	return "", "", "", false
}

// scan reads the text format, version 0.0.4, and hands each sample on. Times,
// comments and exemplars are passed over. An error names the line.
//
// Four facts of the format do not justify Prometheus's own parser, which brings
// protobuf with it.
func scan(r io.Reader, each func(sample)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	number := 0
	for lines.Scan() {
		number++
		line := strings.Trim(lines.Text(), " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		s, ok := parseSample(line)
		if !ok {
			return fmt.Errorf("line %d is not of Prometheus's text format: %.60q", number, line)
		}
		each(s)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("after line %d: %w", number, err)
	}
	return nil
}

func parseSample(line string) (sample, bool) {
	end := strings.IndexAny(line, "{ \t")
	if end <= 0 {
		return sample{}, false
	}
	s := sample{name: line[:end]}
	rest := strings.TrimLeft(line[end:], " \t")
	if strings.HasPrefix(rest, "{") {
		body := strings.TrimLeft(rest[1:], " \t")
		from := body
		for !strings.HasPrefix(body, "}") {
			_, _, after, ok := cutLabel(body)
			if !ok {
				return sample{}, false
			}
			body = after
		}
		s.labels, rest = from[:len(from)-len(body)], body[1:]
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return sample{}, false
	}
	value, err := strconv.ParseFloat(fields[0], 64) // it knows NaN and +Inf
	s.value = value
	return s, err == nil
}
