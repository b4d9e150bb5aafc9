package encode

import (
	"encoding/binary"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// symbols are texts, each with a number.
type symbols struct {
	numbers map[string]uint32
	texts   []string
	bytes   int // of all texts
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
		s.bytes += len(text)
	}
	return n
}

// number is numberOf a text in bytes, without allocating if the text is known.
func (s *symbols) number(text []byte) uint32 {
	if n, ok := s.numbers[string(text)]; ok {
		return n
	}
	return s.numberOf(string(text))
}

// seriesLabels are the labels of a table's series as symbols.
type seriesLabels struct {
	tags   []series.Tag
	keys   []uint32
	before int      // number of them before the name of the metric
	first  uint32   // series of the table
	values []uint32 // by series and key; 0: it lacks the tag; nil: not kept

	metric     bool // the table is a metric, of a type in the protocol
	kind       byte
	help, unit uint32 // symbols
}

// labels returns the labels of a table's series.
func (s *symbols) labels(of *series.Schema, t *series.Table, before, after []series.Tag) seriesLabels {
	own := of.Range(t)
	l := seriesLabels{before: len(before), first: own.First}
	l.tags = append(append(l.tags, before...), after...)
	for i := range l.tags {
		l.keys = append(l.keys, s.numberOf(l.tags[i].Key))
	}
	if m := t.Metric; m != nil {
		l.metric, l.kind = true, [...]byte{series.Counter: 1, series.Gauge: 2, series.Histogram: 3, series.Info: 6, series.StateSet: 7}[m.Kind]
		l.help, l.unit = s.numberOf(m.Help), s.numberOf(m.Unit)
	}
	if of.Series > maxReadySeries {
		return l
	}
	var value []byte
	for n := own.First; n < own.End; n++ {
		for i := range l.tags {
			symbol, ok := uint32(0), false
			if value, ok = l.tags[i].Values.Append(value[:0], n); ok {
				symbol = s.number(value)
			}
			l.values = append(l.values, symbol)
		}
	}
	return l
}

// maxValues is how many bytes of values of labels are kept from one request to the next if there are more than
// maxReadySeries series.
const maxValues = 32 << 20

// place returns the index of a symbol in the request.
func (w *written) place(symbol uint32) uint32 {
	for int(symbol) >= len(w.places) { // a value that is new
		w.places = append(w.places, 0)
	}
	if w.places[symbol] == 0 {
		w.used = append(w.used, symbol)
		w.places[symbol] = uint32(len(w.used))
	}
	return w.places[symbol] - 1
}

// value returns the symbol of the value that a series has of a tag; 0: it lacks the tag.
func (w *written) value(l *seriesLabels, tag int, of uint32) uint32 {
	if l.values != nil {
		return l.values[int(of-l.first)*len(l.keys)+tag]
	}
	var ok bool
	if w.text, ok = l.tags[tag].Values.Append(w.text[:0], of); !ok {
		return 0
	}
	return uint32(len(w.of.dictionary.texts)) + w.values.number(w.text)
}

// textOf returns the text of a symbol.
func (w *written) textOf(symbol uint32) string {
	known := w.of.dictionary.texts
	if int(symbol) < len(known) {
		return known[symbol]
	}
	return w.values.texts[int(symbol)-len(known)]
}

// appendSymbols appends a request of version 2.
func (w *written) appendSymbols(dst []byte, b *series.Batch) []byte {
	d := w.of.dictionary
	if w.places == nil {
		w.places, w.values = make([]uint32, len(d.texts)), newSymbols()
	}
	if w.values.bytes > maxValues {
		w.places, w.values = w.places[:len(d.texts)], newSymbols()
	}
	w.used, w.request = w.used[:0], w.request[:0]
	w.place(0)
	for i := range w.groups {
		g := &w.groups[i]
		t := &w.of.tables.values[g.table]
		w.stamp(b, g)
		w.refs = w.refs[:0]
		name := 0 // index of the metric's name
		for k := range t.labels.keys {
			if k == t.labels.before {
				name = len(w.refs)
				w.refs = append(w.refs, 0, 0)
			}
			if value := w.value(&t.labels, k, g.series); value != 0 {
				w.refs = append(w.refs, w.place(t.labels.keys[k]), w.place(value))
			}
		}
		if t.labels.before == len(t.labels.keys) {
			name = len(w.refs)
			w.refs = append(w.refs, 0, 0)
		}
		for f := range t.refs {
			n, size := w.samples(b, g, f, 0x1a) // field 3 of a TimeSeries
			if n == 0 {
				continue
			}
			w.refs[name], w.refs[name+1] = w.place(t.refs[f][0]), w.place(t.refs[f][1])
			packed := 0
			for _, ref := range w.refs {
				packed += uvarintSize(uint64(ref))
			}
			w.appendMetadata(&t.labels)
			size += 1 + uvarintSize(uint64(packed)) + packed + len(w.metadata)
			w.request = binary.AppendUvarint(append(w.request, 0x2a), uint64(size)) // field 5 of a Request
			w.request = binary.AppendUvarint(append(w.request, 0x0a), uint64(packed))
			for _, ref := range w.refs {
				w.request = binary.AppendUvarint(w.request, uint64(ref))
			}
			w.request = append(w.appendSamples(w.request, b, g, f, n), w.metadata...)
		}
	}
	for _, symbol := range w.used {
		dst = appendBytes(dst, 0x22, w.textOf(symbol)) // field 4
		w.places[symbol] = 0
	}
	return append(dst, w.request...)
}

// appendMetadata encodes the metadata of a series of a metric, field 5 of a TimeSeries.
func (w *written) appendMetadata(l *seriesLabels) {
	w.metadata = w.metadata[:0]
	if !l.metric {
		return
	}
	w.metadata = append(w.metadata, 0x2a, 0, 0x08, l.kind)
	if l.help != 0 {
		w.metadata = binary.AppendUvarint(append(w.metadata, 0x18), uint64(w.place(l.help)))
	}
	if l.unit != 0 {
		w.metadata = binary.AppendUvarint(append(w.metadata, 0x20), uint64(w.place(l.unit)))
	}
	w.metadata[1] = byte(len(w.metadata) - 2)
}

// WrittenSymbols counts the samples and the native histograms of a request of version 2, as the server's
// response counts them.
func WrittenSymbols(request []byte) (samples, histograms int64) {
	eachField(request, func(tag uint64, series []byte) {
		if tag != 0x2a {
			return
		}
		eachField(series, func(tag uint64, _ []byte) {
			switch tag {
			case 0x12:
				samples++
			case 0x1a:
				histograms++
			}
		})
	})
	return samples, histograms
}

// eachField calls do for each field of a message whose fields are bytes. It ends at any other field.
func eachField(message []byte, do func(tag uint64, value []byte)) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 || tag&7 != 2 {
			return
		}
		length, m := binary.Uvarint(message[n:])
		if m <= 0 || length > uint64(len(message)-n-m) {
			return
		}
		do(tag, message[n+m:][:length])
		message = message[n+m+int(length):]
	}
}
