package postgres

import (
	"encoding/binary"
	"slices"

	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// valueColumns returns those columns of values of a narrow table that a field of
// the table needs.
func (l *layout) valueColumns(t *series.Table) []field {
	var list []field
	for _, column := range narrowTypes {
		if slices.ContainsFunc(t.Fields, func(f series.Field) bool { return sql.NarrowColumn(f.Type, l.bigint) == column.name }) {
			list = append(list, column)
		}
	}
	return list
}

// narrow appends a tuple for each value of a row. Its first field has one even
// where it is NULL: a row without values is a row.
func (e *encoder) narrow(dst []byte, run *series.Run, row int, micros int64) []byte {
	be := binary.BigEndian
	for f := range run.Columns {
		lacks := run.Lacks(f, row)
		if lacks && f > 0 {
			continue
		}
		dst = be.AppendUint16(dst, e.columns)
		dst = be.AppendUint64(be.AppendUint32(dst, 8), uint64(micros))
		dst = e.id(dst, run.Series[row])
		dst = append(be.AppendUint32(dst, uint32(len(e.names[f]))), e.names[f]...)
		for column := range int(e.columns) - 3 {
			if lacks || column != e.places[f] {
				dst = be.AppendUint32(dst, null)
				continue
			}
			dst = e.narrowValue(dst, f, run, row)
		}
	}
	return dst
}

// narrowValue appends a value that is not NULL as that of the column that fields
// of its kind share.
func (e *encoder) narrowValue(dst []byte, f int, run *series.Run, row int) []byte {
	switch sql.NarrowColumn(e.table.Fields[f].Type, e.layout.bigint) {
	case sql.ValueColumn:
		return e.double(dst, f, run, row)
	case sql.WholeColumn:
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(dst, 8), uint64(run.Columns[f].Ints[row]))
	}
	return e.value(dst, f, run, row)
}
