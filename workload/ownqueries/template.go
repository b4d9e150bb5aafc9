package ownqueries

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tsmark/tsmark/query"
)

// Template is a text with places in double braces, which are filled in for each query:
// {{name}}, or {{name:form}}.
type Template struct{ parts []part }

// part is literal text and the placeholder after it; the last part has no placeholder.
type part struct {
	text, name, form string
	position
}

// position is a place in a text, in characters from 1.
type position struct{ line, column int }

func positionOf(text string, at int) position {
	before := text[:at]
	return position{1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])}
}

// TemplateError is an error in a text.
type TemplateError struct {
	Line, Column int // in characters, from 1
	Problem      string
}

// Error implements error.
func (e *TemplateError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// The names of places that are not parameters: the bounds of the query's window.
const (
	startPlace = "start"
	endPlace   = "end"
)

// The forms of places. A time is a literal of the database's, or a whole number since
// 1970; values are literals, or one regular expression that each of them matches.
const (
	inSeconds      = "s"
	inMilliseconds = "ms"
	inMicroseconds = "us"
	inNanoseconds  = "ns"
	asRegexp       = "regexp"
)

// placePattern matches the contents of a placeholder's braces.
var placePattern = regexp.MustCompile(`^ *([a-z][a-z0-9_]*)(?::([a-z]+))? *$`)

// ParseTemplate reads a text. Its error is a *TemplateError.
func ParseTemplate(text string) (*Template, error) {
	t := &Template{}
	for at := 0; ; {
		open := strings.Index(text[at:], "{{")
		if open < 0 {
			t.parts = append(t.parts, part{text: text[at:]})
			return t, nil
		}
		open += at
		where := positionOf(text, open)
		bad := func(format string, args ...any) error {
			return &TemplateError{where.line, where.column, fmt.Sprintf(format, args...)}
		}
		length := strings.Index(text[open:], "}}")
		if length < 0 {
			return nil, bad("{{ is not closed by }}")
		}
		end := open + length + 2
		match := placePattern.FindStringSubmatch(text[open+2 : end-2])
		if match == nil {
			return nil, bad("%s is not a placeholder; write {{name}} or {{name:form}}, in lower case", strconv.Quote(text[open:end]))
		}
		p := part{text: text[at:open], name: match[1], form: match[2], position: where}
		if problem := p.problem(); problem != "" {
			return nil, bad("%s", problem)
		}
		if open > 0 && end < len(text) && strings.IndexByte("'\"`", text[open-1]) >= 0 && text[open-1] == text[end] {
			return nil, bad("%s adds quotes itself; remove the quotes around it", text[open:end])
		}
		t.parts, at = append(t.parts, p), end
	}
}

// problem describes the error in the form of a placeholder; empty: it is valid.
func (p *part) problem() string {
	known := []string{asRegexp}
	if p.name == startPlace || p.name == endPlace {
		known = []string{inSeconds, inMilliseconds, inMicroseconds, inNanoseconds}
	}
	if p.form == "" || slices.Contains(known, p.form) {
		return ""
	}
	return fmt.Sprintf("{{%s:%s}} has a form that there is not; known: %s", p.name, p.form, strings.Join(known, ", "))
}

// Fill returns the text with the values drawn for a query. Several values of one parameter are
// separated by commas.
func (t *Template) Fill(q *query.Query, l query.Literals) (string, error) {
	w, _ := q.WrittenText()
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.text)
		var err error
		filled := ""
		switch p.name {
		case "":
		case startPlace:
			filled, err = p.formatTime(q.Start, l)
		case endPlace:
			filled, err = p.formatTime(q.End, l)
		default:
			at := slices.IndexFunc(w.Parameters, func(known query.Parameter) bool { return known.Name == p.name })
			if at < 0 {
				return "", fmt.Errorf("there is no parameter %s", p.name)
			}
			filled, err = p.values(&w.Parameters[at], l)
		}
		if err != nil {
			return "", fmt.Errorf("{{%s}}: %w", p.name, err)
		}
		b.WriteString(filled)
	}
	return b.String(), nil
}

func (p *part) formatTime(at time.Time, l query.Literals) (string, error) {
	switch p.form {
	case inSeconds:
		return strconv.FormatInt(at.Unix(), 10), nil
	case inMilliseconds:
		return strconv.FormatInt(at.UnixMilli(), 10), nil
	case inMicroseconds:
		return strconv.FormatInt(at.UnixMicro(), 10), nil
	case inNanoseconds:
		return strconv.FormatInt(at.UnixNano(), 10), nil
	}
	return l.Time(at)
}

func (p *part) values(of *query.Parameter, l query.Literals) (string, error) {
	if p.form == asRegexp {
		var alternatives []string
		for _, v := range of.Values {
			alternatives = append(alternatives, regexp.QuoteMeta(v))
		}
		text := "^(" + strings.Join(alternatives, "|") + ")$"
		if l.Regexp != nil {
			return l.Regexp(text)
		}
		return l.Text(text)
	}
	list := make([]string, len(of.Values))
	for i, v := range of.Values {
		if list[i] = v; of.Number {
			continue
		}
		var err error
		if list[i], err = l.Text(v); err != nil {
			return "", err
		}
	}
	return strings.Join(list, ", "), nil
}
