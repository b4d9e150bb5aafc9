package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// hardTexts are texts that something between a batch and an answer may take for
// its own.
func (s *suite) hardTexts() []string {
	list := []string{
		"", "plain", " blanks ", "it's", `say "hi"`, `back\slash`, `ends in \`, `\n \N \" \\`, "two\nlines", "\r\n\ttab\n", "a,b=c d;e|f",
		"Ωμέγα-服务器 😀 e\u0301", "$1 %s {x} [y] /* z -- # ?", "NULL", "true", "1e5i", "\"", "\\", "'", strings.Repeat("0123456789", 1024),
		strings.Repeat("\\\"\n'", 2048), "\u007f\u0001\u001f", strings.Repeat("é", (series.MaxFreeText-1)/2),
	}
	if s.caps.Holds(series.NULTexts) {
		list = append(list, "a\x00b")
	}
	return list
}

// freeTexts has two tables with a field of free texts: one without NULLs, and one in
// which some are missing.
func (s *suite) freeTexts() example {
	tags := []series.Tag{{Key: "device", Values: series.Numbered{Prefix: "d_"}}}
	texts := s.hardTexts()
	fields := []series.Field{{Name: "value", Type: series.Float}, {Name: "note", Type: series.Text, Longest: series.MaxFreeText}}
	full := &series.Table{Name: "notes", Tags: tags, Fields: fields, Dense: true}
	sparse := &series.Table{Name: "remarks", Tags: tags, Fields: fields}
	const devices = 3
	f := &fixed{schema: &series.Schema{Tables: []*series.Table{full, sparse}, Series: devices}}
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, table := range f.schema.Tables {
		run := f.batch.Add(table)
		run.Grow(len(texts) * devices)
		for row := range run.Times {
			run.Series[row], run.Times[row] = uint32(row%devices), start.Add(time.Duration(row)*time.Minute).UnixNano()
			run.Columns[0].Floats[row] = float64(row) / 4
			if run.Columns[1].Ints[row] = 0; table == sparse && row%4 == 1 {
				run.SetNull(1, row)
				continue
			}
			run.Columns[1].SetText(row, []byte(texts[row/devices]))
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
		}}.about(table).queries...)
	}
	numbered(e.queries...)
	return e
}

// texts: free texts arrive as they are, are counted, and come back in answers, or the
// target says that it has none.
func (s *suite) texts(t *testing.T) {
	e := s.freeTexts()
	if !s.caps.Holds(series.FreeTexts) {
		refusal := s.caps.Refuse(s.kind.Name, e.dataset.Schema(), series.Values{})
		if refusal == nil || !strings.Contains(refusal.Problem, "note") || strings.Contains(refusal.Problem, "\n") {
			t.Errorf("it does not hold free texts, and says of them %+v", refusal)
		}
		return
	}
	if s.refused(t, e.dataset.Schema()) {
		return
	}
	s.loadAndQuery(t, e, 1)
	right := e.dataset.(*fixed)
	expected, err := oracle.Pass(t.Context(), right, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	one := s.digests(t, right, 1)
	problem, told := s.found(t, right, expected, func(run *series.Run) {
		for row := range run.Times {
			if c := &run.Columns[1]; one && row == 31 {
				c.SetText(row, append(slices.Clone(c.Text(row)), '!'))
			} else if !one && !run.Lacks(1, row) { // the least and the largest alone
				c.SetText(row, []byte("~"))
			}
		}
	})
	if content := told.Fields[1]; (content.Sum != nil || content.Min != nil) && !strings.Contains(problem, "note") {
		t.Errorf("a wrong text is not found: %q", problem)
	}
}
