package suite

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// hardTexts are texts that something between a batch and an answer may interpret as
// syntax. The last two have exactly longest bytes.
func (s *Suite) hardTexts(longest int) []string {
	list := []string{
		"", "plain", " blanks ", "it's", `say "hi"`, `back\slash`, `ends in \`, `\n \N \" \\`, "two\nlines", "\r\n\ttab\n", "a,b=c d;e|f",
		"Ωμέγα-服务器 😀 e\u0301", "$1 %s {x} [y] /* z -- # ?", "NULL", "true", "1e5i", "\"", "\\", "'", strings.Repeat("0123456789", 1024),
		strings.Repeat("\\\"\n'", 2048), "\u007f\u0001\u001f",
	}
	if s.caps.Holds(series.NULTexts) {
		list = append(list, "a\x00b")
	}
	return append(list, strings.Repeat("é", longest/2)+"!"[:longest%2], strings.Repeat(`\`, longest-1)+"'")
}

// noteSchema is a schema of two tables with a field of free texts of at most longest
// bytes: one without NULLs, and one with some missing values.
func noteSchema(longest int) *series.Schema {
	tags := []series.Tag{{Key: "device", Values: series.Numbered{Prefix: "d_"}}}
	fields := []series.Field{{Name: "value", Type: series.Float}, {Name: "note", Type: series.Text, Longest: longest}}
	full := &series.Table{Name: "notes", Tags: tags, Fields: fields, Dense: true}
	return &series.Schema{Tables: []*series.Table{full, {Name: "remarks", Tags: tags, Fields: fields}}, Series: noters}
}

// noters is the number of series with free texts.
const noters = 3

// longestText returns the maximum length of a free text in bytes, as the target reports it before a
// load; 0: it cannot store any. The error for a longer text must name the field, in one line.
func (s *Suite) longestText(t T) int {
	t.Helper()
	refusal := func(longest int) *driver.Refusal {
		return s.caps.Refuse(s.driver.Name, noteSchema(longest), series.Values{})
	}
	n := sort.Search(series.MaxFreeText, func(n int) bool { return refusal(n+1) != nil })
	if n == series.MaxFreeText {
		return n
	}
	problem := refusal(n + 1).Problem
	if !strings.Contains(problem, "note") || strings.Contains(problem, "\n") || n > 0 && !strings.Contains(problem, strconv.Itoa(n+1)) {
		t.Errorf("it holds texts of %d bytes and none longer, and says: %s", n, problem)
	}
	if n > 0 {
		problem = fmt.Sprintf("texts of more than %d bytes: n/a: %s", n, problem)
	} else {
		problem = "n/a: " + problem
	}
	t.Log(problem)
	return n
}

// freeTexts are rows of the tables with free texts of at most longest bytes.
func (s *Suite) freeTexts(longest int) example {
	texts := s.hardTexts(longest)
	f := &fixed{schema: noteSchema(longest)}
	sparse := f.schema.Tables[1]
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, table := range f.schema.Tables {
		run := f.batch.Add(table)
		run.Grow(len(texts) * noters)
		for row := range run.Times {
			run.Series[row], run.Times[row] = uint32(row%noters), start.Add(time.Duration(row)*time.Minute).UnixNano()
			run.Columns[0].Floats[row] = float64(row) / 4
			if run.Columns[1].Ints[row] = 0; table == sparse && row%4 == 1 {
				run.SetNull(1, row)
				continue
			}
			run.Columns[1].SetText(row, []byte(texts[row/noters]))
		}
	}
	e := example{dataset: f}
	for _, table := range f.schema.Tables {
		note, both := []string{"note"}, []string{"value", "note"}
		e.queries = append(e.queries, example{queries: []query.Query{
			{Shape: query.Rows{Fields: note, Tag: "device"}},
			{Shape: query.Rows{Fields: both, Tag: "device", Order: query.Descending}, Start: start.Add(5 * time.Minute), End: start.Add(50 * time.Minute)},
			{Shape: query.Last{By: "device", Fields: note}},
			{Shape: query.Last{By: "device", Fields: both}, End: start.Add(58 * time.Minute)},
			{Shape: query.RowSet{Fields: both, Tag: "device", Set: query.Set{Operation: query.Intersect, Operands: 2}}},
			{Shape: query.Totals{Aggregate: query.Count, Fields: both, GroupBy: "device"}},
		}}.setTable(table).queries...)
	}
	numberQueries(e.queries...)
	return e
}

// Texts: free texts arrive unchanged, are counted, and come back in answers, or the
// target reports that it does not store them, or not as long ones.
func (s *Suite) Texts(t T) {
	longest := s.longestText(t)
	if longest == 0 {
		return
	}
	e := s.freeTexts(longest)
	s.loadAndQuery(t, e, 1)
	right := e.dataset.(*fixed)
	expected, err := oracle.Pass(t.Context(), right, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	one := s.digests(t, right, 1)
	problem, census := s.censusProblem(t, right, expected, func(run *series.Run) {
		for row := range run.Times {
			if c := &run.Columns[1]; one && row == 31 {
				c.SetText(row, append(slices.Clone(c.Text(row)), '!'))
			} else if !one && !run.Lacks(1, row) { // the least and the largest alone
				c.SetText(row, []byte("~"))
			}
		}
	})
	if content := census.Fields[1]; (content.Sum != nil || content.Min != nil) && !strings.Contains(problem, "note") {
		t.Errorf("a wrong text is not found: %q", problem)
	}
}
