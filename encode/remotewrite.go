package encode

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/tsmark/tsmark/series"
)

// RemoteWrite describes the requests that a system expects in Prometheus's remote write protocol:
// https://prometheus.io/docs/specs/prw/remote_write_spec/.
//
// A batch is a request with each of its series once, with the samples in the order of the rows.
// Values are doubles; a Bool is 0 or 1, a Date its days since 1970. A Timestamp or a text cannot be
// written. A numeric tag is a label like the others. Times are milliseconds, and none is before
// 1970. A table that is a metric has a sample in each row, and NULL is a staleness marker.
type RemoteWrite struct {
	// Metric returns the name of a field's metric, Label that of a tag's label.
	Metric func(t *series.Table, field string) string
	Label  func(tag string) string
	// Null is the field that has a sample in rows without any value; empty: these rows are left out.
	Null string
	// Symbols selects version 2 of the protocol, which contains each text once, and the type, help and
	// unit of metrics; otherwise requests use version 1.
	Symbols bool
}

// New returns an encoder of the schema's rows. It keeps the labels of each series
// ready, up to a limit.
func (w RemoteWrite) New(s *series.Schema) Encoder {
	e := &remoteWrite{symbols: w.Symbols}
	var dictionary *symbols
	if w.Symbols {
		dictionary = newSymbols()
		e.dictionary = dictionary
	}
	e.tables = newTables(s, func(t *series.Table) writtenTable {
		tags := slices.Clone(t.Tags)
		for i := range tags {
			tags[i].Key = w.Label(tags[i].Key)
		}
		before, after := sortedTags(&series.Table{Tags: tags})
		var wt writtenTable
		for _, field := range metricFields(t, w.Null) {
			name := w.Metric(t, field)
			if dictionary == nil {
				wt.names = append(wt.names, appendLabel(nil, metricName, name))
				continue
			}
			wt.refs = append(wt.refs, [2]uint32{dictionary.numberOf(metricName), dictionary.numberOf(name)})
		}
		if dictionary != nil {
			wt.labels = dictionary.labels(s, t, before, after)
			return wt
		}
		wt.before = newSeriesText(s, t, labels(before))
		wt.after = newSeriesText(s, t, labels(after))
		return wt
	})
	e.scratch.New = func() any { return newWritten(e) }
	return e
}

// metricFields returns the fields of a table that are metrics, the first one for a table that is a metric.
// The last is that of rows without a value, unless it is empty.
func metricFields(t *series.Table, null string) []string {
	if t.Metric != nil {
		return []string{t.Fields[0].Name}
	}
	var names []string
	for _, f := range t.Fields {
		names = append(names, f.Name)
	}
	if null != "" {
		names = append(names, null)
	}
	return names
}

// remoteWrite implements Encoder.
type remoteWrite struct {
	tables     tables[writtenTable]
	symbols    bool
	dictionary *symbols
	scratch    sync.Pool // of *written
}

// writtenTable is common to the series of a table. The last metric is that of rows without a value,
// unless the table is a metric.
type writtenTable struct {
	names         [][]byte // version 1: per field, its label
	before, after seriesText

	refs   [][2]uint32 // version 2: per field, its label
	labels seriesLabels
}

// AppendHeader implements Encoder.
func (e *remoteWrite) AppendHeader(dst []byte) []byte { return dst }

// Append implements Encoder.
func (e *remoteWrite) Append(dst []byte, b *series.Batch) []byte {
	w := e.scratch.Get().(*written)
	defer e.scratch.Put(w)
	w.gather(b)
	if e.symbols {
		return w.appendSymbols(dst, b)
	}
	for i := range w.groups {
		g := &w.groups[i]
		t := &e.tables.values[g.table]
		w.stamp(b, g)
		w.before = t.before.append(w.before[:0], g.series)
		w.after = t.after.append(w.after[:0], g.series)
		for f := range t.names {
			n, size := w.samples(b, g, f, 0x22) // field 4 of a TimeSeries
			if n == 0 {
				continue
			}
			size += len(w.before) + len(t.names[f]) + len(w.after)
			dst = binary.AppendUvarint(append(dst, 0x0a), uint64(size)) // field 1 of a WriteRequest
			dst = append(append(append(dst, w.before...), t.names[f]...), w.after...)
			dst = w.appendSamples(dst, b, g, f, n)
		}
	}
	return dst
}

// written is the memory of one batch's encoding.
type written struct {
	grouping
	of     *remoteWrite
	stamps []stamp // of the group at hand
	empty  bool    // it has rows without a value

	before, after []byte
	histograms    nativeHistograms // of the group at hand
	request       []byte           // version 2: the data after the symbols
	refs          []uint32         // of the labels of the series at hand
	used          []uint32         // symbols of the request, by their place in it
	places        []uint32         // by symbol, one more than its place in the request
	metadata      []byte           // of the series at hand
	values        *symbols         // values of labels that the dictionary lacks; their numbers follow its own
	text          []byte
}

// stamp is an encoded time of a sample: a field, padded with zero bytes.
type stamp struct {
	word uint64
	size uint8
}

func newWritten(e *remoteWrite) *written {
	return &written{of: e, grouping: newGrouping(e.tables.keys)}
}

// stamp encodes the times of a group's rows, and finds out whether one of these has
// no value.
func (w *written) stamp(b *series.Batch, g *group) {
	w.stamps, w.empty = w.stamps[:0], false
	for _, at := range w.rowsOf(g) {
		run := &b.Runs[at.run]
		var bytes [16]byte
		ms := uint64(run.Times[at.row]) / 1e6
		n := binary.PutUvarint(bytes[:], ms)
		w.stamps = append(w.stamps, stamp{binary.LittleEndian.Uint64(bytes[:]), uint8(n)})
		w.empty = w.empty || run.Table.Metric == nil && !hasValue(run, int(at.row))
	}
}

// full reports whether all rows of a group are sure to have a sample of a field.
func (w *written) full(b *series.Batch, g *group, f int) bool {
	of := &b.Runs[w.rows[g.first].run]
	switch {
	case of.Table.Metric != nil:
		return true
	case f == len(of.Columns):
		return false
	}
	for _, at := range w.rowsOf(g) {
		if run := &b.Runs[at.run]; run.Columns[f].Nulls != nil || run.Table.Widths != nil {
			return false
		}
	}
	return true
}

// The size of a sample without its time: the tag of the field and its length, the tag of the value
// and the value, the tag of the time.
const sampleSize = 2 + 1 + 8 + 1

// samples returns how many samples of a field a group has, and their bytes. Native histograms are
// fields with the tag.
func (w *written) samples(b *series.Batch, g *group, f int, tag byte) (n, size int) {
	of := &b.Runs[w.rows[g.first].run]
	switch {
	case of.Table.Metric != nil && of.Table.Metric.Native != nil:
		w.histograms.encode(b, w.rowsOf(g), tag)
		return int(g.rows), len(w.histograms.text)
	case f == len(of.Columns) && !w.empty:
		return 0, 0
	}
	full := w.full(b, g, f)
	for i, at := range w.rowsOf(g) {
		if full || hasSample(&b.Runs[at.run], f, at.row) {
			n++
			size += sampleSize + int(w.stamps[i].size)
		}
	}
	return n, size
}

// appendSamples appends the samples of a field, n of them.
func (w *written) appendSamples(dst []byte, b *series.Batch, g *group, f, n int) []byte {
	all := n == int(g.rows)
	if metric := b.Runs[w.rows[g.first].run].Table.Metric; metric != nil && metric.Native != nil {
		return append(dst, w.histograms.text...)
	}
	dst = slices.Grow(dst, n*(sampleSize+8)+8)
	at := len(dst)
	dst = dst[:cap(dst)]
	for i, from := range w.rowsOf(g) {
		run := &b.Runs[from.run]
		if !all && !hasSample(run, f, from.row) {
			continue
		}
		v := 1.0
		if f < len(run.Columns) {
			c := &run.Columns[f]
			if run.Table.Metric != nil && c.Nulls.Has(int(from.row)) {
				v = math.Float64frombits(staleNaN)
			} else if c.Ints != nil && run.Table.Fields[f].Type.UsesInts() {
				v = float64(c.Ints[from.row])
			} else {
				v = c.Floats[from.row]
			}
		}
		s := w.stamps[i]
		to := dst[at : at+sampleSize+8]
		to[0], to[1], to[2] = 0x12, sampleSize-2+s.size, 0x09 // field 2 of a TimeSeries; field 1 of a Sample
		binary.LittleEndian.PutUint64(to[3:], math.Float64bits(v))
		to[11] = 0x10 // field 2
		binary.LittleEndian.PutUint64(to[12:], s.word)
		at += sampleSize + int(s.size)
	}
	return dst[:at]
}
