// Package meaning defines the meaning of queries in documents that a reader of the
// field can check: rows, queries about them, and the correct answers. The
// oracle and every driver are held to the same documents.
//
// A document is a text file of sections. A section begins at the margin; its
// lines are indented. Lines that begin with # are comments.
//
//	numbers capacity
//	load
//	  diagnostics,truck=a,fleet=East,capacity=1500 load=300.5,status=0i 2016-01-01T00:00:00Z
//	query The newest load of each truck
//	  shape  last
//	  by     truck
//	  fields load
//	expect
//	  time                  truck  load
//	  2016-01-01T00:00:00Z  a      300.5
//
// "numbers" are the tags whose values are numbers, and "metrics" the tables that
// are metrics. "load" has rows in line protocol, with times in RFC 3339; a field
// that a row does not have, or has as NULL, is NULL. Texts of a field have one length. A "query" names a shape and its fields: query.go lists the words. Its
// table is the first one unless it names another. "expect" begins with the
// columns of the answer, and has its rows, in order if the query orders
// them. If several answers are correct, the others follow under "or". In a database where
// rows of one series and time become one, the last one stays, and "merged" has the correct
// answer for it. For any-rows, "expect" has all matching rows.
package meaning

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/tsmark/tsmark/query"
)

//go:embed testdata/*.test
var documents embed.FS

// Document is one file: a dataset, and queries about it.
type Document struct {
	dataset
	Name  string
	Cases []Case
}

// Case is a query and its correct answers.
type Case struct {
	Name   string
	Line   int // of the query
	Query  query.Query
	answer []query.Answer
	merged []query.Answer // for rows of one series and time that merge; nil: as answer
}

// Answers returns the correct answers of a database that keeps all rows.
func (c *Case) Answers() []query.Answer { return c.answer }

// Documents returns all documents.
func Documents() ([]*Document, error) {
	files, err := fs.Glob(documents, "testdata/*.test")
	if err != nil {
		return nil, err
	}
	var all []*Document
	for _, file := range files {
		text, err := documents.ReadFile(file)
		if err != nil {
			return nil, err
		}
		d, err := Parse(path.Base(file), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// Check returns the error in an answer, or "", for a database in which rows of one
// series and time merge or not.
func (d *Document) Check(c *Case, found *query.Answer, merges bool) string {
	right := c.answer
	if merges && c.merged != nil {
		right = c.merged
	}
	columns := c.Query.Columns(d.schema.Table(c.Query.Table))
	problem := ""
	for i := range right {
		if problem = check(&c.Query, columns, &right[i], found); problem == "" {
			return ""
		}
	}
	return fmt.Sprintf("%s:%d: %s: %s", d.Name, c.Line, c.Name, problem)
}

func check(q *query.Query, columns []query.Column, right, found *query.Answer) string {
	some, limited := q.Shape.(query.AnyRows)
	if !limited {
		if diff := query.Compare(q, columns, &query.Answer{Rows: right.Rows}, found); diff != nil {
			return diff.String()
		}
		return ""
	}
	if want := min(some.Limit, len(right.Rows)); len(found.Rows) != want {
		return fmt.Sprintf("%d rows, want any %d", len(found.Rows), want)
	}
	bag := query.NewBag(columns)
	for _, row := range found.Rows {
		_ = bag.Row(row) // a Bag takes every row
	}
	for _, row := range right.Rows {
		bag.Take(row)
	}
	for row := range bag.All() {
		return "a row that does not match: " + query.RowText(row)
	}
	return ""
}

// Parse reads a document. Its errors name the file and the line.
func Parse(name, text string) (*Document, error) {
	p := &parser{document: &Document{Name: name, dataset: newDataset()}}
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		if err := p.take(i+1, line, trimmed); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if err := p.end(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, p.at, err)
	}
	return p.document, nil
}

// parser reads a document line by line.
type parser struct {
	document *Document
	at       int // line of the section's beginning
	section  string
	words    *words         // of the query
	columns  []query.Column // of the answer; nil: no header yet
}

func (p *parser) take(at int, line, trimmed string) error {
	if line[0] == ' ' || line[0] == '\t' {
		return p.content(trimmed)
	}
	section, rest, _ := strings.Cut(trimmed, " ")
	switch section {
	case "numbers":
		p.document.numbers = strings.Fields(rest)
	case "metrics":
		p.document.metrics = strings.Fields(rest)
	case "load":
	case "query":
		if err := p.end(); err != nil {
			return err
		}
		p.document.Cases = append(p.document.Cases, Case{Name: strings.TrimSpace(rest), Line: at})
		p.words = &words{}
	case "expect", "or", "merged":
		if p.words == nil {
			return fmt.Errorf("%s precedes any query", section)
		}
		if section == "expect" {
			if err := p.query(); err != nil {
				return err
			}
		} else if len(p.current().answer) == 0 {
			return fmt.Errorf("%s precedes expect", section)
		}
		if c := p.current(); section == "merged" {
			c.merged = append(c.merged, query.Answer{})
		} else {
			c.answer = append(c.answer, query.Answer{})
		}
		p.columns = nil
	default:
		return fmt.Errorf("there is no section %q; there are numbers, metrics, load, query, expect, or, merged", section)
	}
	p.section, p.at = section, at
	return nil
}

func (p *parser) current() *Case { return &p.document.Cases[len(p.document.Cases)-1] }

// query makes the query of the words that were read.
func (p *parser) query() error {
	q, err := p.words.query(p.document.schema)
	if err != nil {
		return err
	}
	q.Type, q.ID = strings.TrimSuffix(p.document.Name, ".test"), len(p.document.Cases)-1
	p.current().Query = q
	return nil
}

// end ends a case.
func (p *parser) end() error {
	if p.words != nil && len(p.current().answer) == 0 {
		return fmt.Errorf("the query %q expects nothing: write expect behind it, and the columns", p.current().Name)
	}
	return nil
}

// content takes a line of a section.
func (p *parser) content(line string) error {
	switch p.section {
	case "load":
		return p.document.row(line)
	case "query":
		return p.words.add(line)
	case "expect", "or", "merged":
		return p.answer(line)
	}
	return fmt.Errorf("the section %q has no lines", p.section)
}

// answer takes a line of an answer: its columns, or a row.
func (p *parser) answer(line string) error {
	values, err := fields(line)
	if err != nil {
		return err
	}
	c := p.current()
	columns := c.Query.Columns(p.document.schema.Table(c.Query.Table))
	if p.columns == nil {
		var names []string
		for _, column := range columns {
			names = append(names, column.Name)
		}
		if strings.Join(values, "\x00") != strings.Join(names, "\x00") {
			return fmt.Errorf("the columns of the answer are %q, not %q", names, values)
		}
		p.columns = columns
		return nil
	}
	if len(values) != len(columns) {
		return fmt.Errorf("%d values in place of %d", len(values), len(columns))
	}
	row := make([]query.Value, len(values))
	for i, text := range values {
		if row[i], err = value(text, columns[i].Kind); err != nil {
			return fmt.Errorf("%s: %w", columns[i].Name, err)
		}
	}
	to := &c.answer[len(c.answer)-1]
	if p.section == "merged" {
		to = &c.merged[len(c.merged)-1]
	}
	to.Rows = append(to.Rows, row)
	return nil
}
