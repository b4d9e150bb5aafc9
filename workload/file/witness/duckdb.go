package witness

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// DuckDB is the library.
type DuckDB struct {
	Version string
	// Open opens an empty database in memory, which can read the file of path and no other, with one
	// thread, so that rows stay in order. The end of the context interrupts its queries. The function
	// that it returns closes it.
	Open func(ctx context.Context, path string) (Query, func(), error)
}

// Query runs a statement and passes the rows of its answer to visit, each valid until visit returns;
// nil: the answer is not read. Columns are BIGINT, DOUBLE, VARCHAR, BLOB or times.
type Query func(text string, visit func(row []Cell)) error

// Cell is a value of an answer.
type Cell struct {
	Null  bool
	Int   int64 // of BIGINT, and of times in units of their type
	Float float64
	Text  []byte // of VARCHAR and BLOB
}

// duckReader reads Parquet, CSV and JSON by DuckDB's own readers.
type duckReader struct {
	file   *File
	duckdb *DuckDB
}

func openDuckDB(f *File, d *DuckDB) (reader, error) {
	if d == nil {
		return nil, cannot("this tsmark was built without DuckDB, whose reader checks files of %s", f.Format)
	}
	if strings.ContainsAny(f.Path, "*?[") {
		return nil, cannot("%s: DuckDB takes its name for a pattern", f.Path)
	}
	if _, odd := delimiterLine(f.Path); odd && f.Format == CSV {
		return nil, cannot("%s: DuckDB does not read its line sep=", f.Path)
	}
	return duckReader{f, d}, nil
}

func (d duckReader) name() string { return "DuckDB " + d.duckdb.Version }

// quote is a text or name of SQL in its quotes.
func quote(text, quote string) string {
	return quote + strings.ReplaceAll(text, quote, quote+quote) + quote
}

// read implements reader.
func (d duckReader) read(ctx context.Context, columns []column, spans []span, visit func(row int64, values []value)) error {
	path, err := filepath.Abs(d.file.Path)
	failed := func(err error) error {
		return cannot("%s: DuckDB says %s", d.file.Path, oneLine(strings.ReplaceAll(err.Error(), path, d.file.Path)))
	}
	if err != nil {
		return cannot("%s: %v", d.file.Path, err)
	}
	query, done, err := d.duckdb.Open(ctx, path)
	if err != nil {
		return failed(err)
	}
	defer done()
	from, number := d.tableFunction(path, columns)
	unread := make(map[string]bool)
	if d.file.Format == Parquet { // larger decimals are not those of the file
		if err := query("SELECT name FROM parquet_schema("+quote(path, "'")+") WHERE precision > 38", func(row []Cell) { unread[string(row[0].Text)] = true }); err != nil {
			return failed(err)
		}
	}
	var found [][2]string // names and types
	if err := query("DESCRIBE SELECT * FROM "+from, func(row []Cell) { found = append(found, [2]string{string(row[0].Text), string(row[1].Text)}) }); err != nil {
		return failed(err)
	}
	selected, kinds := d.selectColumns(found, columns, unread)
	var where []string
	for _, s := range spans {
		where = append(where, fmt.Sprintf("%s BETWEEN %d AND %d", number, s.first+d.header(), s.first+s.rows-1+d.header()))
	}
	where = append(where, fmt.Sprintf("%s = %d", number, d.file.Rows+d.header()))
	if d.header() > 0 {
		where = append(where, number+" = 0")
	}
	condition := " FROM " + from + " WHERE " + strings.Join(where, " OR ")
	values := make([]value, len(columns))
	read := func() error {
		text := "SELECT " + strings.Join(append([]string{number}, selected...), ", ") + condition
		return query(text, func(row []Cell) {
			for i, of := range kinds {
				values[i] = value{kind: of.kind, unit: of.unit}
				if of.at >= 0 {
					values[i].take(row[of.at])
				}
			}
			visit(row[0].Int-d.header(), values) // -1: the header
		})
	}
	err = read()
	if err != nil && ctx.Err() == nil && d.file.Format == Parquet {
		// A column that DuckDB cannot read keeps no others from being compared.
		all := selected
		selected = nil
		for i := range kinds {
			if kinds[i].at < 0 {
				continue
			}
			text := all[kinds[i].at-1]
			if query("SELECT max("+text+")"+condition, nil) != nil {
				kinds[i] = duckColumn{at: -1, kind: isAbsent}
				continue
			}
			selected = append(selected, text)
			kinds[i].at = len(selected)
		}
		if len(selected) > 0 && kinds[0].at > 0 {
			err = read()
		}
	}
	if err != nil {
		return failed(err)
	}
	return nil
}

// header returns the number of DuckDB's rows before the first row of data: the header, which is
// read as a row to compare it.
func (d duckReader) header() int64 {
	if d.file.Format == CSV && d.file.HasHeader {
		return 1
	}
	return 0
}

// rowNumber is the column that numbers the rows of texts.
const rowNumber = "row number of tsmark"

// tableFunction is the rows of a file in SQL, and the column with their number from 0.
func (d duckReader) tableFunction(path string, columns []column) (from, number string) {
	var list []string
	switch d.file.Format {
	case Parquet:
		return "read_parquet(" + quote(path, "'") + ", file_row_number=true, hive_partitioning=false)", "file_row_number"
	case CSV:
		for i := range d.file.Header {
			list = append(list, fmt.Sprintf("'c%d':'VARCHAR'", i))
		}
		skip := 0
		if there, _ := delimiterLine(path); there {
			skip = 1
		}
		from = fmt.Sprintf("read_csv(%s, columns={%s}, auto_detect=false, header=false, delim=%s, quote='\"', escape='\"', skip=%d, strict_mode=false, null_padding=false, allow_quoted_nulls=false, hive_partitioning=false, compression=%s)",
			quote(path, "'"), strings.Join(list, ","), quote(string(d.file.Delimiter), "'"), skip, d.compression(path))
	default:
		for _, c := range columns {
			list = append(list, quote(c.name, "'")+":'VARCHAR'")
		}
		from = fmt.Sprintf("read_json(%s, columns={%s}, format='%s', records=true, hive_partitioning=false, compression=%s)", quote(path, "'"), strings.Join(list, ","), jsonLayout(path), d.compression(path))
	}
	number = quote(rowNumber, `"`)
	return fmt.Sprintf("(SELECT *, row_number() OVER () - 1 AS %s FROM %s)", number, from), number
}

// compression names that of a file in SQL.
func (d duckReader) compression(path string) string { return quote(compressionOf(path), "'") }

// duckColumn says how a column of an answer is read.
type duckColumn struct {
	at   int // of the answer; -1: it is not there
	kind kind
	unit int64
}

// selectColumns returns the expressions that are queried, and how they are read, by the names and
// types of the columns that a file has.
func (d duckReader) selectColumns(found [][2]string, columns []column, unread map[string]bool) ([]string, []duckColumn) {
	types, names := make(map[string]string), make(map[string]string)
	for i, of := range found {
		types[of[0]], _, _ = strings.Cut(of[1], "(") // without the precision of decimals, the values of enums
		if d.file.Format == CSV && i < len(d.file.Header) {
			names[d.file.Header[i]] = of[0]
		} else {
			names[of[0]] = of[0]
		}
	}
	var list []string
	var kinds []duckColumn
	for _, c := range columns {
		name, ok := names[c.name]
		nested := d.file.Format == Objects && strings.Contains(c.name, ".")
		if !ok || name == rowNumber || unread[name] || nested {
			kinds = append(kinds, duckColumn{at: -1, kind: isAbsent})
			continue
		}
		of, text := duckColumn{at: 1 + len(list), kind: isText}, quote(name, `"`)
		switch types[name] {
		case "VARCHAR", "BLOB", "JSON":
		case "BOOLEAN":
			of.kind, text = isBool, "CAST("+text+" AS BIGINT)"
		case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER":
			of.kind, text = isInt, "CAST("+text+" AS BIGINT)"
		case "UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL":
			of.kind, text = isDigits, "CAST("+text+" AS VARCHAR)"
		case "FLOAT":
			of.kind, text = isSingle, "CAST("+text+" AS DOUBLE)"
		case "DOUBLE":
			of.kind = isFloat
		case "TIMESTAMP_S":
			of.kind, of.unit = isTime, 1e9
		case "TIMESTAMP_MS":
			of.kind, of.unit = isTime, 1e6
		case "TIMESTAMP", "TIMESTAMP WITH TIME ZONE":
			of.kind, of.unit = isTime, 1e3
		case "TIMESTAMP_NS":
			of.kind, of.unit = isTime, 1
		case "DATE":
			of.kind, text = isDay, "CAST("+text+" - DATE '1970-01-01' AS BIGINT)"
		case "ENUM":
			text = "CAST(" + text + " AS VARCHAR)"
		default:
			kinds = append(kinds, duckColumn{at: -1, kind: isAbsent})
			continue
		}
		list, kinds = append(list, text), append(kinds, of)
	}
	return list, kinds
}

// take takes over a value of an answer.
func (v *value) take(c Cell) {
	if c.Null {
		v.kind = isNull
		return
	}
	v.int, v.float, v.text = c.Int, c.Float, c.Text
}
