package iotdb

import (
	"context"

	"github.com/apache/iotdb-client-go/v2/common"
	"github.com/apache/iotdb-client-go/v2/rpc"

	"github.com/tsmark/tsmark/series"
)

// The categories of columns in tablets of the table model.
const (
	categoryTag int8 = iota
	categoryField
)

// tableTablets are the tablets of the table model: one for each table, with the rows of all its
// devices, each in a call of its own.
type tableTablets struct {
	*writer
	of    map[*target]*tableTarget
	parts []tablePart
}

// tableTarget is the state of a table in the table model, in addition to target.
type tableTarget struct {
	name       string
	columns    *columns
	categories []int8
}

// tablePart is a tablet in the buffer.
type tablePart struct {
	*tableTarget
	times, values, size int
	rows                int32
}

func (l *table) tablets(w *writer, s *series.Schema) tablets {
	out := &tableTablets{writer: w, of: make(map[*target]*tableTarget, len(s.Tables))}
	for _, t := range w.tables {
		of := &tableTarget{name: l.objectName(t.table.Name)}
		all := l.declaredColumns(t.table)
		list := make([]measurement, len(all))
		for i, c := range all {
			list[i] = c.measurement
			of.categories = append(of.categories, c.category)
		}
		of.columns = columnsOf(list, func(name string) string { return name })
		out.of[t] = of
	}
	return out
}

func (w *tableTablets) begin() { w.parts = w.parts[:0] }

// add encodes a tablet of all rows.
func (w *tableTablets) add(t *target) (err error) {
	e, places := &w.encoder, w.sorter.Places
	p := tablePart{tableTarget: w.of[t], times: len(w.buffer), rows: int32(len(places))}
	if w.buffer, err = e.times(w.buffer, t.runs, places); err != nil {
		return err
	}
	p.values = len(w.buffer)
	e.begin()
	for _, tags := range [][]*series.Tag{t.texts, t.numeric} {
		for _, tag := range tags {
			if w.buffer, err = e.tag(w.buffer, t.runs, places, tag); err != nil {
				return err
			}
		}
	}
	for f := range t.table.Fields {
		w.buffer = e.field(w.buffer, t.runs, places, f)
	}
	w.buffer = e.finish(w.buffer)
	p.size = len(w.buffer)
	w.parts = append(w.parts, p)
	return nil
}

func (w *tableTablets) send(ctx context.Context) (int, error) {
	yes := true
	for _, p := range w.parts {
		err := w.conn.write(ctx, func(ctx context.Context) (*common.TSStatus, error) {
			return w.conn.rpc.InsertTablet(ctx, &rpc.TSInsertTabletReq{
				SessionId: w.conn.session, PrefixPath: p.name, Measurements: p.columns.names, Types: p.columns.types, ColumnCategories: p.categories,
				Timestamps: w.buffer[p.times:p.values], Values: w.buffer[p.values:p.size], Size: p.rows, IsAligned: &yes, WriteToTable: &yes,
			})
		})
		if err != nil {
			return 0, err
		}
	}
	return 0, nil
}
