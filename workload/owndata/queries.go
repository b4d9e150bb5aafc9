package owndata

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/ownqueries"
	"github.com/tsmark/tsmark/workload/proposal"
)

// ProposeQueries returns query types that suit the data of a surveyed specification, and notes on
// types that do not. They are about the table with the most rows.
func (w *own) ProposeQueries(s workload.Spec) ([]ownqueries.Query, []string) {
	found := w.surveyOf(s)
	if found == nil {
		return nil, nil
	}
	table := slices.MaxFunc(found.index.Tables, func(a, b *input.Table) int {
		if c := cmp.Compare(found.tableRows[a.Place], found.tableRows[b.Place]); c != 0 {
			return c
		}
		return b.Place - a.Place
	})
	d := proposal.Data{
		Table: table.Table, Tables: len(found.index.Tables), Rows: found.tableRows[table.Place],
		Span: found.values.Last.Sub(found.values.First), Samples: found.samples[table.Place],
	}
	for i := range table.Set.Values {
		d.Values = append(d.Values, table.Set.Values[i].Len())
	}
	return proposal.QueryTypes(d)
}

// count is a number of things.
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(n) + " " + what + "s"
}

// Summary names on one line the columns of a surveyed specification that are loaded and, where
// settings were omitted, the columns that are left out. Empty: there was no survey.
func (w *own) Summary(s workload.Spec) string {
	found := w.surveyOf(s)
	if found == nil {
		return ""
	}
	return found.summary()
}

// summary names the columns that are loaded and the columns that are left out, on one line.
func (s *survey) summary() string {
	files := s.files[0].Name
	if n := len(s.files); n > 1 {
		files = count(int64(n), "file")
	}
	text := fmt.Sprintf("%s: %s, %s series", files, count(s.rows, "row"), humanize.Comma(int64(s.index.Series)))
	var tables, tags, fields []string
	for _, t := range s.index.Tables {
		tables = append(tables, t.Name)
		for i := range t.Tags {
			tags = append(tags, t.Tags[i].Key)
		}
		for i := range t.Fields {
			fields = append(fields, t.Fields[i].Name+":"+input.TypeName(t.Fields[i].Type, t.Fields[i].Length))
		}
	}
	if len(tables) > 1 {
		text += fmt.Sprintf(", %d tables (%s)", len(tables), input.ListSome(tables))
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"tag", tags}, {"field", fields}} {
		if len(list.names) == 0 {
			text += ", no " + list.what
			continue
		}
		text += fmt.Sprintf(", %s (%s)", count(int64(len(list.names)), list.what), input.ListSome(list.names))
	}
	if !s.layout.tagged() {
		text += ", time in " + formatTime(s.layout.time, s.layout.timeOfDay)
	}
	if len(s.layout.leftOut) > 0 {
		text += "; left out: " + input.ListSome(s.layout.leftOut)
	}
	return text
}
