package iotdb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// table is the table model: text tags are TAG columns, and numeric tags and fields are FIELD columns.
// The server folds names to lower case.
type table struct {
	name string // of the database
	held map[series.Type]driver.Stored
	sql  *sql.Dialect
}

func newTable(o driver.Options) *table {
	return &table{name: strings.ToLower(o[connection.Database]), held: types(o), sql: tableDialect(units[o[optionPrecision]])}
}

// reserved are the words that 2.0.1-beta does not accept as names of columns.
const reserved = " alter and as between by case cast constraint create cross cube current_catalog current_database current_date current_role current_schema current_time current_timestamp current_user date_bin date_bin_gapfill deallocate delete describe distinct drop else end escape except exists extract false fill for from full group grouping having in inner insert intersect into is join left like listagg natural normalize not null on or order outer prepare recursive right rollup select skip table then trim true uescape union unnest using values when where with "

// tableDialect is the SQL of IoTDB 2.0.1-beta, with times in a unit.
func tableDialect(unit time.Duration) *sql.Dialect {
	return &sql.Dialect{
		Name:      "the table model of IoTDB 2.0.1",
		Precision: unit,
		Time:      func(t time.Time) string { return strconv.FormatInt(t.UnixNano()/int64(unit), 10) },
		Bucket: func(width time.Duration, expression string) string {
			return fmt.Sprintf("date_bin(%s, %s)", duration(width), expression)
		},
		Largest:     largest,
		Newest:      sql.LastBy,
		Words:       reserved,
		Wide:        true,
		Folds:       true,
		NoWith:      true,
		NoSets:      true,
		EmptyGroups: true,
		Ticks: &sql.Ticks{
			First: func(value, time string) string { return fmt.Sprintf("first_by(%s, %s)", value, time) },
			Last:  func(value, time string) string { return fmt.Sprintf("last_by(%s, %s)", value, time) },
			SecondOfDay: func(at string, width time.Duration) string {
				day, second := int64(24*time.Hour/unit), int64(time.Second/unit)
				return fmt.Sprintf("(CAST(%s AS INT64) %% %d + %[2]d) %% %[2]d / %[3]d * %[4]d", at, day, int64(width/unit), int64(width/unit)/second)
			},
		},
	}
}

// largest is the largest value of a group. Up to 2.0.10, max() of doubles is NULL in groups without a
// positive value (apache/iotdb#18300). max_by returns the correct value, but does not use the
// statistics of files. Groups by all tags of a table do not have this bug.
func largest(t *series.Table, by string, f series.Field, column string) string {
	texts, _ := split(t)
	if whole := len(texts) == 1 && texts[0].Key == by; whole || f.Type != series.Float && f.Type != series.Float32 {
		return call("max", column)
	}
	return fmt.Sprintf("max_by(%s, %[1]s)", column)
}

func (l *table) render(q *query.Query, s *series.Schema) (driver.Request, error) {
	t := s.Table(q.Table)
	if t != nil && newestBooleans(q, t) {
		return driver.Request{}, fmt.Errorf("%w: booleans of the newest rows by a tag that is a number: IoTDB 2.0.1 answers with error 301 (Unsupported data type : BOOLEAN)", query.ErrUnsupported)
	}
	if _, ok := q.Shape.(query.Weighted); ok {
		return driver.Request{}, fmt.Errorf("%w: weighted means: IoTDB 2.0.1 returned more rows than there are buckets and series", query.ErrUnsupported)
	}
	if t == nil || plainName(t.Name) {
		text, err := l.sql.Render(q, s)
		return driver.Request{Text: text}, err
	}
	called, of := *t, *q
	called.Name, of.Table = l.objectName(t.Name), l.objectName(t.Name)
	text, err := l.sql.Render(&of, &series.Schema{Tables: []*series.Table{&called}, Series: s.Series})
	return driver.Request{Text: text}, err
}

// newestBooleans reports whether a query reads booleans of the newest row for each value of a numeric
// tag.
func newestBooleans(q *query.Query, t *series.Table) bool {
	last, ok := q.Shape.(query.Last)
	if !ok {
		return false
	}
	by := t.Tag(last.By)
	return by != nil && by.Numeric() &&
		slices.ContainsFunc(t.Fields, func(f series.Field) bool { return f.Type == series.Bool && slices.Contains(last.Fields, f.Name) })
}

func (l *table) names() (listed, named string) { return l.name, l.sql.Ident(l.name) }
func (l *table) makeDatabase() string          { return "CREATE DATABASE IF NOT EXISTS " + l.sql.Ident(l.name) }
func (l *table) dropDatabase() string          { return "DROP DATABASE IF EXISTS " + l.sql.Ident(l.name) }
func (l *table) kind() string                  { return sqlkit.KindTable }

// objectName quotes the name of a table. The server takes the name in a tablet for a path of the tree model:
// 2.0.1-beta refuses rows of a name that is not a valid path, or stores them elsewhere. In backquotes
// it accepts any name, and keeps the backquotes.
func (l *table) objectName(table string) string { return node(strings.ToLower(table)) }

// path is the qualified name in statements, independent of the session's database.
func (l *table) path(name string) string { return l.sql.Ident(l.name) + "." + l.sql.Ident(name) }

// column is a column of a table other than the time.
type column struct {
	measurement
	category int8
}

// declaredColumns returns the columns of a table, in the order of tablets.
func (l *table) declaredColumns(t *series.Table) (all []column) {
	texts, numeric := split(t)
	for _, tag := range texts {
		all = append(all, column{measurement{tag.Key, "STRING"}, categoryTag})
	}
	for _, tag := range numeric {
		all = append(all, column{measurement{tag.Key, "DOUBLE"}, categoryField})
	}
	for _, f := range t.Fields {
		all = append(all, column{measurement{f.Name, l.held[f.Type].As}, categoryField})
	}
	return all
}

// words is the column's definition after its name.
func (c column) words() string { return c.kind + " " + [...]string{"TAG", "FIELD"}[c.category] }

func (l *table) create(s *series.Schema) (statements []string) {
	for _, t := range s.Tables {
		var columns []string
		for _, c := range l.declaredColumns(t) {
			columns = append(columns, l.sql.Ident(c.name)+" "+c.words())
		}
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s (%s)", l.path(l.objectName(t.Name)), strings.Join(columns, ", ")))
	}
	return statements
}

func (l *table) columns(t *series.Table) []string {
	columns := []string{}
	for _, c := range l.declaredColumns(t) {
		columns = append(columns, strings.ToLower(c.name)+" "+c.words())
	}
	slices.Sort(columns)
	return columns
}

// objects lists the tables, each with its columns.
func (l *table) objects(ctx context.Context, c sqlkit.Conn) (objects []driver.Object, err error) {
	tables, err := sqlkit.QueryRows(ctx, c, "SHOW TABLES FROM "+l.sql.Ident(l.name))
	for _, row := range tables {
		o := driver.Object{Name: row[0].String(), Columns: []string{}}
		columns, err := sqlkit.QueryRows(ctx, c, "DESC "+l.path(o.Name))
		if err != nil {
			return nil, err
		}
		for _, column := range columns {
			if name, category := column[0].String(), column[2].String(); category != "TIME" || name != sql.TimeColumn {
				o.Columns = append(o.Columns, fmt.Sprintf("%s %s %s", name, column[1].String(), category))
			}
		}
		slices.Sort(o.Columns)
		objects = append(objects, o)
	}
	return objects, err
}

func (l *table) remove(ctx context.Context, c sqlkit.Conn, name string) error {
	return c.Exec(ctx, "DROP TABLE IF EXISTS "+l.path(name))
}

// forget does nothing: tables are dropped with their database.
func (l *table) forget(context.Context, sqlkit.Conn, string) error { return nil }

func (l *table) makeNote() string {
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s STRING FIELD)", l.path(note), noteContent)
}

func (l *table) parts(_ context.Context, _ sqlkit.Conn, t *series.Table) ([]string, error) {
	return []string{l.path(l.objectName(t.Name))}, nil
}

func (l *table) counting(t *series.Table) counting {
	return counting{quote: l.sql.Ident, rows: "count(*)", first: "min(time)", last: "max(time)", least: "min", most: "max", from: l.path(l.objectName(t.Name))}
}

func (l *table) listSeries(ctx context.Context, c *conn, t *series.Table, sink query.Sink) error {
	texts, _ := split(t)
	if len(texts) == 0 {
		return sink.Row(make([]query.Value, 0))
	}
	var keys []string
	for _, tag := range texts {
		keys = append(keys, l.sql.Ident(tag.Key))
	}
	_, err := c.Query(ctx, fmt.Sprintf("SELECT DISTINCT %s\nFROM %s", strings.Join(keys, ", "), l.path(l.objectName(t.Name))), sink)
	return err
}
