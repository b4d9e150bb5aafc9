package encode

import (
	"encoding/binary"
	"math"

	"github.com/tsmark/tsmark/series"
)

// staleNaN is the value that marks the end of a series in Prometheus's protocols.
const staleNaN = 0x7ff0000000000002

// The fields of a native histogram before its buckets.
const (
	nativeCount = iota
	nativeSum
	nativeZero
	nativeBuckets
)

// nativeHistograms encodes rows of a native histogram's table as messages Histogram of remote write,
// whose fields both versions number alike.
type nativeHistograms struct {
	text   []byte // the messages, each a field of its parent
	deltas []byte
	spans  []byte
	one    []byte
}

// nearSpan is the largest number of consecutive empty buckets within a span, which take fewer bytes than
// another span.
const nearSpan = 2

// encode encodes the histograms of a series as fields with the tag.
func (h *nativeHistograms) encode(b *series.Batch, rows []rowAt, tag byte) {
	h.text = h.text[:0]
	for _, at := range rows {
		run, row := &b.Runs[at.run], int(at.row)
		h.message(run, row)
		h.text = appendBytes(h.text, tag, h.one)
	}
}

// message encodes one histogram.
func (h *nativeHistograms) message(run *series.Run, row int) {
	native := run.Table.Metric.Native
	stale := run.Columns[nativeCount].Nulls.Has(row)
	sum := math.Float64frombits(staleNaN)
	m := append(h.one[:0], 0x08) // field 1: the count
	if stale {
		m = append(m, 0)
	} else {
		m = binary.AppendUvarint(m, uint64(run.Columns[nativeCount].Ints[row]))
		sum = run.Columns[nativeSum].Floats[row]
	}
	m = binary.LittleEndian.AppendUint64(append(m, 0x19), math.Float64bits(sum)) // field 3
	m = appendZigzag(append(m, 0x20), int64(native.Schema))
	m = binary.LittleEndian.AppendUint64(append(m, 0x29), math.Float64bits(native.ZeroThreshold))
	m = append(m, 0x30) // field 6: the count of the zero bucket
	if stale {
		m = append(m, 0)
	} else {
		m = binary.AppendUvarint(m, uint64(run.Columns[nativeZero].Ints[row]))
		m = h.buckets(m, run, row, native.First)
	}
	h.one = binary.AppendUvarint(append(m, 0x78), uint64(run.Times[row])/1e6) // field 15: the time
}

// buckets appends the spans and the deltas of a row's buckets.
func (h *nativeHistograms) buckets(m []byte, run *series.Run, row int, first int32) []byte {
	h.deltas, h.spans = h.deltas[:0], h.spans[:0]
	columns := run.Columns[nativeBuckets:]
	before := int64(0) // the count of the bucket before
	end := -int(first) // the column after the last span: offsets of the first one count from bucket 0
	for at := 0; ; {
		for at < len(columns) && columns[at].Ints[row] == 0 {
			at++
		}
		if at == len(columns) {
			break
		}
		start, last := at, at
		for ; at < len(columns) && at-last <= nearSpan+1; at++ {
			if columns[at].Ints[row] != 0 {
				last = at
			}
		}
		at = last + 1
		for i := start; i < at; i++ {
			count := columns[i].Ints[row]
			h.deltas = appendZigzag(h.deltas, count-before)
			before = count
		}
		span := len(h.spans)
		h.spans = append(h.spans, 0x5a, 0, 0x08) // field 11
		h.spans = appendZigzag(h.spans, int64(start-end))
		h.spans = binary.AppendUvarint(append(h.spans, 0x10), uint64(at-start))
		h.spans[span+1] = byte(len(h.spans) - span - 2)
		end = at
	}
	m = append(m, h.spans...)
	if len(h.deltas) > 0 {
		m = appendBytes(m, 0x62, h.deltas) // field 12
	}
	return m
}
