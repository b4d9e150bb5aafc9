package encode

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// otlpHistograms is a family of classic histograms: the tables of their buckets, sums and counts.
type otlpHistograms struct {
	number int           // of the family
	tables [3]int        // see otlpBuckets
	labels [3]seriesText // of the series, without le
	le     series.TagValues
	metric otlpMetric
}

// The tables of a family.
const (
	otlpBuckets = iota
	otlpSums
	otlpCounts
)

// setHistograms finds the families of classic histograms.
func (e *otlp) setHistograms(s *series.Schema, o OTLP) {
	for i, t := range s.Tables {
		name, isBuckets := strings.CutSuffix(t.Name, "_bucket")
		if !isBuckets || t.Metric == nil || t.Metric.Kind != series.Histogram || t.Metric.Native != nil || t.Tag("le") == nil {
			continue
		}
		sums, counts := slices.Index(s.Tables, s.Table(name+"_sum")), slices.Index(s.Tables, s.Table(name+"_count"))
		if sums < 0 || counts < 0 {
			continue
		}
		h := &otlpHistograms{number: len(e.histograms), tables: [...]int{i, sums, counts}, le: t.Tag("le").Values}
		var keys [3]string
		for part, table := range h.tables {
			of := s.Tables[table]
			tags := slices.Clone(of.Tags)
			if part == otlpBuckets {
				tags = slices.DeleteFunc(tags, func(tag series.Tag) bool { return tag.Key == "le" })
			}
			for i := range tags {
				tags[i].Key = o.Label(tags[i].Key)
				keys[part] += tags[i].Key + "\n"
			}
			h.labels[part] = newSeriesText(s, of, e.form.attributes(tags, otlpHistogram))
		}
		h.metric = e.tables.values[i].metrics[0]
		if h.metric.name, isBuckets = strings.CutSuffix(h.metric.name, "_bucket"); !isBuckets || keys[otlpSums] != keys[otlpBuckets] || keys[otlpCounts] != keys[otlpBuckets] {
			continue
		}
		h.metric.kind = otlpHistogram
		for _, table := range h.tables {
			e.tables.values[table].of = h
		}
		e.histograms = append(e.histograms, h)
	}
}

// otlpPoint is a data point of a classic histogram.
type otlpPoint struct {
	at     int64
	bounds []float64 // of the buckets, the last one +Inf
	totals []float64 // observations up to each bound
	sum    float64
	null   bool // it has no recorded value
}

// otlpJoin is the memory in which the samples of histograms are joined.
type otlpJoin struct {
	joined []bool     // per family: its rows of the batch are written
	rows   [3][]rowAt // of a family, by table
	sent   [3][]bool  // per row: it is part of a data point that was written
	next   [3]int     // the row behind the last one that was sent
	point  otlpPoint
	labels [2][]byte
	text   []byte
	known  []otlpBound // by the place of the bucket in the last histogram
}

// otlpBound is a bound of a bucket, and its text, which receivers make of it too.
type otlpBound struct {
	text  string
	value float64
}

func (j *otlpJoin) begin(families int) {
	j.joined = slices.Grow(j.joined[:0], families)[:families]
	clear(j.joined)
}

// join appends the batch's rows of a family: as histograms where it can, and otherwise as gauges.
func (e *otlp) join(dst []byte, s *otlpScratch, h *otlpHistograms, b *series.Batch, first bool) ([]byte, bool) {
	if s.joined[h.number] {
		return dst, first
	}
	s.joined[h.number] = true
	for part, table := range h.tables {
		s.rows[part], s.sent[part], s.next[part] = s.rows[part][:0], s.sent[part][:0], 0
		for _, at := range s.order {
			if at.table != table {
				continue
			}
			for row := range b.Runs[at.run].Series {
				s.rows[part], s.sent[part] = append(s.rows[part], rowAt{int32(at.run), int32(row)}), append(s.sent[part], false)
			}
		}
	}
	before := len(dst)
	dst, mark := e.form.beginMetric(dst, &h.metric, first)
	none := len(dst)
	for from := 0; from < len(s.rows[otlpBuckets]); {
		to, whole := s.gather(h, b, from)
		if whole && s.complete(h, b) {
			dst = e.form.histogram(dst, s.labels[0], &s.point, len(dst) == none)
			for i := from; i < to; i++ {
				s.sent[otlpBuckets][i] = true
			}
		}
		from = to
	}
	if len(dst) == none {
		dst = dst[:before]
	} else {
		dst, first = e.form.endMetric(dst, &h.metric, mark), false
	}
	for part, table := range h.tables {
		t := &e.tables.values[table]
		before := len(dst)
		dst, mark = e.form.beginMetric(dst, &t.metrics[0], first)
		none := len(dst)
		for i, at := range s.rows[part] {
			if !s.sent[part][i] {
				dst = e.point(dst, s, t, 0, &b.Runs[at.run], int(at.row), none)
			}
		}
		if len(dst) == none {
			dst = dst[:before]
			continue
		}
		dst, first = e.form.endMetric(dst, &t.metrics[0], mark), false
	}
	return dst, first
}

// gather reads the buckets of the histogram that begins at a row, up to row to. They are whole if the last bound is
// +Inf and all counts can be those of a data point.
func (j *otlpJoin) gather(h *otlpHistograms, b *series.Batch, from int) (to int, whole bool) {
	p := &j.point
	p.bounds, p.totals = p.bounds[:0], p.totals[:0]
	last := math.Inf(-1)
	whole = true
	for to = from; to < len(j.rows[otlpBuckets]); to++ {
		at := j.rows[otlpBuckets][to]
		run := &b.Runs[at.run]
		of := run.Series[at.row]
		bound, ok := j.bound(h.le, of)
		null := run.Columns[0].Nulls.Has(int(at.row))
		if to == from {
			j.labels[0] = h.labels[otlpBuckets].append(j.labels[0][:0], of)
			p.at, p.null = run.Times[at.row], null
		} else if j.labels[1] = h.labels[otlpBuckets].append(j.labels[1][:0], of); bound <= last || run.Times[at.row] != p.at || !bytes.Equal(j.labels[0], j.labels[1]) {
			return to, false // the bucket of another histogram
		}
		total := run.Columns[0].Floats[at.row]
		if null {
			total = 0
		}
		if n := len(p.totals); !ok || null != p.null || !(total >= 0 && total <= 1<<53) || total != math.Trunc(total) || n > 0 && total < p.totals[n-1] {
			whole = false
		}
		p.bounds, p.totals, last = append(p.bounds, bound), append(p.totals, total), bound
		if math.IsInf(bound, 1) {
			return to + 1, whole
		}
	}
	return to, false
}

// bound returns the upper bound of a bucket; false: receivers would not store it with the same text.
func (j *otlpJoin) bound(le series.TagValues, of uint32) (float64, bool) {
	j.text, _ = le.Append(j.text[:0], of)
	place := len(j.point.bounds)
	if place < len(j.known) && j.known[place].text == string(j.text) {
		return j.known[place].value, true
	}
	text := string(j.text)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, -1) || strconv.FormatFloat(v, 'f', -1, 64) != text {
		return v, false
	}
	j.known = append(j.known[:min(place, len(j.known))], otlpBound{text, v})
	return v, true
}

// complete finds the sum and the count of the gathered histogram, and marks them as sent; false: a data point cannot
// have them, or they are missing.
func (j *otlpJoin) complete(h *otlpHistograms, b *series.Batch) bool {
	p := &j.point
	sum, count := j.find(h, b, otlpSums), j.find(h, b, otlpCounts)
	if sum < 0 || count < 0 {
		return false
	}
	value := func(part, i int) (v float64, null bool) {
		at := j.rows[part][i]
		c := &b.Runs[at.run].Columns[0]
		return c.Floats[at.row], c.Nulls.Has(int(at.row))
	}
	total, null := value(otlpCounts, count)
	if null != p.null || !null && total != p.totals[len(p.totals)-1] {
		return false
	}
	if p.sum, null = value(otlpSums, sum); null != p.null {
		return false
	}
	j.sent[otlpSums][sum], j.sent[otlpCounts][count] = true, true
	j.next[otlpSums], j.next[otlpCounts] = sum+1, count+1
	return true
}

// find returns the row of a table with the labels and the time of the gathered histogram; -1: it is missing.
func (j *otlpJoin) find(h *otlpHistograms, b *series.Batch, part int) int {
	rows := j.rows[part]
	for n := range rows {
		i := (j.next[part] + n) % len(rows)
		run := &b.Runs[rows[i].run]
		if j.sent[part][i] || run.Times[rows[i].row] != j.point.at {
			continue
		}
		if j.labels[1] = h.labels[part].append(j.labels[1][:0], run.Series[rows[i].row]); bytes.Equal(j.labels[0], j.labels[1]) {
			return i
		}
	}
	return -1
}

// observations is the number of observations in a bucket alone.
func (p *otlpPoint) observations(bucket int) uint64 {
	if bucket == 0 {
		return uint64(p.totals[0])
	}
	return uint64(p.totals[bucket]) - uint64(p.totals[bucket-1])
}

func (otlpProto) histogram(dst, attributes []byte, p *otlpPoint, _ bool) []byte {
	last := len(p.bounds) - 1
	dst = openMessage(dst, 0x0a)
	start := len(dst)
	dst = append(dst, attributes...)
	dst = binary.LittleEndian.AppendUint64(append(dst, 0x19), uint64(p.at))
	dst = binary.LittleEndian.AppendUint64(append(dst, 0x21), uint64(p.totals[last]))
	if p.null {
		dst = append(dst, 0x50, 1)
		p.sum = 0
	}
	dst = binary.LittleEndian.AppendUint64(append(dst, 0x29), math.Float64bits(p.sum))
	dst = binary.AppendUvarint(append(dst, 0x32), uint64(8*len(p.bounds)))
	for i := range p.bounds {
		dst = binary.LittleEndian.AppendUint64(dst, p.observations(i))
	}
	dst = binary.AppendUvarint(append(dst, 0x3a), uint64(8*last))
	for _, bound := range p.bounds[:last] {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(bound))
	}
	return closeMessage(dst, start)
}

func (j otlpJSON) histogram(dst, attributes []byte, p *otlpPoint, first bool) []byte {
	last := len(p.bounds) - 1
	dst = j.point(dst, attributes, p.at, first)
	if p.null {
		dst = append(dst, `,"flags":1`...)
		p.sum = 0
	}
	dst = strconv.AppendUint(append(dst, `,"count":"`...), uint64(p.totals[last]), 10)
	dst = appendJSONFloat(append(dst, `","sum":`...), p.sum)
	dst = append(dst, `,"bucketCounts":[`...)
	for i := range p.bounds {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(strconv.AppendUint(append(dst, '"'), p.observations(i), 10), '"')
	}
	dst = append(dst, `],"explicitBounds":[`...)
	for i, bound := range p.bounds[:last] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONFloat(dst, bound)
	}
	return append(dst, "]}"...)
}
