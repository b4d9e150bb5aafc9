package sample

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/lineformat"
)

// metrics reads the text formats of Prometheus: its own and OpenMetrics, and what promtool tsdb dump
// writes. Exemplars are skipped.
type metrics struct {
	lines  *input.LineReader
	digits int // of the time of the last sample
	sample Sample
	fields [1]Field
	text   []byte // of names and values that have escapes
}

func beginsWithMetrics(text []byte) bool {
	for _, begin := range []string{"# HELP ", "# TYPE ", "# UNIT ", "# EOF", `{__name__="`} {
		if bytes.HasPrefix(text, []byte(begin)) {
			return true
		}
	}
	return false
}

// Line implements Source.
func (m *metrics) Line() int64 { return m.lines.Line }

// Next implements Source.
func (m *metrics) Next() (*Sample, error) {
	for {
		line, err := m.lines.Next()
		if err != nil {
			return nil, err
		}
		if line = trim(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		s, err := m.read(line)
		if known := m.digits; known > 0 && !m.lines.EndsLine() && (err != nil || len(s.Time) < known) {
			return nil, errCut
		}
		if err == nil {
			m.digits = len(s.Time)
		}
		return s, err
	}
}

// errCut is the error of a last line that has no line break and no whole sample, while others have.
var errCut = errors.New("the file is cut: its last line has no line break and no whole sample, and no # EOF follows; " + input.CopyAgain)

// trim cuts off blanks and tabs.
func trim(text []byte) []byte { return bytes.Trim(text, " \t") }

// read reads a line with a sample.
func (m *metrics) read(line []byte) (*Sample, error) {
	s := &m.sample
	s.Table, s.Tags, m.text = nil, s.Tags[:0], m.text[:0]
	end := bytes.IndexAny(line, "{ \t")
	if end < 0 {
		return nil, malformedError("the metric has no value", line)
	}
	s.Table, line = line[:end], trim(line[end:])
	if len(line) > 0 && line[0] == '{' {
		var err error
		if line, err = m.labels(line[1:]); err != nil {
			return nil, err
		}
	}
	if len(s.Table) == 0 {
		return nil, malformedError("the metric has no name", line)
	}
	if err := lineformat.DuplicateTag(s.Tags); err != nil {
		return nil, err
	}
	value, rest := cutWord(line)
	time, rest := cutWord(rest)
	switch {
	case len(value) == 0:
		return nil, malformedError("the metric has no value", s.Table)
	case len(time) == 0 || time[0] == '#':
		return nil, fmt.Errorf("the sample has no time, as scraped pages have none; write the file by promtool tsdb dump-openmetrics, or give each line a time")
	case len(rest) > 0 && rest[0] != '#':
		return nil, malformedError("something follows the time", rest)
	}
	s.Time = time
	m.fields[0] = Field{Name: valueName, Value: value, Type: series.Float}
	s.Fields = m.fields[:]
	return s, nil
}

// cutWord splits a text at its first blank.
func cutWord(text []byte) (word, rest []byte) {
	text = trim(text)
	end := bytes.IndexAny(text, " \t")
	if end < 0 {
		return text, nil
	}
	return text[:end], trim(text[end:])
}

// labels reads labels up to the bracket that closes them, and returns the text behind it.
func (m *metrics) labels(text []byte) (rest []byte, err error) {
	s := &m.sample
	for {
		if text = trim(text); len(text) == 0 {
			return nil, errors.New("the labels are not closed by a bracket; " + input.CorrectLine)
		}
		if text[0] == '}' {
			return trim(text[1:]), nil
		}
		var key, value []byte
		if text[0] == '"' {
			if key, text, err = m.cutQuoted(text); err != nil {
				return nil, err
			}
		} else {
			end := bytes.IndexAny(text, "=,} \t")
			if end <= 0 {
				return nil, malformedError("a label has no name", text)
			}
			key, text = text[:end], text[end:]
		}
		if text = trim(text); len(text) > 0 && text[0] == '=' {
			if text = trim(text[1:]); len(text) == 0 || text[0] != '"' {
				return nil, malformedError("the value of a label is not in quotes", text)
			}
			if value, text, err = m.cutQuoted(text); err != nil {
				return nil, err
			}
			switch {
			case string(key) == "__name__" && len(s.Table) == 0:
				s.Table = value
			case len(value) > 0: // Prometheus does not tell an empty label from none
				s.Tags = append(s.Tags, lineformat.Pair{Key: key, Value: value})
			}
		} else if len(s.Table) == 0 { // names of any characters are in the brackets
			s.Table = key
		} else {
			return nil, malformedError("a label has no value", key)
		}
		switch text = trim(text); {
		case len(text) > 0 && text[0] == ',':
			text = text[1:]
		case len(text) == 0 || text[0] != '}':
			return nil, malformedError("a comma or a bracket is missing", text)
		}
	}
}

// cutQuoted cuts a text in quotes off a line, and removes its escapes.
func (m *metrics) cutQuoted(line []byte) (text, rest []byte, err error) {
	end, escaped := 1, false
	for ; end < len(line) && line[end] != '"'; end++ {
		if line[end] == '\\' {
			end, escaped = end+1, true
		}
	}
	if end >= len(line) {
		return nil, nil, errors.New("a text has no closing quote; " + input.CorrectLine)
	}
	text, rest = line[1:end], line[end+1:]
	if !escaped {
		return text, rest, nil
	}
	plain, err := strconv.Unquote(string(line[:end+1])) // promtool writes the escapes of Go
	if err != nil {
		return nil, nil, malformedError("a text has an unknown escape", line[:end+1])
	}
	begin := len(m.text)
	m.text = append(m.text, plain...)
	return m.text[begin:len(m.text):len(m.text)], rest, nil
}
