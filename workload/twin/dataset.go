package twin

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Dataset is the rows that a model describes.
type Dataset struct {
	model      *Model
	schema     *series.Schema
	tables     []*table
	seed       uint64
	start, end int64
	rows       int64  // at most
	memory     uint64 // of the dataset and one reader, about, in bytes
}

// table is a table and all that its reader needs.
type table struct {
	*Table
	schema       *series.Table
	columns      []column
	factor       [][]float64 // of the correlations of levels; nil: they have none
	scores       *scores
	seed         uint64
	first, count uint32 // the series that have rows
	start, end   int64
	interval     float64 // log-interval
	precision    int64
	gap          float64 // probability that a gap follows a row
	delays       Ranked
	rates        Ranked   // of events: rows in a log-interval
	places       []uint32 // of series in the order of their rates; nil: any order
	rows         int64    // at most
}

// Bounds of datasets.
const (
	maxSeries = 1 << 30
	maxRows   = 1 << 50
)

// newDataset makes the dataset of a specification. Its error is a *workload.SpecError.
func newDataset(s workload.Spec) (*Dataset, error) {
	v, err := s.Resolve((&useCase{}).Settings())
	if err != nil {
		return nil, err
	}
	if v[setModel] == "" {
		return nil, workload.Bad(ModelKey, "is missing; tsmark inspect FILE --twin NAME.yaml writes an experiment that has it: run that")
	}
	m, err := Parse(v[setModel])
	if err != nil {
		return nil, workload.Bad(ModelKey, "%v", err)
	}
	if err := checkSpec(s, m); err != nil {
		return nil, err
	}
	precision := int64(m.Precision)
	d := &Dataset{model: m, seed: splitmix.Mix(uint64(s.Seed) + splitmix.Golden), start: RoundUp(s.Start.UnixNano(), precision), end: s.End.UnixNano()}
	d.schema = &series.Schema{First: s.Start, Last: s.End, Step: m.Precision}
	normal := newScores()
	for i := range m.Groups {
		g := &m.Groups[i]
		first, count := d.schema.Series, g.Series*s.Scale
		d.schema.Series += count
		d.memory += 4 * uint64(count) * uint64(len(g.Tags))
		tags := makeTags(g, splitmix.Mix(d.seed+uint64(i)), uint64(s.Scale), first, count)
		for j := range g.Tables {
			t := newTable(&g.Tables[j], normal)
			t.seed = splitmix.Mix(d.seed + uint64(len(d.tables))*splitmix.Golden + 3)
			t.first, t.count = first, count
			if t.SeriesShare > 0 {
				t.count = max(uint32(math.Round(float64(count)*t.SeriesShare)), 1)
			}
			t.places = t.placesOf(g, tags)
			t.scaleRates()
			t.start, t.end, t.interval, t.precision = d.start, d.end, float64(s.Interval), precision
			t.schema.Tags, t.schema.Range = tags, series.Span{First: first, End: first + count}
			for k := range t.count {
				rows := t.rowsOf(k)
				if t.rows += rows; t.rows > maxRows || rows > maxRows {
					return nil, workload.Bad("log-interval", "%s gives more than %d rows; lengthen it", s.Interval, int64(maxRows))
				}
			}
			d.rows += t.rows
			d.memory += uint64(t.count) * (80 + 40*uint64(len(t.columns)))
			d.tables, d.schema.Tables = append(d.tables, t), append(d.schema.Tables, t.schema)
		}
	}
	if len(m.Groups) == 1 {
		for _, t := range d.tables {
			t.schema.Range = series.Span{}
		}
	}
	return d, nil
}

func newTable(of *Table, normal *scores) *table {
	t := &table{Table: of, scores: normal, factor: factorOf(of), schema: &series.Table{Name: of.Name, Dense: true}}
	if of.Gaps.Share > 0 {
		t.gap = of.Gaps.Share / (1 - of.Gaps.Share) / of.Gaps.Lengths.Mean()
	}
	for _, interval := range slices.Backward(of.Interval) {
		t.rates = append(t.rates, 1/interval)
	}
	for _, delay := range of.Late.Delays {
		t.delays = append(t.delays, float64(delay))
	}
	for i := range of.Fields {
		c := newColumn(&of.Fields[i])
		field := series.Field{Name: c.Name, Type: c.kind, Length: c.length}
		if field.Free() {
			field.Longest = 8
			if c.lengths != nil {
				field.Longest = max(1, int(math.Ceil(of.Fields[i].Lengths.Value(1))))
			}
		}
		if c.Null > 0 || c.Absent > 0 {
			t.schema.Dense = false
		}
		t.columns, t.schema.Fields = append(t.columns, c), append(t.schema.Fields, field)
	}
	return t
}

// checkSpec checks the settings that every workload has.
func checkSpec(s workload.Spec, m *Model) error {
	if err := s.CheckSpan(); err != nil {
		return err
	}
	switch {
	case s.Scale < 1:
		return workload.Bad("scale", "must be at least 1: it multiplies the series of the original")
	case s.InitialScale != 0 && s.InitialScale != s.Scale:
		return workload.Bad("initial-scale", "is not for the workload %s; leave it out", Name)
	case s.MaxMetrics != 0:
		return workload.Bad("max-metric-count", "is for devops-generic; leave it out")
	case s.Records != 0 || s.InARow > 1 || s.NewTags != 0 || s.NewFields != 0:
		return workload.Bad("records-per-device", "and rows-in-a-row, new-tags and new-fields are not for the workload %s; leave them out", Name)
	case s.Start.Year() < 1700 || s.End.Year() > 2250:
		return workload.Bad("timestamp-start", "times are from the years 1700 to 2250")
	}
	total := uint64(0)
	for i := range m.Groups {
		g := &m.Groups[i]
		if len(g.Tags) == 0 && s.Scale > 1 {
			return workload.Bad("scale", "multiplies series, and table %s has one series, without tags; shorten log-interval, or move timestamp-end, for more rows", g.Tables[0].Name)
		}
		total += uint64(g.Series) * uint64(s.Scale)
		for _, t := range g.Tags {
			if uint64(t.Values)*uint64(s.Scale) > maxSeries {
				total = maxSeries + 1
			}
		}
		for j := range g.Tables {
			if least := g.Tables[j].Interval.Minimum() * float64(s.Interval); least < float64(m.Precision) {
				return workload.Bad("log-interval", "%s gives table %s rows every %s, and times are multiples of %s; lengthen it", s.Interval, g.Tables[j].Name, time.Duration(least), m.Precision)
			}
		}
	}
	if total > maxSeries {
		return workload.Bad("scale", "%d makes more than %d series; lower it", s.Scale, maxSeries)
	}
	return nil
}

// RoundUp returns the first multiple of a unit that is not before a time.
func RoundUp(t, unit int64) int64 {
	rest := t % unit
	if rest > 0 {
		rest -= unit
	}
	return t - rest
}

// values describes the rows.
func (d *Dataset) values() series.Values {
	v := series.Values{First: d.schema.First, Last: d.schema.Last, Step: d.model.Precision, StepBy: ModelKey}
	free, fine := false, false
	for _, t := range d.tables {
		for i := range t.schema.Fields {
			free = free || t.schema.Fields[i].Free()
			fine = fine || t.schema.Fields[i].Type == series.Timestamp
		}
	}
	if free {
		v.Has = append(v.Has, series.FreeTexts)
	}
	if fine {
		v.Has = append(v.Has, series.FineTimestamps)
	}
	return v
}

// Schema implements workload.Dataset.
func (d *Dataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset.
func (d *Dataset) Open() workload.Reader { return newReader(d) }

// placesOf returns the places of series in the order of their rates, as far as tags determine these;
// nil: they do not.
func (t *table) placesOf(g *Group, tags []series.Tag) []uint32 {
	weights := make([]float64, t.count)
	order, found := make([]uint32, t.count), false
	for k := range weights {
		weights[k], order[k] = math.Exp(g.RateNoise*t.scores.score(splitmix.Mix(t.seed+uint64(k)*splitmix.Golden+4))), uint32(k)
		for i := range g.Tags {
			if n := tags[i].Values.(*tagValues).number[k]; n < uint32(len(g.Tags[i].Rates)) {
				weights[k] *= g.Tags[i].Rates[n]
				found = true
			}
		}
	}
	if !found {
		return nil
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(weights[a], weights[b]) })
	places := make([]uint32, t.count)
	for place, k := range order {
		places[k] = uint32(place)
	}
	return places
}

// scaleRates makes the mean of the rates at the places of the series that of the model.
func (t *table) scaleRates() {
	n := min(t.count, mostStratified)
	got := 0.0
	for k := range n {
		got += t.rates.Value((float64(k)+0.5)/float64(n)) / float64(n)
	}
	factor := t.rates.Mean() / got
	for i := range t.rates {
		t.rates[i] *= factor
	}
}

// life returns the interval of the k-th series with rows, and the times between which it has rows.
func (t *table) life(k uint32) (interval float64, begin, end int64) {
	share := spreadOut(uint64(k), uint64(t.count), t.seed)
	if t.places != nil {
		share = (float64(t.places[k]) + 0.5) / float64(t.count)
	}
	if interval = t.Interval.Part(1-share) * t.interval; !t.Regular {
		interval = t.interval / t.rates.Value(share)
	}
	begin, end = t.start, t.end
	span := float64(end - begin)
	random := splitmix.Stream(splitmix.Mix(t.seed + uint64(k)*splitmix.Golden + 1))
	if len(t.Begin) > 0 {
		begin += int64(t.Begin.Value(splitmix.Unit(random.Next())) * span)
	}
	if len(t.End) > 0 {
		end = min(end, t.start+int64(t.End.Value(splitmix.Unit(random.Next()))*span)+1)
	}
	if end < begin {
		begin, end = max(t.start, end), begin
	}
	begin = RoundUp(begin, t.precision)
	return interval, begin, max(end, begin+1)
}

// rowsOf returns how many rows the k-th series has at most.
func (t *table) rowsOf(k uint32) int64 {
	interval, begin, end := t.life(k)
	rows := float64(end-begin) / interval
	if t.Regular {
		if t.Jitter > 0 { // the row after the end may come before it
			rows++
		}
		return int64(min(math.Ceil(rows), maxRows+1))
	}
	// As many rows as on average, by chance one more.
	by := splitmix.Unit(splitmix.Mix(t.seed ^ uint64(k)*splitmix.Golden))
	return int64(min(max(math.Floor(rows+by), 1), maxRows+1))
}
