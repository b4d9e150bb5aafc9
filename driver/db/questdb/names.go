package questdb

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Characters that QuestDB allows in no name, characters that it allows only in names of tables, and
// characters with which these neither begin nor end. It allows control characters nowhere.
const (
	outside        = ". "
	neverInNames   = `?,'"\/:)(+*%~` + "\ufeff"
	neverInColumns = ".-"
)

// tableName returns the name of a table in QuestDB, with underscores for characters that are not
// allowed.
func tableName(name string) string {
	name = strings.ReplaceAll(clean(name, neverInNames), "..", "__")
	start := len(name) - len(strings.TrimLeft(name, outside))
	end := max(start, len(strings.TrimRight(name, outside)))
	return strings.Repeat("_", start) + name[start:end] + strings.Repeat("_", len(name)-end)
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

// render renders a query with QuestDB's names.
func render(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	if table := s.Table(q.Table); table != nil {
		renamed, err := q.Rename(tableName, columnName)
		if err != nil {
			return driver.Request{}, err
		}
		tables := []*series.Table{table}
		if name, _ := q.Right(); s.Table(name) != nil {
			tables = append(tables, s.Table(name))
		}
		q, s = renamed, renamedSchema(tables...)
	}
	d := newDialect()
	d.Indexed = o.Bool(optionIndex)
	text, err := d.Render(q, s)
	return driver.Request{Text: text}, err
}

// renamedSchema returns a schema of tables with QuestDB's names.
func renamedSchema(tables ...*series.Table) *series.Schema {
	var renamed series.Schema
	for _, t := range tables {
		table := &series.Table{Name: tableName(t.Name), Tags: slices.Clone(t.Tags), Fields: slices.Clone(t.Fields), Widths: t.Widths, Dense: t.Dense, Metric: t.Metric}
		for i := range table.Tags {
			table.Tags[i].Key = columnName(table.Tags[i].Key)
		}
		for i := range table.Fields {
			table.Fields[i].Name = columnName(table.Fields[i].Name)
		}
		renamed.Tables = append(renamed.Tables, table)
	}
	return &renamed
}
