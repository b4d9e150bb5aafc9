package postgres

import (
	"fmt"
	"math"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Table is a table that tsmark creates in the database. Names are unquoted.
type Table = sqlkit.Table

// Regclass is the name of a table as a text in SQL that PostgreSQL casts to a table.
func Regclass(t Table) string { return Literal(QuoteIdent(t.Name)) }

// layout returns the layout of a schema. Its error names the part that does not fit.
func (v Variant) layout(s *series.Schema, o driver.Options) (*sqlkit.Layout, error) {
	number := "integer"
	if wideNumbers(s) {
		number = "bigint"
	}
	design := sqlkit.Design{
		Dialect: v.dialect(o), Time: "timestamptz NOT NULL", Series: number + " NOT NULL", Key: number + " PRIMARY KEY",
		// Texts are ordered by their bytes, whatever the database's locale.
		Text: `text COLLATE "C"`, Number: "double precision", Fields: v.quirks.ChangeTypes(types(o)), MaxName: 63, MaxColumns: 1600,
		Instead: map[string]string{layoutWide: "layout=" + layoutNormalized, layoutNormalized: "layout=" + layoutNarrow}[o[optionLayout]],
		Make: func(t *Table, columns []string) {
			makeTable(o, t, columns)
			if suffix, ok := v.quirks.Suffix(t, v.dialect(o)); ok {
				t.Make[0] = fmt.Sprintf("CREATE TABLE %s (%s)%s", QuoteIdent(t.Name), strings.Join(columns, ", "), suffix)
			}
		},
	}
	v.quirks.Design(&design)
	v.quirks.Distinguish(&design)
	l, err := design.Layout(s)
	for i := 0; err == nil && v.CheckTable != nil && i < len(l.Tables); i++ {
		err = v.CheckTable(o, l.Tables[i])
	}
	return l, err
}

// wideNumbers reports whether the numbers of series need 64 bits.
func wideNumbers(s *series.Schema) bool { return s.Series > math.MaxInt32 }

// makeTable sets how a table is created. TSBS's table of series has the same index on its first tag,
// and another one on all tags, with which its loader finds series; here they have numbers.
func makeTable(o driver.Options, t *Table, columns []string) {
	kind, more := tableKind(o), storage(o)
	if t.Rows && o[optionPartition] != "" {
		kind, more = "TABLE", " PARTITION BY RANGE ("+sql.TimeColumn+")"
	}
	t.Make = []string{fmt.Sprintf("CREATE %s %s (%s)%s", kind, QuoteIdent(t.Name), strings.Join(columns, ", "), more)}
	index := func(format string, names ...any) {
		t.Make = append(t.Make, fmt.Sprintf("CREATE INDEX ON %s "+format, append([]any{QuoteIdent(t.Name)}, names...)...))
	}
	const time = sql.TimeColumn
	by, option := QuoteIdent(t.By), o[optionIndex]
	if !t.Rows {
		if t.By != "" && option != indexNone {
			index("(%s)", by)
		}
		return
	}
	if t.By != "" && (option == indexBoth || option == indexTagsTime) {
		index("(%s, %s DESC)", by, time)
	}
	switch {
	case option == indexBoth || option == indexTime:
		index("(%s DESC)", time)
	case option == indexTimeTags && t.By != "":
		index("(%s DESC, %s)", time, by)
	case option == indexBRIN:
		index("USING brin (%s)", time)
	}
	for i := range min(o.Int(optionFieldIndex), len(t.Fields)) {
		if o[optionLayout] != layoutNarrow {
			index("(%s, %s DESC)", QuoteIdent(t.Fields[i].Name), time)
		}
	}
}

// tableKind returns the kind of table for rows, and storage returns its storage parameters.
func tableKind(o driver.Options) string {
	if o[optionUnlogged] == on {
		return "UNLOGGED TABLE"
	}
	return "TABLE"
}

func storage(o driver.Options) string {
	if o[optionAutovacuum] == off {
		return " WITH (autovacuum_enabled = off)"
	}
	return ""
}
