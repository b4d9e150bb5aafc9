package postgres

import (
	"fmt"
	"math"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Table is a table of tsmark's in the database. Names are unquoted.
type Table struct {
	Name string
	Rows bool   // of rows, not of series
	By   string // column that tells its series apart; empty: none does
}

// Literal is the name as a text in SQL that PostgreSQL reads as a table.
func (t Table) Literal() string { return Literal(Quoted(t.Name)) }

// layout is the tables that a schema becomes, and which series have their row
// of tags. All writers share it.
type layout struct {
	schema  *series.Schema
	options driver.Options
	kind    string                         // the option's value
	bigint  bool                           // integers stay integers
	tags    map[*series.Table]*sqlkit.Tags // nil where tables are wide
	tables  []Table
	ddl     []string // for each of tables, the statements that make it

	partitions map[string]bool // that were made, by table and start; guarded by database.mu
}

// maxColumns is PostgreSQL's limit of a table.
const maxColumns = 1600

// newLayout lays a schema out. Its error names what does not fit.
func newLayout(s *series.Schema, o driver.Options) (*layout, error) {
	l := &layout{schema: s, options: o, kind: o[optionLayout], bigint: o[optionIntegers] == integersBigint, partitions: make(map[string]bool)}
	if l.kind != layoutWide {
		l.tags = sqlkit.TagsOf(s)
	}
	for _, t := range s.Tables {
		if err := l.rows(t); err != nil {
			return nil, err
		}
		if tags := l.tags[t]; tags != nil && tags.Of == t {
			l.series(tags)
		}
	}
	for _, t := range l.tables {
		if len(t.Name) > maxName {
			return nil, fmt.Errorf("table %s: PostgreSQL cuts names at %d bytes; shorten it", t.Name, maxName)
		}
	}
	return l, sqlkit.Distinct(l.objects())
}

// objects are the tables, as plans name them.
func (l *layout) objects() []driver.Object {
	objects := make([]driver.Object, len(l.tables))
	for i, t := range l.tables {
		objects[i] = driver.Object{Kind: kindTable, Name: t.Name}
	}
	return objects
}

// maxName is the length of PostgreSQL's names, in bytes.
const maxName = 63

// rows adds a table of rows.
func (l *layout) rows(t *series.Table) error {
	columns := []string{sql.TimeColumn}
	types := []string{"timestamptz NOT NULL"}
	add := func(name, kind string) { columns, types = append(columns, name), append(types, kind) }
	by := sql.TagsIDColumn
	if l.kind == layoutWide {
		for _, tag := range t.Tags {
			add(tag.Key, tagType(&tag))
		}
		by = ""
		if len(t.Tags) > 0 {
			by = t.Tags[0].Key
		}
	} else {
		add(sql.TagsIDColumn, l.idType()+" NOT NULL")
	}
	fields := l.fields(t)
	for _, f := range fields {
		add(f.name, f.kind)
	}
	if len(columns) > maxColumns {
		return fmt.Errorf("table %s would have %d columns, and PostgreSQL takes %d; choose layout=%s or a workload with fewer", t.Name, len(columns), maxColumns, layoutNarrow)
	}
	definitions := make([]string, len(columns))
	seen := make(map[string]bool)
	for i, name := range columns {
		if seen[name] {
			return fmt.Errorf("table %s would have two columns %s; choose layout=%s or rename a tag or field", t.Name, name, layoutNormalized)
		}
		if len(name) > maxName {
			return fmt.Errorf("column %s of table %s: PostgreSQL cuts names at %d bytes; shorten it", name, t.Name, maxName)
		}
		seen[name] = true
		definitions[i] = Quoted(name) + " " + types[i]
	}
	ddl := []string{l.create(t.Name, definitions, l.options[optionPartition] != "")}
	table := Table{Name: t.Name, Rows: true, By: by}
	ddl = append(ddl, l.indexes(table)...)
	indexed := l.options.Int(optionFieldIndex)
	for i, f := range fields {
		if i < indexed && l.kind != layoutNarrow {
			ddl = append(ddl, fmt.Sprintf("CREATE INDEX ON %s (%s, %s DESC)", Quoted(t.Name), Quoted(f.name), sql.TimeColumn))
		}
	}
	l.add(table, ddl)
	return nil
}

// indexes returns the statements that make the indexes of the option.
func (l *layout) indexes(t Table) []string {
	const time = sql.TimeColumn
	on := fmt.Sprintf("CREATE INDEX ON %s ", Quoted(t.Name))
	var tagsTime, timeTags []string
	if t.By != "" {
		tagsTime = []string{on + fmt.Sprintf("(%s, %s DESC)", Quoted(t.By), time)}
		timeTags = []string{on + fmt.Sprintf("(%s DESC, %s)", time, Quoted(t.By))}
	}
	byTime := on + fmt.Sprintf("(%s DESC)", time)
	switch l.options[optionIndex] {
	case indexBoth:
		return append(tagsTime, byTime)
	case indexTagsTime:
		return tagsTime
	case indexTime:
		return []string{byTime}
	case indexTimeTags:
		return timeTags
	case indexBRIN:
		return []string{on + fmt.Sprintf("USING brin (%s)", time)}
	}
	return nil
}

// series adds a table of series. TSBS's has the same index of its first tag, and
// one of all tags, by which its loader finds series again; here they have numbers.
func (l *layout) series(t *sqlkit.Tags) {
	columns := sqlkit.Columns{Dialect: newDialect(), Key: l.idType() + " PRIMARY KEY", Text: textTag, Number: numericTag}
	ddl := []string{l.create(t.Name, columns.OfSeries(t), false)}
	if len(t.Tags) > 0 && l.options[optionIndex] != indexNone {
		ddl = append(ddl, fmt.Sprintf("CREATE INDEX ON %s (%s)", Quoted(t.Name), Quoted(t.Tags[0].Key)))
	}
	l.add(Table{Name: t.Name}, ddl)
}

func (l *layout) add(t Table, ddl []string) {
	l.tables, l.ddl = append(l.tables, t), append(l.ddl, strings.Join(ddl, "; "))
}

// create returns the statement that makes a table.
func (l *layout) create(name string, definitions []string, partitioned bool) string {
	kind, more := "TABLE", ""
	if l.options[optionUnlogged] == on && !partitioned {
		kind = "UNLOGGED TABLE" // of partitioned ones the partitions are
	}
	switch {
	case partitioned:
		more = " PARTITION BY RANGE (" + sql.TimeColumn + ")"
	default:
		more = l.storage()
	}
	return fmt.Sprintf("CREATE %s %s (%s)%s", kind, Quoted(name), strings.Join(definitions, ", "), more)
}

// storage returns the settings of a table that holds rows.
func (l *layout) storage() string {
	if l.options[optionAutovacuum] == off {
		return " WITH (autovacuum_enabled = off)"
	}
	return ""
}

// idType is the type of a series' number.
func (l *layout) idType() string {
	if l.schema.Series > math.MaxInt32 {
		return "bigint"
	}
	return "integer"
}

// The types of tags. Texts are ordered by their bytes, whatever the database's
// language.
const (
	textTag    = `text COLLATE "C"`
	numericTag = "double precision"
)

func tagType(t *series.Tag) string {
	if t.Numeric() {
		return numericTag
	}
	return textTag
}

// field is a column of values.
type field struct{ name, kind string }

// fields returns the columns of a table's values.
func (l *layout) fields(t *series.Table) []field {
	if l.kind == layoutNarrow {
		return append([]field{{sql.FieldColumn, `text COLLATE "C" NOT NULL`}}, l.valueColumns(t)...)
	}
	list, kinds := make([]field, len(t.Fields)), types(l.options)
	for i, f := range t.Fields {
		list[i] = field{f.Name, kinds[f.Type].As}
	}
	return list
}
