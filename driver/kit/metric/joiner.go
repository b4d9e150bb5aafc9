package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/tsmark/tsmark/query"
)

// maxPoints is the largest number of values in the rows of a result.
const maxPoints = 1 << 24

// Joiner joins series to rows: samples of equal time whose series have equal labels except for the name
// are one row. It is a query.Sink of samples; each is a time, or seconds since 1970, and a value as a
// text. It reuses its memory.
type Joiner struct {
	plan   *Plan
	names  map[string]int // indexes of columns, by the names of metrics
	groups []group        // by the labels, those in use first
	used   int
	index  map[string]int // indexes of groups
	cells  int

	key    []byte // of the labels of the current series
	labels []label
	at     *group // the group of that series
	column int
	order  []place
	row    []query.Value
}

const (
	rowColumn  = -1
	timeColumn = -2
)

type label struct{ name, value string }

// group is the rows with equal labels, in the order of their times.
type group struct {
	tags  []query.Value
	times []int64   // in milliseconds
	cells []float64 // all fields of each row; NaN: missing
	next  int       // the row that the next sample probably belongs to
	time  float64   // the value of TimeName
}

type place struct{ group, row int }

// Begin drops all rows, and prepares for a result of the plan.
func (j *Joiner) Begin(p *Plan) {
	j.plan, j.used, j.cells = p, 0, 0
	if j.names == nil {
		j.names, j.index = map[string]int{}, map[string]int{}
	}
	clear(j.names)
	clear(j.index)
	for i := range p.Fields {
		j.names[p.Fields[i].Name] = i
	}
	j.names[RowName], j.names[TimeName] = rowColumn, timeColumn
	j.row = make([]query.Value, 0, 1+len(p.Tags)+len(p.Fields))
}

// Series begins another series.
func (j *Joiner) Series() { j.labels, j.column, j.at = j.labels[:0], rowColumn, nil }

// Label adds a label to the series.
func (j *Joiner) Label(name, value string) {
	switch name {
	case "__name__", NameLabel:
		if column, ok := j.names[value]; ok {
			j.column = column
		}
	case PartLabel:
	default:
		j.labels = append(j.labels, label{name, value})
	}
}

// EndLabels ends the labels of the series.
func (j *Joiner) EndLabels() error {
	slices.SortFunc(j.labels, func(a, b label) int { return cmp.Compare(a.name, b.name) })
	j.key = j.key[:0]
	for _, l := range j.labels {
		j.key = append(strconv.AppendQuote(append(append(j.key, l.name...), 0), l.value), 0)
	}
	i, ok := j.index[string(j.key)]
	if !ok {
		i = j.used
		j.index[string(j.key)] = i
		j.used++
		if j.used > len(j.groups) {
			j.groups = append(j.groups, group{})
		}
		g := &j.groups[i]
		*g = group{tags: g.tags[:0], times: g.times[:0], cells: g.cells[:0]}
		for _, tag := range j.plan.Tags {
			v, err := j.tag(tag)
			if err != nil {
				return err
			}
			g.tags = append(g.tags, v)
		}
	}
	j.at = &j.groups[i]
	j.at.next = 0
	return nil
}

// tag returns the value of a label of the series.
func (j *Joiner) tag(t Tag) (query.Value, error) {
	at := slices.IndexFunc(j.labels, func(l label) bool { return l.name == t.Label })
	switch {
	case at < 0 || j.labels[at].value == "":
		return query.Value{}, nil
	case !t.Number:
		return query.Value{Kind: query.Text, Text: []byte(j.labels[at].value)}, nil
	}
	v, err := strconv.ParseFloat(j.labels[at].value, 64)
	if err != nil {
		err = fmt.Errorf("the label %s is %q, not a number", t.Label, j.labels[at].value)
	}
	return query.Value{Kind: query.Float, Float: v}, err
}

// Row implements query.Sink: it adds a sample to the series.
func (j *Joiner) Row(sample []query.Value) error {
	if len(sample) != 2 || sample[1].Kind != query.Text || j.at == nil {
		return fmt.Errorf("%s is not a sample of a series", query.RowText(sample))
	}
	text := sample[1].Text
	value, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
	if err != nil {
		return fmt.Errorf("the value %q is not a number", string(text))
	}
	row, err := j.at.place(Milliseconds(sample[0]), j)
	switch {
	case err != nil:
		return err
	case j.column == timeColumn:
		j.at.time = value
	case j.column >= 0:
		j.at.cells[row*len(j.plan.Fields)+j.column] = value
	}
	return nil
}

// ZeroRow adds a row to the series, at a time in milliseconds since 1970, whose fields are 0.
func (j *Joiner) ZeroRow(at int64) error {
	if j.at == nil {
		return fmt.Errorf("the sample at %d belongs to no series", at)
	}
	row, err := j.at.place(at, j)
	if err == nil {
		clear(j.at.cells[row*len(j.plan.Fields):][:len(j.plan.Fields)])
	}
	return err
}

// Cell sets a field of a row that ZeroRow has added; other fields than the plan's do not matter.
func (j *Joiner) Cell(at int64, field string, value float64) error {
	row, err := j.at.place(at, j)
	if column, ok := j.names[field]; ok && column >= 0 && err == nil {
		j.at.cells[row*len(j.plan.Fields)+column] = value
	}
	return err
}

// Milliseconds returns a sample's time since 1970.
func Milliseconds(of query.Value) int64 {
	switch of.Kind {
	case query.Time:
		return of.Int / int64(time.Millisecond)
	case query.Int:
		return of.Int * 1000
	}
	return int64(math.Round(of.Float * 1000))
}

// place returns the row of a time, and inserts it if necessary.
func (g *group) place(at int64, j *Joiner) (int, error) {
	row := g.next
	if row >= len(g.times) || g.times[row] != at {
		found := false
		if row, found = slices.BinarySearch(g.times, at); !found {
			fields := len(j.plan.Fields)
			if j.cells += fields + 1; j.cells > maxPoints {
				return 0, fmt.Errorf("the rows of the answer have more than %d values, and it was read no further", maxPoints)
			}
			g.times = slices.Insert(g.times, row, at)
			for range fields {
				g.cells = append(g.cells, math.NaN())
			}
			if from := row * fields; from+fields < len(g.cells) { // the row is out of order: shift the later ones
				copy(g.cells[from+fields:], g.cells[from:])
				for i := range fields {
					g.cells[from+i] = math.NaN()
				}
			}
		}
	}
	g.next = row + 1
	return row, nil
}

// Count returns the number of rows before the plan's limit applies.
func (j *Joiner) Count() int64 {
	rows := 0
	for i := range j.groups[:j.used] {
		rows += len(j.groups[i].times)
	}
	return int64(rows)
}

// Rows passes the rows to a sink, which may be nil, and returns their number.
func (j *Joiner) Rows(sink query.Sink) (int64, error) {
	j.order = j.order[:0]
	for i := range j.groups[:j.used] {
		for row := range j.groups[i].times {
			j.order = append(j.order, place{i, row})
		}
	}
	if slices.ContainsFunc(j.plan.Fields, func(f Field) bool { return f.Filter != nil }) {
		j.order = slices.DeleteFunc(j.order, j.isFilteredOut)
	}
	if slices.ContainsFunc(j.plan.Tags, func(t Tag) bool { return t.Must }) {
		j.order = slices.DeleteFunc(j.order, j.untagged)
	}
	if j.plan.One {
		j.one()
	}
	if slices.ContainsFunc(j.plan.Fields, func(f Field) bool { return f.Must || f.Keep != nil }) {
		j.order = slices.DeleteFunc(j.order, j.lacks)
	}
	switch {
	case j.plan.One:
	case j.plan.Order != query.Unordered && (sink != nil || j.plan.Limit > 0):
		slices.SortStableFunc(j.order, j.compare)
	}
	if most := j.plan.Limit; most > 0 && len(j.order) > most {
		j.order = j.order[:most]
	}
	if sink == nil {
		return int64(len(j.order)), nil
	}
	for _, at := range j.order {
		if err := sink.Row(j.valuesOf(at)); err != nil {
			return 0, err
		}
	}
	return int64(len(j.order)), nil
}

// one keeps the newest of the rows with the same first tag.
func (j *Joiner) one() {
	newest := map[string]place{}
	for _, p := range j.order {
		name := j.groups[p.group].tags[0].String()
		if before, ok := newest[name]; !ok || j.timeOf(p) > j.timeOf(before) {
			newest[name] = p
		}
	}
	j.order = slices.DeleteFunc(j.order, func(p place) bool {
		return newest[j.groups[p.group].tags[0].String()] != p
	})
}

func (j *Joiner) timeOf(p place) int64 { return j.groups[p.group].times[p.row] }

// untagged reports whether a row lacks a required tag.
func (j *Joiner) untagged(p place) bool {
	for i, tag := range j.plan.Tags {
		if tag.Must && j.groups[p.group].tags[i].Kind == query.Null {
			return true
		}
	}
	return false
}

// lacks reports whether a row lacks a required value.
func (j *Joiner) lacks(p place) bool {
	for i := range j.plan.Fields {
		f, v := &j.plan.Fields[i], j.value(p, i)
		if f.Must && math.IsNaN(v) || f.Keep != nil && !j.satisfies(p, f.Keep, v) {
			return true
		}
	}
	return false
}

// isFilteredOut reports whether a value of a row does not compare with its constant. NaN does not.
func (j *Joiner) isFilteredOut(p place) bool {
	for i, f := range j.plan.Fields {
		if f.Filter != nil && !f.Compare.Holds(j.value(p, i), *f.Filter) {
			return true
		}
	}
	return false
}

// satisfies reports whether a row's value satisfies a condition. NaN, a missing value, does not.
func (j *Joiner) satisfies(p place, c *Condition, v float64) bool {
	for i, tag := range j.plan.Tags {
		if tag.Label == c.DivideBy {
			by := j.groups[p.group].tags[i]
			if by.Kind != query.Float || by.Float == 0 {
				return false
			}
			v /= by.Float
		}
	}
	return !math.IsNaN(v) && c.Compare.Holds(v, c.Value)
}

// value returns the value of a field in a row; NaN: missing.
func (j *Joiner) value(p place, field int) float64 {
	cells := j.groups[p.group].cells[p.row*len(j.plan.Fields):]
	if by := j.plan.Fields[field].Divisor; by != "" {
		return cells[field] / cells[j.names[by]]
	}
	return cells[field]
}

// compare orders rows by time and tags.
func (j *Joiner) compare(a, b place) int {
	x, y := &j.groups[a.group], &j.groups[b.group]
	by := cmp.Compare(x.times[a.row], y.times[b.row])
	if by == 0 {
		by = query.CompareRows(x.tags, y.tags)
	}
	if j.plan.Order == query.Descending {
		by = -by
	}
	return by
}

// valuesOf returns the values of a row.
func (j *Joiner) valuesOf(at place) []query.Value {
	g := &j.groups[at.group]
	j.row = j.row[:0]
	if j.plan.Timed {
		ms := g.times[at.row] + j.plan.Shift
		if g.time != 0 {
			ms = int64(math.Round(g.time * 1000))
		}
		j.row = append(j.row, query.Value{Kind: query.Time, Int: ms * int64(time.Millisecond)})
	}
	for i, tag := range g.tags {
		if !j.plan.Tags[i].Hidden {
			j.row = append(j.row, tag)
		}
	}
	for i := range j.plan.Fields {
		v := j.value(at, i)
		switch f := &j.plan.Fields[i]; {
		case f.Hidden:
		case !math.IsNaN(v) && f.Single:
			j.row = append(j.row, query.Value{Kind: query.Float, Float: float64(float32(v))})
		case !math.IsNaN(v):
			j.row = append(j.row, query.Value{Kind: query.Float, Float: v})
		case f.Count:
			j.row = append(j.row, query.Value{Kind: query.Int})
		default:
			j.row = append(j.row, query.Value{})
		}
	}
	return j.row
}
