package questdb

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Characters that QuestDB has in no name, and those that it has in names of
// tables alone. Control characters it has nowhere.
const (
	neverInNames   = `?,'"\/:)(+*%~` + "\ufeff"
	neverInColumns = ".-"
)

// tableName returns the name of a table in QuestDB: what cannot be in it
// becomes an underscore.
func tableName(name string) string {
	name = strings.ReplaceAll(clean(name, neverInNames), "..", "__")
	return outer(outer(name, strings.TrimLeft), strings.TrimRight)
}

// outer puts underscores in place of the points and blanks that trim takes off.
func outer(name string, trim func(s, cutset string) string) string {
	trimmed := trim(name, ". ")
	marks := strings.Repeat("_", len(name)-len(trimmed))
	if strings.HasPrefix(name, trimmed) {
		return trimmed + marks
	}
	return marks + trimmed
}

// columnName returns the name of a tag or a field in QuestDB.
func columnName(name string) string { return clean(name, neverInNames+neverInColumns) }

func clean(name, never string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(never, r) {
			return '_'
		}
		return r
	}, name)
}

// render renders a question with the names that QuestDB has.
func render(q *query.Query, s *series.Schema, _ driver.Options) (driver.Request, error) {
	table := s.Table(q.Table)
	if table != nil {
		q, s = renamed(q, table)
	}
	text, err := newDialect().Render(q, s)
	return driver.Request{Text: text}, err
}

// renamed returns a question and a schema of its table with QuestDB's names.
func renamed(q *query.Query, t *series.Table) (*query.Query, *series.Schema) {
	table := &series.Table{Name: tableName(t.Name), Tags: slices.Clone(t.Tags), Fields: slices.Clone(t.Fields), Widths: t.Widths}
	for i := range table.Tags {
		table.Tags[i].Key = columnName(table.Tags[i].Key)
	}
	for i := range table.Fields {
		table.Fields[i].Name = columnName(table.Fields[i].Name)
	}
	to := *q
	to.Table = table.Name
	for _, name := range []*string{&to.GroupBy, &to.Unit, &to.Over} {
		*name = columnName(*name)
	}
	for _, list := range []*[]string{&to.Fields, &to.Present, &to.Tags, &to.Group, &to.MeanTags} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = columnName((*list)[i])
		}
	}
	if q.In != nil {
		to.In = &query.TagIn{Key: columnName(q.In.Key), Values: q.In.Values}
	}
	if q.Above != nil {
		above := query.Above{Field: columnName(q.Above.Field), Value: q.Above.Value}
		for _, name := range q.Above.And {
			above.And = append(above.And, columnName(name))
		}
		to.Above = &above
	}
	if q.Having != nil {
		having := *q.Having
		having.Field, having.Over = columnName(having.Field), columnName(having.Over)
		to.Having = &having
	}
	if q.Active != nil {
		active := *q.Active
		active.Field = columnName(active.Field)
		to.Active = &active
	}
	return &to, &series.Schema{Tables: []*series.Table{table}}
}
