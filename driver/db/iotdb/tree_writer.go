package iotdb

import (
	"context"
	"fmt"

	"github.com/apache/iotdb-client-go/v2/common"
	"github.com/apache/iotdb-client-go/v2/rpc"

	"github.com/tsmark/tsmark/driver/kit/byseries"
	"github.com/tsmark/tsmark/series"
)

// treeTablets are the tablets of the tree model: one for each device, all of a batch in one call.
type treeTablets struct {
	*tree
	*writer
	creator *creator // of measurements; nil: rows or templates create them
	devices map[*target]*treeTarget

	// Reused memory of a request.
	paths   []byte
	scratch []byte
	parts   []part
	request rpc.TSInsertTabletsReq
}

// treeTarget is the state of a table in the tree model, in addition to target.
type treeTarget struct {
	prefix  string           // of the paths of its devices
	of      map[int]*columns // by the number of fields in rows
	created []bool           // by series: its measurements exist, if they must be created
}

// part is a tablet in the buffer.
type part struct {
	columns                            *columns
	path, pathEnd, times, values, size int
	rows                               int32
}

func (l *tree) tablets(w *writer, s *series.Schema) tablets {
	out := &treeTablets{tree: l, writer: w, devices: make(map[*target]*treeTarget, len(s.Tables))}
	if l.compression != "" && !l.template {
		out.creator = &creator{tree: l}
	}
	for _, t := range w.tables {
		of := &treeTarget{prefix: l.path(t.table.Name), of: make(map[int]*columns)}
		if out.creator != nil {
			of.created = make([]bool, s.Series)
		}
		out.devices[t] = of
	}
	return out
}

func (w *treeTablets) begin() { w.paths, w.parts = w.paths[:0], w.parts[:0] }

// add encodes a tablet for each device.
func (w *treeTablets) add(t *target) error {
	of := w.devices[t]
	for i := range w.sorter.Groups {
		d := &w.sorter.Groups[i]
		if err := w.tablet(t, of, w.sorter.Places[d.First:d.Last], t.table.Width(d.Series), d.Series); err != nil {
			return err
		}
	}
	return nil
}

// columns returns the columns for rows with the given number of fields.
func (w *treeTablets) columns(t *target, of *treeTarget, width int) *columns {
	c := of.of[width]
	if c == nil {
		c = columnsOf(measurements(t.table, t.table.Fields[:width], w.held), node)
		of.of[width] = c
	}
	return c
}

// tablet encodes a tablet of a device's rows.
func (w *treeTablets) tablet(t *target, of *treeTarget, places []byseries.Place, width int, series uint32) (err error) {
	p := part{columns: w.columns(t, of, width), path: len(w.paths), times: len(w.buffer), rows: int32(len(places))}
	w.paths = append(w.paths, of.prefix...)
	for _, tag := range t.texts {
		w.paths = append(w.paths, '.')
		w.paths, w.scratch = appendTag(w.paths, w.scratch, tag, series)
	}
	p.pathEnd = len(w.paths)
	if w.creator != nil && !of.created[series] {
		of.created[series] = true // the writer is not used after an error
		w.creator.add(string(w.paths[p.path:]), measurements(t.table, t.table.Fields[:width], w.held))
	}
	e := &w.encoder
	if w.buffer, err = e.times(w.buffer, t.runs, places); err != nil {
		return err
	}
	p.values = len(w.buffer)
	e.begin()
	for _, tag := range t.numeric {
		if w.buffer, err = e.tag(w.buffer, t.runs, places, tag); err != nil {
			return err
		}
	}
	for f := range width {
		w.buffer = e.field(w.buffer, t.runs, places, f)
	}
	if hasRowName(t.table) {
		w.buffer = e.rows(w.buffer, len(places))
	}
	w.buffer = e.finish(w.buffer)
	p.size = len(w.buffer)
	w.parts = append(w.parts, p)
	return nil
}

// send sends the tablets in one call.
func (w *treeTablets) send(ctx context.Context) (int, error) {
	if err := w.creator.create(ctx, w.conn); err != nil {
		return 0, fmt.Errorf("creating what rows need: %w", err)
	}
	r := &w.request
	*r = rpc.TSInsertTabletsReq{
		SessionId: w.conn.session, PrefixPaths: r.PrefixPaths[:0], MeasurementsList: r.MeasurementsList[:0], ValuesList: r.ValuesList[:0],
		TimestampsList: r.TimestampsList[:0], TypesList: r.TypesList[:0], SizeList: r.SizeList[:0], IsAligned: &w.aligned,
	}
	for i := range w.parts {
		p := &w.parts[i]
		r.PrefixPaths = append(r.PrefixPaths, view(w.paths[p.path:p.pathEnd]))
		r.MeasurementsList, r.TypesList = append(r.MeasurementsList, p.columns.names), append(r.TypesList, p.columns.types)
		r.TimestampsList = append(r.TimestampsList, w.buffer[p.times:p.values])
		r.ValuesList, r.SizeList = append(r.ValuesList, w.buffer[p.values:p.size]), append(r.SizeList, p.rows)
	}
	return len(w.paths), w.conn.write(ctx, func(ctx context.Context) (*common.TSStatus, error) { return w.conn.rpc.InsertTablets(ctx, r) })
}
