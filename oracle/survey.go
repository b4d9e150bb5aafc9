package oracle

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Survey describes the size of a dataset and the contents of its tables.
type Survey struct {
	Schema   *series.Schema
	Rows     int64
	Metrics  int64 // values that are not NULL
	RawBytes int64 // as line protocol
	Tables   []Census
	// Lateness is the maximum time by which a row arrives after a newer one; 0: times never
	// decrease.
	Lateness time.Duration
	// Late says more where the dataset is a workload.Delayed and rows are late.
	Late *Late
	// Repeats means that several rows may have the same series and time, so that different rows
	// cannot be counted by series and time.
	Repeats bool
	// Collisions are those of the rows.
	Collisions []Collision
	// OneOf are the collisions whose earlier rows the survey lacks, since a system keeps one row of
	// each, or values of both.
	OneOf []Collision
	// Sample is a random sample of the rows; nil: not requested.
	Sample []Row
}

// Census describes the contents of a table of the dataset.
type Census struct {
	Table  *series.Table
	Rows   int64
	Times  Content   // of the rows
	Fields []Content // in the order of the table's fields
	// Series is the set of series that have rows; TextSeries is the same without numeric tags.
	Series, TextSeries *query.SeriesSet
}

// Surveyor determines the contents of a dataset as its batches pass. It allocates nothing per row.
// It is used by one goroutine, except for its functions.
type Surveyor struct {
	survey Survey
	tables map[*series.Table]*tableSurvey
	order  []*tableSurvey
	newest int64 // time of a row so far

	collisions collisionFinder

	late  *lateness         // nil: not requested
	sizer *encode.LineSizer // nil: the size as line protocol is not requested
	// sampler draws rows; nil: no sample is requested.
	sampler *Sampler
}

// NewSurveyor surveys rows of the schema, without their size as line protocol.
// Nothing is known of them: they may repeat.
func NewSurveyor(s *series.Schema) *Surveyor {
	v := &Surveyor{tables: make(map[*series.Table]*tableSurvey), newest: math.MinInt64}
	v.survey.Schema, v.survey.Repeats, v.collisions.schema = s, true, s
	for _, t := range s.Tables {
		v.tables[t] = newTableSurvey(t, s.Range(t))
		v.order = append(v.order, v.tables[t])
	}
	return v
}

// newSurveyor surveys a dataset.
func newSurveyor(d workload.Dataset) *Surveyor {
	v := NewSurveyor(d.Schema())
	v.sizer = encode.LineProtocol{}.NewSizer(d.Schema())
	repeating, ok := d.(workload.Repeating)
	v.survey.Repeats = ok && repeating.Latest() != d
	if delayed, ok := d.(workload.Delayed); ok {
		v.late = newLateness(d.Schema(), delayed.Step())
	}
	return v
}

// Sample has the survey draw rows, which follow from the seed and the dataset.
func (v *Surveyor) Sample(rows Drawing) {
	v.sampler = NewSampler(v.survey.Schema, rows.Seed, cmp.Or(rows.Rows, SampleRows))
}

// Add adds the rows of a batch.
func (v *Surveyor) Add(b *series.Batch) {
	for i := range b.Runs {
		v.add(&b.Runs[i])
	}
}

// functions returns the functions that process runs concurrently: one counts the rows and their
// times, one their size, one draws the sample, and each of the others processes the values of a
// share of the fields.
func (v *Surveyor) functions(parts int) []func([]span) {
	each := func(do func(*series.Run)) func([]span) {
		return func(runs []span) {
			for _, run := range runs {
				do(run.Run)
			}
		}
	}
	list := []func([]span){each(v.addRows), each(v.addSize), each(v.sample)}
	if len(v.survey.Schema.Shared) > 0 {
		list = append(list, each(v.collisions.add))
	}
	for part := range parts {
		list = append(list, each(func(run *series.Run) { v.tables[run.Table].addFields(run, part, parts) }))
	}
	return list
}

func (v *Surveyor) add(run *series.Run) {
	v.addRows(run)
	v.addSize(run)
	v.sample(run)
	v.collisions.add(run)
	v.tables[run.Table].addFields(run, 0, 1)
}

func (v *Surveyor) sample(run *series.Run) {
	if v.sampler != nil {
		v.sampler.Add(run)
	}
}

func (v *Surveyor) addSize(run *series.Run) {
	if v.sizer != nil {
		v.survey.RawBytes += v.sizer.Size(run)
	}
}

func (v *Surveyor) addRows(run *series.Run) {
	if v.late != nil {
		v.late.add(run)
	}
	for _, t := range run.Times {
		if v.newest > t {
			v.survey.Lateness = max(v.survey.Lateness, time.Duration(v.newest-t))
		} else {
			v.newest = t
		}
	}
	v.survey.Rows += int64(run.Rows())
	v.tables[run.Table].addRows(run)
}

// Result summarizes the rows surveyed so far.
func (v *Surveyor) Result() Survey {
	out := v.survey
	for i, t := range v.order {
		var before *tableSurvey
		if i > 0 {
			before = v.order[i-1]
		}
		c := t.result(before)
		for f := range c.Fields {
			out.Metrics += c.Fields[f].Count
		}
		out.Tables = append(out.Tables, c)
	}
	if v.late != nil {
		out.Late = v.late.result()
	}
	out.Collisions = v.collisions.found
	out.Repeats = out.Repeats || len(out.Collisions) > 0
	if v.sampler != nil {
		out.Sample = omitCollided(v.sampler.Rows(), out.Collisions, out.Schema)
	}
	return out
}

// tableSurvey holds the statistics of a table so far.
type tableSurvey struct {
	table  *series.Table
	rows   int64
	times  wholes
	fields []fieldFold
	first  uint32        // series
	seen   series.Bitmap // series with rows, counted from the first one

	all, texts *query.SeriesSet // once result has made them
}

func newTableSurvey(t *series.Table, own series.Span) *tableSurvey {
	s := &tableSurvey{table: t, times: newWholes(query.Time), first: own.First, seen: make(series.Bitmap, (int(own.End-own.First)+63)/64)}
	for _, f := range t.Fields {
		s.fields = append(s.fields, newFold(f))
	}
	return s
}

func (s *tableSurvey) addRows(run *series.Run) {
	s.rows += int64(run.Rows())
	s.times.addAll(run.Times)
	for _, id := range run.Series {
		id -= s.first
		if int(id>>6) >= len(s.seen) { // a schema that was gathered from rows may count too few
			s.seen = append(s.seen, make(series.Bitmap, int(id>>6)+1-len(s.seen))...)
		}
		s.seen[id>>6] |= 1 << (id & 63)
	}
}

// addFields adds the values of one of parts shares of the fields.
func (s *tableSurvey) addFields(run *series.Run, part, parts int) {
	for f := part; f < len(run.Columns); f += parts {
		c := &run.Columns[f]
		switch {
		case run.Table.Widths != nil:
			for row := range run.Times {
				if !run.Lacks(f, row) {
					s.fields[f].one(c, row)
				}
			}
		case c.Nulls == nil:
			s.fields[f].all(c)
		default:
			s.addValues(f, c, run.Rows())
		}
	}
}

// addValues adds the values of a column that are not NULL. It is efficient if there are few.
func (s *tableSurvey) addValues(f int, c *series.Column, rows int) {
	for i, nulls := range c.Nulls {
		first := i << 6
		if first >= rows {
			return
		}
		there := ^nulls
		if rest := rows - first; rest < 64 {
			there &= 1<<uint(rest) - 1
		}
		for ; there != 0; there &= there - 1 {
			s.fields[f].one(c, first+bits.TrailingZeros64(there))
		}
	}
}

// result returns the census. Tables that share tags and have rows of the same series share the
// statistics of the series.
func (s *tableSurvey) result(before *tableSurvey) Census {
	if before != nil && s.sameSeries(before) {
		s.all, s.texts = before.all, before.texts
	} else {
		s.listSeries()
	}
	c := Census{Table: s.table, Rows: s.rows, Times: s.times.content(), Series: s.all, TextSeries: s.texts}
	for _, f := range s.fields {
		c.Fields = append(c.Fields, f.content())
	}
	return c
}

func (s *tableSurvey) sameSeries(other *tableSurvey) bool {
	a, b := s.table.Tags, other.table.Tags
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) && s.first == other.first && slices.Equal(s.seen, other.seen)
}

// listSeries builds the sets of the series that have rows.
func (s *tableSurvey) listSeries() {
	tags := s.table.Tags
	numeric := slices.ContainsFunc(tags, func(t series.Tag) bool { return t.Numeric() })
	s.all = query.NewSeriesSet(s.table, true)
	if s.texts = s.all; numeric {
		s.texts = query.NewSeriesSet(s.table, false)
	}
	row, words := make([]query.Value, len(tags)), make([]query.Value, 0, len(tags))
	var text []byte
	for place := range uint32(len(s.seen) * 64) {
		if !s.seen.Has(int(place)) {
			continue
		}
		id := s.first + place
		text, words = text[:0], words[:0]
		for i := range tags {
			at, ok := len(text), false
			text, ok = tags[i].Values.Append(text, id)
			switch value := text[at:]; {
			case !ok:
				row[i] = query.Value{}
			case tags[i].Numeric():
				number, err := strconv.ParseFloat(string(value), 64)
				if err != nil {
					panic(err) // TagValues writes numbers
				}
				row[i] = query.Value{Kind: query.Float, Float: number}
			default:
				row[i] = query.Value{Kind: query.Text, Text: value}
			}
			if !tags[i].Numeric() {
				words = append(words, row[i])
			}
		}
		s.all.Add(row)
		if numeric {
			s.texts.Add(words)
		}
	}
}
