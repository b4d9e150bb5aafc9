package encode

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/tsmark/tsmark/series"
)

// RemoteWrite describes the requests that a system expects in Prometheus's remote write protocol:
// https://prometheus.io/docs/specs/prw/remote_write_spec/.
//
// A batch is a request with each of its series once, with the samples in the order of the rows.
// Values are doubles; a Bool is 0 or 1, a Date its days since 1970. A Timestamp or a text cannot be
// written. A numeric tag is a label like the others. Times are milliseconds, and none is before
// 1970.
type RemoteWrite struct {
	// Metric returns the name of a field's metric, Label that of a tag's label.
	Metric func(t *series.Table, field string) string
	Label  func(tag string) string
	// Null is the field that has a sample in rows without any value.
	Null string
	// Symbols selects version 2 of the protocol, which contains each text once; otherwise requests
	// use version 1.
	Symbols bool
}

// New returns an encoder of the schema's rows. It keeps the labels of each series
// ready, up to a limit.
func (w RemoteWrite) New(s *series.Schema) Encoder {
	e := &remoteWrite{series: int(s.Series), symbols: w.Symbols}
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
		for _, f := range append(slices.Clone(t.Fields), series.Field{Name: w.Null}) {
			name := w.Metric(t, f.Name)
			if dictionary == nil {
				wt.names = append(wt.names, appendLabel(nil, metricName, name))
				continue
			}
			wt.refs = append(wt.refs, [2]uint32{dictionary.numberOf(metricName), dictionary.numberOf(name)})
		}
		if dictionary != nil {
			wt.labels = dictionary.labels(s.Series, before, after)
			return wt
		}
		wt.before = newSeriesText(s, labels(before))
		wt.after = newSeriesText(s, labels(after))
		return wt
	})
	e.scratch.New = func() any { return newWritten(e) }
	return e
}

// remoteWrite implements Encoder.
type remoteWrite struct {
	tables     tables[writtenTable]
	series     int
	symbols    bool
	dictionary *symbols
	scratch    sync.Pool // of *written
}

// writtenTable is common to the series of a table. The last metric is that of rows without a value.
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
			n, size := w.samples(b, g, f)
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
	request       []byte   // version 2: the data after the symbols
	refs          []uint32 // of the labels of the series at hand
	used          []uint32 // symbols of the request, by their place in it
	places        []uint32 // by symbol, one more than its place in the request
}

// stamp is an encoded time of a sample: a field, padded with zero bytes.
type stamp struct {
	word uint64
	size uint8
}

func newWritten(e *remoteWrite) *written {
	return &written{of: e, grouping: newGrouping(e.tables.keys, e.series)}
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
		w.empty = w.empty || !hasValue(run, int(at.row))
	}
}

// full reports whether all rows of a group are sure to have a sample of a field.
func (w *written) full(b *series.Batch, g *group, f int) bool {
	if f == len(b.Runs[w.rows[g.first].run].Columns) {
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

// samples returns how many samples of a field a group has, and their bytes.
func (w *written) samples(b *series.Batch, g *group, f int) (n, size int) {
	if f == len(b.Runs[w.rows[g.first].run].Columns) && !w.empty {
		return 0, 0
	}
	full := w.full(b, g, f)
	for i, at := range w.rowsOf(g) {
		if full || w.has(&b.Runs[at.run], f, at.row) {
			n++
			size += sampleSize + int(w.stamps[i].size)
		}
	}
	return n, size
}

// appendSamples appends the samples of a field, n of them.
func (w *written) appendSamples(dst []byte, b *series.Batch, g *group, f, n int) []byte {
	all := n == int(g.rows)
	dst = slices.Grow(dst, n*(sampleSize+8)+8)
	at := len(dst)
	dst = dst[:cap(dst)]
	for i, from := range w.rowsOf(g) {
		run := &b.Runs[from.run]
		if !all && !w.has(run, f, from.row) {
			continue
		}
		v := 1.0
		if f < len(run.Columns) {
			c := &run.Columns[f]
			if c.Ints != nil && run.Table.Fields[f].Type.UsesInts() {
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

// symbols are texts, each with a number.
type symbols struct {
	numbers map[string]uint32
	texts   []string
}

func newSymbols() *symbols {
	s := &symbols{numbers: map[string]uint32{}}
	s.numberOf("") // which every request begins with
	return s
}

func (s *symbols) numberOf(text string) uint32 {
	n, ok := s.numbers[text]
	if !ok {
		n = uint32(len(s.texts))
		text = strings.Clone(text)
		s.numbers[text] = n
		s.texts = append(s.texts, text)
	}
	return n
}

// seriesLabels are the labels of a table's series as symbols.
type seriesLabels struct {
	keys   []uint32
	before int      // number of them before the name of the metric
	values []uint32 // by series and key; 0: it lacks the tag
}

// labels returns the labels of count series.
func (s *symbols) labels(count uint32, before, after []series.Tag) seriesLabels {
	l := seriesLabels{before: len(before)}
	tags := slices.Concat(before, after)
	for i := range tags {
		l.keys = append(l.keys, s.numberOf(tags[i].Key))
	}
	var value []byte
	for n := range count {
		for i := range tags {
			symbol, ok := uint32(0), false
			if value, ok = tags[i].Values.Append(value[:0], n); ok {
				if symbol, ok = s.numbers[string(value)]; !ok {
					symbol = s.numberOf(string(value))
				}
			}
			l.values = append(l.values, symbol)
		}
	}
	return l
}

// place returns the index of a symbol in the request.
func (w *written) place(symbol uint32) uint32 {
	if w.places[symbol] == 0 {
		w.used = append(w.used, symbol)
		w.places[symbol] = uint32(len(w.used))
	}
	return w.places[symbol] - 1
}

// appendSymbols appends a request of version 2.
func (w *written) appendSymbols(dst []byte, b *series.Batch) []byte {
	d := w.of.dictionary
	if w.places == nil {
		w.places = make([]uint32, len(d.texts))
	}
	w.used, w.request = w.used[:0], w.request[:0]
	w.place(0)
	for i := range w.groups {
		g := &w.groups[i]
		t := &w.of.tables.values[g.table]
		w.stamp(b, g)
		w.refs = w.refs[:0]
		name := 0 // index of the metric's name
		values := t.labels.values[int(g.series)*len(t.labels.keys):][:len(t.labels.keys)]
		for k, value := range values {
			if k == t.labels.before {
				name = len(w.refs)
				w.refs = append(w.refs, 0, 0)
			}
			if value != 0 {
				w.refs = append(w.refs, w.place(t.labels.keys[k]), w.place(value))
			}
		}
		if t.labels.before == len(t.labels.keys) {
			name = len(w.refs)
			w.refs = append(w.refs, 0, 0)
		}
		for f := range t.refs {
			n, size := w.samples(b, g, f)
			if n == 0 {
				continue
			}
			w.refs[name], w.refs[name+1] = w.place(t.refs[f][0]), w.place(t.refs[f][1])
			packed := 0
			for _, ref := range w.refs {
				packed += uvarintSize(uint64(ref))
			}
			size += 1 + uvarintSize(uint64(packed)) + packed
			w.request = binary.AppendUvarint(append(w.request, 0x2a), uint64(size)) // field 5 of a Request
			w.request = binary.AppendUvarint(append(w.request, 0x0a), uint64(packed))
			for _, ref := range w.refs {
				w.request = binary.AppendUvarint(w.request, uint64(ref))
			}
			w.request = w.appendSamples(w.request, b, g, f, n)
		}
	}
	for _, symbol := range w.used {
		dst = binary.AppendUvarint(append(dst, 0x22), uint64(len(d.texts[symbol]))) // field 4
		dst = append(dst, d.texts[symbol]...)
		w.places[symbol] = 0
	}
	return append(dst, w.request...)
}

// uvarintSize returns the number of bytes of a varint.
func uvarintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }
