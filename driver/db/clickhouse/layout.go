package clickhouse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// design is how tables are declared under the options. sqlkit.Design handles names and their
// collisions; here, the definition of a column depends on its table.
type design struct {
	options driver.Options
	wide    bool
	tsbs    bool
}

func newDesign(o driver.Options) *design {
	layout := o[optionLayout]
	return &design{options: o, wide: layout != layoutNormalized && layout != layoutTSBS, tsbs: layout == layoutTSBS}
}

// Types of tags and of columns that refer to tags.
const (
	tagText       = "LowCardinality(Nullable(String))"
	tagNumber     = "Nullable(Float64)"
	seriesNumber  = "UInt32"
	normalizedTag = "Nullable(String)"
)

// The columns that TSBS's loader for ClickHouse derives from a time. Rows are written with created_at
// alone: defaults compute the others from it. TSBS's query texts do not select by these.
const (
	tsbsTime  = "created_at"
	tsbsDate  = "created_date"
	tsbsText  = "time"
	tsbsMore  = "additional_tags"
	tsbsTimes = "DateTime('UTC')"
)

// tsbsColumns adds TSBS's own columns to the columns of a table of rows or of tags.
func tsbsColumns(columns []string, rows bool) []string {
	date := tsbsDate + " Date DEFAULT toDate(" + tsbsTime + ", 'UTC')"
	if !rows {
		return append([]string{date, tsbsTime + " DateTime DEFAULT now()"}, columns...)
	}
	text := tsbsText + " String DEFAULT formatDateTime(" + tsbsTime + ", '%Y-%m-%d %H:%i:%S +0000', 'UTC')"
	columns = slices.Insert(slices.Clone(columns), 1, text)
	return append(append([]string{date}, columns...), tsbsMore+" String DEFAULT ''")
}

// tsbsTaken returns an error for a table with a column named like one of TSBS's own columns.
func tsbsTaken(s *series.Schema) error {
	for _, t := range s.Tables {
		for _, name := range t.ColumnNames() {
			if slices.Contains([]string{tsbsDate, tsbsTime, tsbsText, tsbsMore}, name) {
				return fmt.Errorf("table %s has a tag or field called %s, which is a column of TSBS's own: give %s=%s", t.Name, name, optionLayout, layoutNormalized)
			}
		}
	}
	return nil
}

// Layout returns the layout of a schema.
func (d *design) Layout(s *series.Schema) (*sqlkit.Layout, error) {
	if d.tsbs {
		if err := tsbsTaken(s); err != nil {
			return nil, err
		}
	}
	text, times := tagText, timeType
	if d.tsbs {
		times = tsbsTimes
	}
	if !d.wide {
		text = normalizedTag
	}
	of := sqlkit.Design{
		Dialect: newDialect(d.options), Time: times, Series: seriesNumber, Key: seriesNumber, Text: text, Number: tagNumber, Fields: types(d.options),
		// Files are named after columns, so the file system limits the length of names.
		MaxName: 120,
		Make:    func(t *sqlkit.Table, columns []string) { d.make(s, t, columns) },
	}
	if d.wide {
		of.Instead = "layout=" + layoutNormalized
	}
	return of.Layout(s)
}

// Check implements the Schema of driver.Caps.
func (d *design) Check(s *series.Schema) error {
	_, err := d.Layout(s)
	return err
}

// make sets how a table is created. Rows are ordered by the tags and the time, or by the series and the
// time.
func (d *design) make(s *series.Schema, t *sqlkit.Table, columns []string) {
	order, settings := sql.IDColumn, []string{}
	partition := ""
	if t.Rows {
		table := s.Table(t.Name)
		time := timeColumn(d.options)
		columns = d.fields(table, columns)
		names := []string{sql.TagsIDColumn}
		if d.wide {
			names = nil
			for i := range table.Tags {
				names = append(names, quoteIdent(table.Tags[i].Key))
			}
			settings = append(settings, "allow_nullable_key = 1")
		}
		order = strings.Join(append(names, time), ", ")
		switch d.options[optionPartition] {
		case partitionMonth:
			partition = " PARTITION BY toYYYYMM(" + time + ")"
		case partitionDay:
			partition = " PARTITION BY toYYYYMMDD(" + time + ")"
		}
	}
	switch d.options[optionFsync] {
	case on:
		settings = append(settings, "fsync_after_insert = 1", "fsync_part_directory = 1")
	case off:
		settings = append(settings, "fsync_after_insert = 0", "fsync_part_directory = 0")
	}
	if d.tsbs {
		columns = tsbsColumns(columns, t.Rows)
	}
	with := ""
	if len(settings) > 0 {
		with = " SETTINGS " + strings.Join(settings, ", ")
	}
	t.Make = []string{fmt.Sprintf("CREATE TABLE %s (%s) ENGINE = MergeTree%s ORDER BY (%s)%s",
		quoteIdent(t.Name), strings.Join(columns, ", "), partition, order, with)}
}

// fields returns the declared columns of rows with the codecs of the options. Columns of fields are
// Nullable if rows may lack them.
func (d *design) fields(t *series.Table, columns []string) []string {
	columns = slices.Clone(columns)
	codecs := d.options[optionCodecs] == codecsSeries
	if codecs {
		columns[0] += codec(series.Timestamp)
	}
	first := len(columns) - len(t.Fields)
	for i, f := range t.Fields {
		columns[first+i] = quoteIdent(f.Name) + " " + d.columnType(t, &f)
		if codecs {
			columns[first+i] += d.codecOf(&f)
		}
	}
	return columns
}

// columnType returns the type of a field's column.
func (d *design) columnType(t *series.Table, f *series.Field) string {
	return d.orNull(t, cmp.Or(newDialect(d.options).DecimalType(f), types(d.options)[f.Type].As))
}

// codecOf returns the compression of a field. Decimals are stored as integers.
func (d *design) codecOf(f *series.Field) string {
	if newDialect(d.options).DecimalType(f) != "" {
		return codec(series.Int)
	}
	return codec(f.Type)
}

// orNull returns a type of values that rows of a table may lack.
func (d *design) orNull(t *series.Table, as string) string {
	if !d.nullable(t) {
		return as
	}
	return "Nullable(" + as + ")"
}

// nullable reports whether columns of fields can be NULL. TSBS's always are.
func (d *design) nullable(t *series.Table) bool { return d.tsbs || !complete(t) }

// complete reports whether every row of a table has a value of each field.
func complete(t *series.Table) bool { return t.Dense && t.Widths == nil }

// codec returns the compression of values that change little from one to the next.
func codec(t series.Type) string {
	switch t {
	case series.Timestamp:
		return " CODEC(DoubleDelta, ZSTD(1))"
	case series.Float, series.Float32:
		return " CODEC(Gorilla, ZSTD(1))"
	case series.Int, series.Int32, series.Date:
		return " CODEC(Delta, ZSTD(1))"
	}
	return " CODEC(ZSTD(1))"
}
