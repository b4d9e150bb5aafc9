// Package fit makes twins of data. It measures the rows of a dataset and makes the model of a twin
// from the figures. Compare measures a twin by the same code.
//
// No text of the data is kept beyond the pass over the rows, other than names of tables and columns.
// Each figure of a model comes from at least leastRows rows.
package fit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Bounds of the work and of the memory.
const (
	leastRows     = 5    // behind each figure
	sampledSeries = 1000 // of all, about, whose rows are measured; the others are only counted
	firstSeries   = 100  // of a table, whose rows are measured in any case
	sampledValues = 4096 // of a field, in a random sample
	sampledTimes  = 64   // of a series
	maxDistinct   = 1000 // different values that are counted
	batchRows     = 4096
)

// Statistics are the figures of a dataset.
type Statistics struct {
	groups      []*group
	rows        int64
	first, last int64
	step        int64 // greatest common divisor of all times
	repeated    int64 // rows at the time of another row of their series, of measured series
}

// group is tables with the same tags.
type group struct {
	tags   []tag
	seen   series.Bitmap
	series int64
	rows   []int64 // of each series, of all groups
	noise  float64 // of the logarithm of rows beside the rates of tags
	tables []*table
}

// table has the figures of a table.
type table struct {
	*series.Table
	group    *group
	every    uint64 // of this number of series, one is measured
	rows     int64
	count    int64 // series with rows
	seen     series.Bitmap
	measured map[uint32]*line
	fields   []field

	regular           bool
	intervals         []float64 // of series, sorted, in nanoseconds
	spacing           sample    // in mean times between rows of the series
	jitter            summary   // in intervals
	gaps              sample    // lengths
	missing, expected int64     // rows of regular series
	late, rowsInOrder int64
	delays            sample
	begin, end        []float64 // of series, shares of the span
	aligned           bool
	correlations      []correlation
}

// line is a measured series of a table.
type line struct {
	rows, late    int64
	first, newest int64
	times         sample // between two rows
	fields        []cell
	interval      float64
	dt, steps     float64 // sums over rows in order
}

// cell is a field of a measured series.
type cell struct {
	values, nulls      int64
	value, change      summary
	rises, falls, same int64
	last               float64
	has                bool
	lastResidual       float64
	hasResidual        bool
}

// field has the figures of a field.
type field struct {
	series.Field
	class          string
	pooled         bool // series have too few values for a level of their own
	values, nulls  int64
	odd            int64 // values that are not finite
	value          summary
	change         summary
	sample         sample
	lengths        sample
	counts         map[float64]int64 // of different values; of texts by a digest
	many           bool              // there are more
	absent         int64             // series without any value
	rises, falls   int64
	same           int64
	residuals      sample
	products       summary
	day, week      [2]bins // of days and of weeks with even and odd numbers
	shape          []float64
	shapeShare     float64 // of the variance
	levels, widths []float64
	widthLevel     float64 // rank correlation
}

// bins are sums by hour.
type bins [168]struct {
	sum float64
	n   int64
}

// summary has the mean and the deviation of numbers.
type summary struct {
	n          int64
	mean, rest float64
}

func (m *summary) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.rest += d * (x - m.mean)
}

// deviation is the standard deviation.
func (m *summary) deviation() float64 {
	if m.n < 2 {
		return 0
	}
	return math.Sqrt(m.rest / float64(m.n))
}

// sample is a uniform random sample of numbers.
type sample struct {
	random splitmix.Stream
	seen   uint64
	values []float64
}

func (s *sample) add(x float64, most int) {
	s.seen++
	if len(s.values) < most {
		s.values = append(s.values, x)
	} else if at := s.random.Draw(s.seen); at < uint64(most) {
		s.values[at] = x
	}
}

// Measure measures a dataset in two passes over its rows. It calls progress with the rows of each
// batch.
func Measure(ctx context.Context, d workload.Dataset, progress func(rows int)) (*Statistics, error) {
	s := &Statistics{first: math.MaxInt64, last: math.MinInt64}
	tables := s.begin(d.Schema())
	if err := pass(ctx, d, progress, func(run *series.Run) { s.count(tables[run.Table], run) }); err != nil {
		return nil, err
	}
	for _, g := range s.groups {
		g.finish(d.Schema())
		for _, t := range g.tables {
			t.classify()
			t.findIntervals(s)
			for _, l := range t.measured {
				l.newest, l.rows = math.MinInt64, 0
				for f := range l.fields {
					l.fields[f].has = false
				}
			}
		}
	}
	if err := pass(ctx, d, progress, func(run *series.Run) { tables[run.Table].compare(run) }); err != nil {
		return nil, err
	}
	for _, g := range s.groups {
		for _, t := range g.tables {
			t.finish(s)
		}
	}
	return s, nil
}

// pass calls a function with all rows.
func pass(ctx context.Context, d workload.Dataset, progress func(rows int), use func(*series.Run)) error {
	var b series.Batch
	for r := d.Open(); ; {
		if err := r.Next(&b, batchRows); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for i := range b.Runs {
			use(&b.Runs[i])
		}
		progress(b.Rows())
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// begin makes the groups and tables of a schema.
func (s *Statistics) begin(schema *series.Schema) map[*series.Table]*table {
	tables := map[*series.Table]*table{}
	groups := map[string]*group{}
	rows := make([]int64, schema.Series)
	for _, of := range schema.Tables {
		span := schema.Range(of)
		key := fmt.Sprint(span)
		for i := range of.Tags {
			key += fmt.Sprintf(" %q", of.Tags[i].Key)
		}
		g := groups[key]
		if g == nil {
			g = &group{seen: make(series.Bitmap, schema.Series/64+1), rows: rows}
			for i := range of.Tags {
				g.tags = append(g.tags, tag{Tag: of.Tags[i]})
			}
			groups[key], s.groups = g, append(s.groups, g)
		}
		t := &table{Table: of, group: g, every: uint64(span.End-span.First)/sampledSeries + 1, seen: make(series.Bitmap, schema.Series/64+1), measured: map[uint32]*line{}}
		for i := range of.Fields {
			t.fields = append(t.fields, field{Field: of.Fields[i], counts: map[float64]int64{}})
		}
		g.tables, tables[of] = append(g.tables, t), t
	}
	return tables
}

// measuredLine returns a series that is measured; nil: it is not.
func (t *table) measuredLine(id uint32) *line {
	l := t.measured[id]
	if l == nil {
		if len(t.measured) >= firstSeries && splitmix.Mix(uint64(id))%t.every != 0 {
			return nil
		}
		l = &line{first: math.MaxInt64, newest: math.MinInt64, fields: make([]cell, len(t.fields))}
		t.measured[id] = l
	}
	return l
}

// count looks at rows in the first pass.
func (s *Statistics) count(t *table, run *series.Run) {
	for row, at := range run.Times {
		id := run.Series[row]
		s.rows++
		t.rows++
		t.group.rows[id]++
		s.first, s.last = min(s.first, at), max(s.last, at)
		if s.step != 1 {
			s.step = workload.Divisor(s.step, at)
		}
		if !t.seen.Has(int(id)) {
			t.seen.Set(int(id))
			t.count++
		}
		l := t.measuredLine(id)
		if l == nil {
			continue
		}
		inOrder := at > l.newest
		l.first = min(l.first, at)
		switch {
		case l.rows == 0:
		case inOrder:
			l.times.add(float64(at-l.newest), sampledTimes)
		case at == l.newest:
			s.repeated++
		default:
			l.late++
		}
		l.rows++
		l.newest = max(l.newest, at)
		for f := range t.fields {
			t.fields[f].count(&l.fields[f], run, f, row, inOrder)
		}
	}
}

// valueOf returns a value as a number. A time becomes the seconds since the row's time, and a free text
// a digest.
func valueOf(run *series.Run, f, row int) float64 {
	c := &run.Columns[f]
	switch field := &run.Table.Fields[f]; {
	case !field.Type.UsesInts():
		return c.Floats[row]
	case field.Free():
		return float64(xxhash.Sum64(c.Text(row)) >> 11)
	case field.Type == series.Timestamp:
		return float64(c.Ints[row]-run.Times[row]) / 1e9
	case field.Type == series.Date:
		return float64(c.Ints[row])*86400 - float64(run.Times[row])/1e9
	default:
		return float64(c.Ints[row])
	}
}

// count looks at a value in the first pass.
func (x *field) count(c *cell, run *series.Run, f, row int, inOrder bool) {
	if run.Lacks(f, row) {
		c.nulls++
		return
	}
	v := valueOf(run, f, row)
	if v-v != 0 {
		x.odd++
		c.nulls++
		return
	}
	c.values++
	if x.Type.Textual() {
		x.lengths.add(float64(run.Columns[f].TextLength(row, x.Length)), sampledValues)
	} else {
		x.value.add(v)
		x.sample.add(v, sampledValues)
	}
	if !x.many {
		if x.counts[v]++; len(x.counts) > maxDistinct {
			x.many = true
			x.counts = nil
		}
	}
	c.value.add(v)
	if !inOrder {
		return
	}
	if c.has {
		change := v - c.last
		switch {
		case change > 0:
			c.rises++
		case change < 0:
			c.falls++
			change = v
		default:
			c.same++
		}
		c.change.add(change)
		x.change.add(change)
	}
	c.last, c.has = v, true
}

// compare looks at rows in the second pass, which knows the levels and intervals of series.
func (t *table) compare(run *series.Run) {
	for row, at := range run.Times {
		l := t.measuredLine(run.Series[row])
		if l == nil {
			continue
		}
		inOrder := at > l.newest
		if l.rows > 0 {
			t.rowsInOrder++
			switch {
			case inOrder:
				t.time(l, float64(at-l.newest))
			case at < l.newest:
				t.late++
				t.delays.add(float64(l.newest-at), sampledValues)
			}
		}
		l.rows++
		l.newest = max(l.newest, at)
		for f := range t.fields {
			t.fields[f].compare(&l.fields[f], run, f, row, at, inOrder)
		}
	}
}

// time looks at the time between two rows in order.
func (t *table) time(l *line, dt float64) {
	if !t.regular {
		t.spacing.add(dt/l.interval, sampledValues)
		return
	}
	steps := math.Round(dt / l.interval)
	l.dt, l.steps = l.dt+dt, l.steps+steps
	t.jitter.add((dt - steps*l.interval) / l.interval)
	if steps > 1 {
		t.gaps.add(steps-1, sampledValues)
		t.missing += int64(steps) - 1
	}
	t.expected += int64(max(steps, 1))
}

const hour = int64(time.Hour)

// compare looks at a value in the second pass.
func (x *field) compare(c *cell, run *series.Run, f, row int, at int64, inOrder bool) {
	if !x.numbers() || run.Lacks(f, row) {
		return
	}
	v := valueOf(run, f, row)
	if v-v != 0 {
		return
	}
	last, has := c.last, c.has
	if inOrder {
		c.last, c.has = v, true
	}
	level := v
	if x.class == counter {
		if !has || !inOrder {
			return
		}
		if level = v - last; level < 0 {
			level = v
		}
	}
	of := x.levelIn(c)
	if x.pooled {
		of = x.levelInAll()
	}
	deviation := of.deviation()
	if deviation == 0 || of.n < leastRows {
		return
	}
	y := (level - of.mean) / deviation
	x.residuals.add(y, sampledValues)
	const monday = 4 * 24 * hour
	hours := (at - monday) / hour
	if at < monday {
		hours--
	}
	days := hours / 24
	weeks := hours / 168
	if hours < 0 {
		days, weeks = (hours-23)/24, (hours-167)/168
	}
	day, week := &x.day[days&1][hours-days*24], &x.week[weeks&1][hours-weeks*168]
	day.sum, day.n = day.sum+y, day.n+1
	week.sum, week.n = week.sum+y, week.n+1
	if inOrder {
		if c.hasResidual {
			x.products.add(y * c.lastResidual)
		}
		c.lastResidual, c.hasResidual = y, true
	}
}
