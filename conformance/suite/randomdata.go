package suite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tsmark/tsmark/series"
)

// dice throws datasets and queries about them.
type dice struct {
	*rand.Rand
	*Suite
	merges bool      // rows of one series and time become one
	start  time.Time // about the first row's
	data   *fixed
	traits map[*series.Table]*traits
}

// traits are the properties of a table that queries must respect.
type traits struct {
	distinct bool   // no two rows at one time, unless they are the same
	tame     []bool // per field: it is a number, and sums of its values are exact in any order
}

// span is the time that a random dataset covers, step that between many of its
// rows.
const (
	span = 60 * time.Hour
	step = 10 * time.Minute
)

func (s *Suite) newDice(seed uint64) *dice {
	d := &dice{Rand: rand.New(rand.NewPCG(seed, 0)), Suite: s, merges: s.caps.Dedupes, traits: make(map[*series.Table]*traits)}
	d.start = pick(d, []time.Time{
		time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1969, 12, 30, 22, 0, 0, 0, time.UTC),
		time.Date(1953, 3, 1, 7, 30, 0, 0, time.UTC),
	})
	if d.start.Before(s.caps.First) {
		d.start = s.caps.First.UTC()
	}
	return d
}

// pick returns one of the values.
func pick[T any](d *dice, from []T) T { return from[d.IntN(len(from))] }

// often reports true in percent of all cases.
func (d *dice) often(percent int) bool { return d.IntN(100) < percent }

// dataset throws tables, series and rows.
func (d *dice) dataset() *fixed {
	schema := &series.Schema{Series: uint32(1 + d.IntN(9))}
	tags := d.tags(schema.Series)
	for _, name := range []string{"cpu", "order", "Ωμέγα 'x'"}[:1+d.IntN(3)] {
		if d.often(40) {
			tags = d.tags(schema.Series) // its own, no longer shared
		}
		table := &series.Table{Name: name, Tags: tags}
		made := &traits{distinct: d.often(50) || !d.caps.Holds(series.RepeatedTimes)}
		for i := range 2 + d.IntN(5) {
			f := d.field(i == 0)
			f.Name = []string{"load", "Select", "größe", "f0", "time of day", "text"}[i]
			made.tame = append(made.tame, f.Type.Numeric() && (i == 0 || d.often(60)))
			table.Fields = append(table.Fields, f)
		}
		if d.often(30) {
			for range schema.Series {
				table.Widths = append(table.Widths, uint32(1+d.IntN(len(table.Fields))))
			}
		}
		schema.Tables = append(schema.Tables, table)
		d.traits[table] = made
	}
	d.data = &fixed{schema: schema}
	d.rows()
	if schema.Series%2 == 0 { // of some datasets it is known when their rows begin and end
		d.bounds()
	}
	return d.data
}

// bounds has the schema say when its rows begin and end.
func (d *dice) bounds() {
	var all []int64
	for i := range d.data.batch.Runs {
		all = append(all, d.data.batch.Runs[i].Times...)
	}
	if len(all) > 0 {
		d.data.schema.First, d.data.schema.Last = time.Unix(0, slices.Min(all)), time.Unix(0, slices.Max(all))
	}
}

// tags draws the tags of a table: one that distinguishes most series, one with
// few values, and numbers. Some series lack some.
func (d *dice) tags(n uint32) []series.Tag {
	names := func(missing int, value func(i int) string) Names {
		list := make(Names, n)
		for i := range list {
			if list[i] = value(i); d.often(missing) {
				list[i] = Missing
			}
		}
		return list
	}
	of := func(values ...string) func(int) string { return func(int) string { return pick(d, values) } }
	centers := []string{"eu", "EU", "us-1", `"q"`, "", "é"}
	if !d.caps.Holds(series.EmptyTags) {
		centers[4] = " "
	}
	return []series.Tag{
		{Key: "host", Values: names(10, func(i int) string { return fmt.Sprintf(pick(d, []string{"host_%d", "o'%d", "服务器%d", "%d"}), i) })},
		{Key: "Data center", Values: names(20, of(centers...))},
		{Key: "weight", Type: series.Float, Values: names(15, of("0.5", "2", "-4", "16"))},
	}
}

// rows throws the rows: in runs of the tables in turn, some late and, where
// they stay two, some twice.
func (d *dice) rows() {
	taken, points := map[int64]bool{}, map[string]bool{}
	for range d.IntN(30) {
		table := pick(d, d.data.schema.Tables)
		run := d.data.batch.Add(table)
		for row := range 1 + d.IntN(40) {
			run.Grow(row + 1)
			if row > 0 && d.often(5) && d.caps.Holds(series.RepeatedTimes) && !d.merges {
				d.repeat(run, row)
				continue
			}
			run.Series[row] = uint32(d.IntN(int(d.data.schema.Series)))
			at := d.start.Add(time.Duration(d.IntN(int(span/step))) * step).UnixNano()
			for d.traits[table].distinct && (taken[at] || d.often(80)) {
				at = d.start.UnixNano() + d.Int64N(int64(span/d.caps.TimePrecision))*int64(d.caps.TimePrecision)
				if !taken[at] {
					break
				}
			}
			for d.merges && points[point(table, run.Series[row], at)] {
				at += int64(d.caps.TimePrecision)
			}
			taken[at], points[point(table, run.Series[row], at)] = true, true
			run.Times[row] = at
			d.values(run, row)
		}
	}
}

// point identifies the rows of one time that become one if rows
// merge: the table and the tags that are texts.
func point(table *series.Table, s uint32, at int64) string {
	key := fmt.Sprintf("%s %d", table.Name, at)
	for i := range table.Tags {
		if tag := &table.Tags[i]; !tag.Numeric() {
			value, _ := tag.Values.Append(nil, s)
			key += fmt.Sprintf(" %q", value)
		}
	}
	return key
}

// repeat makes a row the same as an earlier one of the run.
func (d *dice) repeat(run *series.Run, row int) {
	from := d.IntN(row)
	run.Series[row], run.Times[row] = run.Series[from], run.Times[from]
	for f := range run.Columns {
		c := &run.Columns[f]
		if c.Ints != nil {
			c.Ints[row] = c.Ints[from]
		} else {
			c.Floats[row] = c.Floats[from]
		}
		if c.Nulls.Has(from) {
			run.SetNull(f, row)
		}
	}
}

// scrapes is how many samples a series of a random metric has at most, 15 s apart.
const scrapes = 80

// metric throws samples of a counter that begins again at times, of series that lack samples, labels,
// and their end, as a staleness marker tells it.
func (d *dice) metric() *fixed {
	const count = 7
	jobs, zones := make(Names, count), make(Names, count)
	instances := make(Names, count)
	for i := range count {
		jobs[i], instances[i] = pick(d, []string{"api", "web", "a b"}), fmt.Sprintf("10.0.0.%d:80", i)
		if zones[i] = pick(d, []string{"eu-1", "eu-2", "us"}); d.often(25) {
			zones[i] = Missing
		}
	}
	table := &series.Table{
		Name: "requests_total", Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}},
		Tags:   []series.Tag{{Key: "job", Values: jobs}, {Key: "instance", Values: instances}, {Key: "zone", Values: zones}},
		Metric: &series.Metric{Kind: series.Counter, Family: "requests"},
	}
	d.start = time.Date(2024, 2, 28, 23, 50, 0, 0, time.UTC)
	d.data = &fixed{schema: &series.Schema{Tables: []*series.Table{table}, Series: count}}
	values := make([]float64, count)
	for i := range values {
		values[i] = pick(d, []float64{0, 3, 1e6})
	}
	for scrape := range scrapes {
		run := d.data.batch.Add(table)
		for i := range count {
			if d.often(10) {
				continue // a gap
			}
			row := run.Rows()
			run.Grow(row + 1)
			run.Series[row] = uint32(i)
			run.Times[row] = d.start.Add(time.Duration(scrape*15_000+d.IntN(200)) * time.Millisecond).UnixNano()
			switch {
			case d.often(3):
				run.SetNull(0, row)
				continue
			case d.often(5):
				values[i] = float64(d.IntN(3))
			case d.often(80):
				values[i] += float64(d.IntN(4000)) / 16
			}
			run.Columns[0].Floats[row] = values[i]
		}
	}
	d.bounds()
	return d.data
}
