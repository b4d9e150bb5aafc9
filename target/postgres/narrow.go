package postgres

import (
	"encoding/binary"
	"math"

	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// valueColumns returns the columns of values of a narrow table: one of doubles,
// and one of integers where they stay integers.
func (l *layout) valueColumns(t *series.Table) []field {
	var list []field
	doubles, whole := false, false
	for _, f := range t.Fields {
		if f.Type == series.Int && l.bigint {
			whole = true
		} else {
			doubles = true
		}
	}
	if doubles {
		list = append(list, field{sql.ValueColumn, "double precision"})
	}
	if whole {
		list = append(list, field{sql.WholeColumn, "bigint"})
	}
	return list
}

// narrow appends a tuple for each value of a row. Its first field has one even
// where it is NULL: a row without values is a row.
func (e *encoder) narrow(dst []byte, run *series.Run, row int, micros int64) ([]byte, error) {
	be := binary.BigEndian
	both := e.columns == 5
	for f := range run.Columns {
		lacks := run.Lacks(f, row)
		if lacks && f > 0 {
			continue
		}
		dst = be.AppendUint16(dst, e.columns)
		dst = be.AppendUint64(be.AppendUint32(dst, 8), uint64(micros))
		dst = e.id(dst, run.Series[row])
		dst = append(be.AppendUint32(dst, uint32(len(e.names[f]))), e.names[f]...)
		c, whole := &run.Columns[f], e.table.Fields[f].Type == series.Int
		if whole && e.layout.bigint && both {
			dst = be.AppendUint32(dst, null) // of the doubles
		}
		switch {
		case lacks:
			dst = be.AppendUint32(dst, null)
		case !whole:
			dst = be.AppendUint64(be.AppendUint32(dst, 8), math.Float64bits(c.Floats[row]))
		case e.layout.bigint:
			dst = be.AppendUint64(be.AppendUint32(dst, 8), uint64(c.Ints[row]))
		default:
			v := c.Ints[row]
			if v > maxExact || v < -maxExact {
				return dst, e.inexact(f, run, row)
			}
			dst = be.AppendUint64(be.AppendUint32(dst, 8), math.Float64bits(float64(v)))
		}
		if both && (!whole || !e.layout.bigint) {
			dst = be.AppendUint32(dst, null) // of the integers
		}
	}
	return dst, nil
}
