//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package witness

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// duckReader reads Parquet, CSV and JSON by DuckDB's own readers.
type duckReader struct{ file *File }

func openDuckDB(f *File) (reader, error) {
	if strings.ContainsAny(f.Path, "*?[") {
		return nil, cannot("%s: DuckDB takes its name for a pattern", f.Path)
	}
	if _, odd := delimiterLine(f.Path); odd && f.Format == CSV {
		return nil, cannot("%s: DuckDB does not read its line sep=", f.Path)
	}
	return duckReader{f}, nil
}

func (duckReader) name() string { return "DuckDB " + duck.LibraryVersion() }

// quote is a text or name of SQL in its quotes.
func quote(text, quote string) string {
	return quote + strings.ReplaceAll(text, quote, quote+quote) + quote
}

// read implements reader.
func (d duckReader) read(ctx context.Context, columns []column, spans []span, visit func(row int64, values []value)) error {
	failed := func(message string) error {
		path, _ := filepath.Abs(d.file.Path)
		return cannot("%s: DuckDB says %s", d.file.Path, oneLine(strings.ReplaceAll(message, path, d.file.Path)))
	}
	path, err := filepath.Abs(d.file.Path)
	if err != nil {
		return failed(err.Error())
	}
	var config duck.Config
	if duck.CreateConfig(&config) != duck.StateSuccess {
		return failed("that it has no memory")
	}
	defer duck.DestroyConfig(&config)
	for _, s := range [][2]string{
		{"threads", "1"}, // rows stay in order
		{"memory_limit", "1GB"}, {"temp_directory", ""}, {"autoinstall_known_extensions", "false"}, {"autoload_known_extensions", "false"},
	} {
		duck.SetConfig(config, s[0], s[1])
	}
	var db duck.Database
	var message string
	if duck.OpenExt(":memory:", &db, config, &message) != duck.StateSuccess {
		return failed(message)
	}
	defer duck.Close(&db)
	var conn duck.Connection
	if duck.Connect(db, &conn) != duck.StateSuccess {
		return failed("that it has no connection")
	}
	defer duck.Disconnect(&conn)
	defer context.AfterFunc(ctx, func() { duck.Interrupt(conn) })()
	for _, text := range []string{"SET allowed_paths=[" + quote(path, "'") + "]", "SET enable_external_access=false", "SET lock_configuration=true"} {
		if err := run(conn, text, func(*duck.Result) error { return nil }); err != nil {
			return failed(err.Error())
		}
	}
	from, number := d.tableFunction(path, columns)
	unread := make(map[string]bool)
	if d.file.Format == Parquet { // larger decimals are not those of the file
		text := "SELECT CAST(0 AS BIGINT), name FROM parquet_schema(" + quote(path, "'") + ") WHERE precision > 38"
		if err := run(conn, text, func(r *duck.Result) error {
			return d.rows(ctx, r, []duckColumn{{at: 1, kind: isText}}, make([]value, 1), func(_ int64, values []value) { unread[string(values[0].text)] = true })
		}); err != nil {
			return failed(err.Error())
		}
	}
	var selected []string
	var kinds []duckColumn
	if err := run(conn, "SELECT * FROM "+from+" LIMIT 0", func(r *duck.Result) error {
		selected, kinds = d.selectColumns(r, columns, unread)
		return nil
	}); err != nil {
		return failed(err.Error())
	}
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
		return run(conn, text, func(r *duck.Result) error { return d.rows(ctx, r, kinds, values, visit) })
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
			if run(conn, "SELECT max("+text+")"+condition, func(*duck.Result) error { return nil }) != nil {
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
		return failed(err.Error())
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

// selectColumns returns the expressions that are queried, and how they are read, by the columns
// that a file has.
func (d duckReader) selectColumns(r *duck.Result, columns []column, unread map[string]bool) ([]string, []duckColumn) {
	types, names := make(map[string]duck.Type), make(map[string]string)
	for i := range duck.ColumnCount(r) {
		name := duck.ColumnName(r, i)
		types[name] = duck.ColumnType(r, i)
		if d.file.Format == CSV && int(i) < len(d.file.Header) {
			names[d.file.Header[i]] = name
		} else {
			names[name] = name
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
		case duck.TypeVarchar, duck.TypeBlob:
		case duck.TypeBoolean:
			of.kind, text = isBool, "CAST("+text+" AS BIGINT)"
		case duck.TypeTinyInt, duck.TypeSmallInt, duck.TypeInteger, duck.TypeBigInt, duck.TypeUTinyInt, duck.TypeUSmallInt, duck.TypeUInteger:
			of.kind, text = isInt, "CAST("+text+" AS BIGINT)"
		case duck.TypeUBigInt, duck.TypeHugeInt, duck.TypeUHugeInt, duck.TypeDecimal:
			of.kind, text = isDigits, "CAST("+text+" AS VARCHAR)"
		case duck.TypeFloat:
			of.kind, text = isSingle, "CAST("+text+" AS DOUBLE)"
		case duck.TypeDouble:
			of.kind = isFloat
		case duck.TypeTimestampS:
			of.kind, of.unit = isTime, 1e9
		case duck.TypeTimestampMS:
			of.kind, of.unit = isTime, 1e6
		case duck.TypeTimestamp, duck.TypeTimestampTZ:
			of.kind, of.unit = isTime, 1e3
		case duck.TypeTimestampNS:
			of.kind, of.unit = isTime, 1
		case duck.TypeDate:
			of.kind, text = isDay, "CAST("+text+" - DATE '1970-01-01' AS BIGINT)"
		case duck.TypeEnum:
			text = "CAST(" + text + " AS VARCHAR)"
		default:
			kinds = append(kinds, duckColumn{at: -1, kind: isAbsent})
			continue
		}
		list, kinds = append(list, text), append(kinds, of)
	}
	return list, kinds
}

// rows hands the rows of an answer to visit.
func (d duckReader) rows(ctx context.Context, r *duck.Result, kinds []duckColumn, values []value, visit func(row int64, values []value)) error {
	data, valid := make([]unsafe.Pointer, duck.ColumnCount(r)), make([]unsafe.Pointer, duck.ColumnCount(r))
	for {
		chunk := duck.FetchChunk(*r)
		if chunk.Ptr == nil {
			return ctx.Err()
		}
		for i := range data {
			v := duck.DataChunkGetVector(chunk, duck.IdxT(i))
			data[i], valid[i] = duck.VectorGetData(v), duck.VectorGetValidity(v)
		}
		for row := range int(duck.DataChunkGetSize(chunk)) {
			for i, of := range kinds {
				values[i] = value{kind: of.kind, unit: of.unit}
				if of.at >= 0 {
					values[i].get(data[of.at], valid[of.at], row)
				}
			}
			visit(*(*int64)(unsafe.Add(data[0], 8*row))-d.header(), values) // -1: the header
		}
		duck.DestroyDataChunk(&chunk)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// get reads a value from a vector.
func (v *value) get(data, valid unsafe.Pointer, row int) {
	if valid != nil && *(*uint64)(unsafe.Add(valid, 8*(row/64)))>>(row%64)&1 == 0 {
		v.kind = isNull
		return
	}
	switch v.kind {
	case isText, isDigits:
		const inline = 12 // bytes of a text that stand in the vector itself
		at := unsafe.Add(data, 16*row)
		n := *(*uint32)(at)
		text := unsafe.Add(at, 4)
		if n > inline {
			text = *(*unsafe.Pointer)(unsafe.Add(at, 8))
		}
		v.text = unsafe.Slice((*byte)(text), n)
	case isFloat, isSingle:
		v.float = *(*float64)(unsafe.Add(data, 8*row))
	default:
		v.int = *(*int64)(unsafe.Add(data, 8*row))
	}
}

// run runs a statement and hands its answer over.
func run(conn duck.Connection, text string, use func(*duck.Result) error) error {
	var r duck.Result
	defer duck.DestroyResult(&r)
	if duck.Query(conn, text, &r) != duck.StateSuccess {
		return fmt.Errorf("%s", oneLine(duck.ResultError(&r)))
	}
	return use(&r)
}
