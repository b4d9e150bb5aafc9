package twin

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
)

// Model describes data by statistics. It is the setting model of the workload.
type Model struct {
	Precision time.Duration `yaml:"precision"` // all times are multiples of it
	Groups    []Group       `yaml:"groups"`
}

// Group is tables with the same tags.
type Group struct {
	Series uint32 `yaml:"series"` // at scale 1
	// PerValue is the number of series of a value of the tag that grows: see Ranked.
	PerValue Ranked `yaml:"series-per-value,flow,omitempty"`
	// RateNoise is how much the rows of series differ beside the rates of tags: the standard deviation of
	// the logarithm.
	RateNoise float64 `yaml:"rate-noise,omitempty"`
	Tags      []Tag   `yaml:"tags,omitempty"`
	Tables    []Table `yaml:"tables"`
}

// Tag is a tag of a group.
type Tag struct {
	Name    string    `yaml:"name"`
	Values  uint32    `yaml:"values"`                // different ones, at scale 1
	Grows   bool      `yaml:"grows,omitempty"`       // as many times more values as series
	Of      string    `yaml:"of,omitempty"`          // the tag that determines it
	Length  int       `yaml:"length,omitempty"`      // mean bytes of a value
	Missing float64   `yaml:"missing,omitempty"`     // share of series without the tag
	Shares  []float64 `yaml:"shares,flow,omitempty"` // of series with the most frequent values; the others are equally frequent
	Rates   []float64 `yaml:"rates,flow,omitempty"`  // rows of a series with these values, in a mean of all; 1 of others
}

// Table is the rows of a table. All intervals are multiples of the experiment's log-interval.
type Table struct {
	Name        string  `yaml:"name"`
	SeriesShare float64 `yaml:"series-share,omitempty"` // of the group's series that have rows; 0: all
	Regular     bool    `yaml:"regular"`                // rows are at multiples of an interval; else they are events
	Interval    Ranked  `yaml:"interval,flow"`          // of series: between two rows; of events the time span by the rows
	Spacing     Ranked  `yaml:"spacing,flow,omitempty"` // of events: multiples of the mean time between two of them
	Aligned     bool    `yaml:"aligned,omitempty"`      // series have rows at the same times
	Jitter      float64 `yaml:"jitter,omitempty"`       // standard deviation of the time between two rows, in intervals
	Begin       Ranked  `yaml:"begin,flow,omitempty"`   // share of the time span before the first row of a series
	End         Ranked  `yaml:"end,flow,omitempty"`     // share of the time span before its last row
	Gaps        Gaps    `yaml:"gaps,flow,omitempty"`
	Late        Late    `yaml:"late,flow,omitempty"`
	Fields      []Field `yaml:"fields"`
	// LevelsCorrelate has correlations between the levels of two fields, over the series.
	LevelsCorrelate []Correlation `yaml:"levels-correlate,omitempty"`
}

// Gaps are the rows that regular series lack.
type Gaps struct {
	Share   float64 `yaml:"share"`        // of rows that are missing
	Lengths Ranked  `yaml:"lengths,flow"` // rows in a row that are missing
}

// Late is the rows that arrive after a newer row of their series.
type Late struct {
	Share  float64         `yaml:"share"`
	Delays []time.Duration `yaml:"delays,flow"` // behind the newest row: see Ranked
}

// Correlation is the correlation between the levels of two fields.
type Correlation struct {
	Fields []string `yaml:"fields,flow"`
	R      float64  `yaml:"r"` // Pearson's, of normal scores
}

// Classes of fields.
const (
	Constant = "constant" // each series has one value
	Counter  = "counter"  // rises, and sometimes begins again
	Walk     = "walk"     // the next value is close to the one before
	Noise    = "noise"    // values vary around the level of the series
	Daily    = "daily"    // the level varies over the day
	Weekly   = "weekly"   // the level varies over the week
	Codes    = "codes"    // few different numbers
	Category = "category" // few different texts, or a boolean
	Texts    = "text"     // texts that are all different
)

// Field is the values of a field. A value of the numeric classes is
//
//	level + spread × (residual + shape)
//
// where level and spread are those of the series; the values of a counter are sums of these.
type Field struct {
	Name   string  `yaml:"name"`
	Type   string  `yaml:"type"` // as in own.fields
	Class  string  `yaml:"class"`
	Null   float64 `yaml:"nulls,omitempty"`  // share of values that are missing, in series that have the field
	Absent float64 `yaml:"absent,omitempty"` // share of series without the field
	Digits *int    `yaml:"digits,omitempty"` // decimal places; nil: all that the type has

	Level       Ranked    `yaml:"level,flow,omitempty"`         // means of series
	Spread      Ranked    `yaml:"spread,flow,omitempty"`        // standard deviations of series
	SpreadLevel float64   `yaml:"spread-level,omitempty"`       // rank correlation between level and spread
	Residual    Ranked    `yaml:"residual,flow,omitempty"`      // in spreads
	Memory      float64   `yaml:"autocorrelation,omitempty"`    // of residuals of consecutive rows
	Shape       []float64 `yaml:"shape,flow,omitempty"`         // per hour of the day, or of the week from Monday (UTC), in spreads
	Low         float64   `yaml:"low,omitempty"`                // bounds of values
	High        float64   `yaml:"high,omitempty"`               //
	Resets      float64   `yaml:"resets,omitempty"`             // of a counter: share of rows that begin again
	Start       float64   `yaml:"start,omitempty"`              // of a counter: its first value, about
	Relative    bool      `yaml:"relative,omitempty"`           // values are seconds after the row's time
	Values      []float64 `yaml:"values,flow,omitempty"`        // of codes
	Shares      []float64 `yaml:"shares,flow,omitempty"`        // of the values, or of categories
	Changes     float64   `yaml:"changes,omitempty"`            // share of rows with another value than the row before
	Others      int       `yaml:"further-categories,omitempty"` // rare ones
	OthersShare float64   `yaml:"further-categories-share,omitempty"`
	Lengths     Ranked    `yaml:"lengths,flow,omitempty"` // of texts, in bytes
}

// Ranked is a distribution as means of consecutive parts of the sorted values. 14 parts are narrower at
// both ends; parts of any other number are equal.
type Ranked []float64

// rankEdges are the ends of the 14 parts.
var rankEdges = [...]float64{0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1}

// Edge returns where part k of n begins, as a share of the values.
func Edge(k, n int) float64 {
	if n == len(rankEdges)-1 {
		return rankEdges[k]
	}
	return float64(k) / float64(n)
}

// Value returns the value at a share of the sorted values, between the middles of two parts by linear
// interpolation.
func (r Ranked) Value(share float64) float64 {
	n := len(r)
	if n == 0 {
		return 0
	}
	middle := func(k int) float64 { return (Edge(k, n) + Edge(k+1, n)) / 2 }
	for k := range n {
		if m := middle(k); share < m {
			if k == 0 {
				return r[0]
			}
			before := middle(k - 1)
			return r[k-1] + (r[k]-r[k-1])*(share-before)/(m-before)
		}
	}
	return r[n-1]
}

// Part returns the mean of the part that has a share of the sorted values.
func (r Ranked) Part(share float64) float64 {
	for k := range r {
		if share < Edge(k+1, len(r)) {
			return r[k]
		}
	}
	return r.Value(share)
}

// Mean returns the mean of the distribution.
func (r Ranked) Mean() float64 {
	sum := 0.0
	for k, v := range r {
		sum += float64(v * (Edge(k+1, len(r)) - Edge(k, len(r))))
	}
	return sum
}

// Minimum returns the smallest mean.
func (r Ranked) Minimum() float64 { return slices.Min(r) }

// Parse reads a model and checks it.
func Parse(text string) (*Model, error) {
	var m Model
	if err := yaml.UnmarshalWithOptions([]byte(text), &m, yaml.Strict()); err != nil {
		line, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return nil, errors.New(line)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return &m, nil
}

// String returns the model as YAML.
func (m *Model) String() string {
	text, err := yaml.MarshalWithOptions(m, yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		panic(err) // it has only texts, numbers and lists
	}
	return string(text)
}

func (m *Model) check() error {
	if m.Precision < 1 || m.Precision > time.Second {
		return errors.New("precision must be 1ns to 1s")
	}
	if len(m.Groups) == 0 {
		return errors.New("groups is empty; there must be at least one")
	}
	names := map[string]bool{}
	for i := range m.Groups {
		g := &m.Groups[i]
		if err := g.check(); err != nil {
			return fmt.Errorf("groups[%d]: %w", i, err)
		}
		for j := range g.Tables {
			t := &g.Tables[j]
			if t.Name == "" || names[t.Name] {
				return fmt.Errorf("groups[%d].tables[%d]: name %q is empty or there twice", i, j, t.Name)
			}
			names[t.Name] = true
			if err := t.check(g); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
	}
	return nil
}

func (g *Group) check() error {
	if g.Series < 1 || len(g.Tables) == 0 {
		return errors.New("a group needs series and tables")
	}
	if len(g.Tags) == 0 && g.Series > 1 {
		return errors.New("several series need tags")
	}
	seen := map[string]bool{}
	growing := 0
	for i := range g.Tags {
		t := &g.Tags[i]
		switch {
		case t.Name == "" || seen[t.Name]:
			return fmt.Errorf("tags[%d]: name %q is empty or there twice", i, t.Name)
		case t.Values < 1:
			return fmt.Errorf("tag %s: values must be at least 1", t.Name)
		case t.Length < 0 || t.Length > maxTagLength:
			return fmt.Errorf("tag %s: length must be 0 to %d", t.Name, maxTagLength)
		case !share(t.Missing), sum(t.Shares) > 1.01, len(t.Shares) > int(t.Values), len(t.Rates) > int(t.Values):
			return fmt.Errorf("tag %s: missing must be 0 to 1, and shares must be of at most %d values and at most 1 in all", t.Name, t.Values)
		case len(t.Rates) > 0 && Ranked(t.Rates).Minimum() <= 0:
			return fmt.Errorf("tag %s: rates must be greater than 0", t.Name)
		}
		seen[t.Name] = true
		if t.Of == "" && t.Grows {
			growing++
		}
	}
	for i := range g.Tags {
		at := i
		for steps := 0; g.Tags[at].Of != ""; steps++ {
			next := slices.IndexFunc(g.Tags, func(t Tag) bool { return t.Name == g.Tags[at].Of })
			if next < 0 || steps == len(g.Tags) {
				return fmt.Errorf("tag %s: of %q must be another tag of the group that does not depend on it", g.Tags[at].Name, g.Tags[at].Of)
			}
			at = next
		}
	}
	if len(g.Tags) > 0 && growing != 1 {
		return errors.New("one tag without of must have grows: true")
	}
	return finite("series-per-value and rate-noise", append(Ranked{g.RateNoise}, g.PerValue...))
}

func (t *Table) check(g *Group) error {
	switch {
	case len(t.Fields) == 0:
		return errors.New("fields is empty; there must be at least one")
	case len(t.Interval) == 0 || t.Interval.Minimum() <= 0:
		return errors.New("interval must have numbers greater than 0")
	case !t.Regular && (len(t.Spacing) == 0 || t.Spacing.Minimum() < 0 || t.Spacing.Mean() <= 0):
		return errors.New("spacing must have numbers of at least 0, unless regular: true")
	case !share(t.SeriesShare) || !share(t.Gaps.Share) || !share(t.Late.Share) || t.Gaps.Share > 0.99 || t.Late.Share > 0.9:
		return errors.New("shares must be 0 to 1, gaps.share at most 0.99, late.share at most 0.9")
	case t.Gaps.Share > 0 && (len(t.Gaps.Lengths) == 0 || t.Gaps.Lengths.Minimum() < 1):
		return errors.New("gaps.lengths must have numbers of at least 1")
	case t.Late.Share > 0 && (len(t.Late.Delays) == 0 || slices.Min(t.Late.Delays) < 0):
		return errors.New("late.delays must have durations of at least 0s")
	case t.Jitter < 0 || t.Jitter > 10:
		return errors.New("jitter must be 0 to 10")
	}
	for name, list := range map[string]Ranked{"interval": t.Interval, "spacing": t.Spacing, "begin": t.Begin, "end": t.End, "gaps.lengths": t.Gaps.Lengths} {
		if err := finite(name, list); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for i := range g.Tags {
		seen[g.Tags[i].Name] = true
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Name == "" || seen[f.Name] {
			return fmt.Errorf("fields[%d]: name %q is empty or there twice", i, f.Name)
		}
		seen[f.Name] = true
		if err := f.check(); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	for _, c := range t.LevelsCorrelate {
		if len(c.Fields) != 2 || t.field(c.Fields[0]) < 0 || t.field(c.Fields[1]) < 0 || math.IsNaN(c.R) || math.Abs(c.R) > 1 {
			return fmt.Errorf("levels-correlate: %v needs two fields of the table, and r from -1 to 1", c.Fields)
		}
	}
	return nil
}

func (t *Table) field(name string) int {
	return slices.IndexFunc(t.Fields, func(f Field) bool { return f.Name == name })
}

func (f *Field) check() error {
	kind, _, err := f.kind()
	if err != nil {
		return err
	}
	textual := f.Class == Category || f.Class == Texts
	switch {
	case !slices.Contains([]string{Constant, Counter, Walk, Noise, Daily, Weekly, Codes, Category, Texts}, f.Class):
		return fmt.Errorf("class %q is unknown", f.Class)
	case kind.Textual() && !textual, kind == series.Bool && f.Class != Category, textual && !kind.Textual() && kind != series.Bool:
		return fmt.Errorf("class %s does not fit type %s", f.Class, f.Type)
	case !share(f.Null) || !share(f.Absent) || !share(f.Resets) || !share(f.Changes) || !share(f.OthersShare):
		return errors.New("shares must be 0 to 1")
	case math.Abs(f.Memory) > 1 || math.Abs(f.SpreadLevel) > 1:
		return errors.New("correlations must be -1 to 1")
	case f.Class == Texts && (len(f.Lengths) == 0 || f.Lengths.Minimum() < 0 || slices.Max(f.Lengths) > series.MaxFreeText):
		return fmt.Errorf("lengths must have numbers from 0 to %d", series.MaxFreeText)
	case (f.Class == Category || f.Class == Codes) && (sum(f.Shares)+f.OthersShare <= 0 || sum(f.Shares) > 1.01):
		return errors.New("shares must be more than 0, and at most 1 in all")
	case f.Class == Codes && (len(f.Values) != len(f.Shares) || f.Others > 0):
		return errors.New("values and shares must be lists of the same length, without further categories")
	case f.Others < 0 || f.Others > maxCategories || len(f.Shares) > maxCategories || kind == series.Bool && len(f.Shares)+f.Others > 2:
		return fmt.Errorf("there may be %d categories, and two of a boolean", maxCategories)
	case f.Low > f.High:
		return errors.New("low is greater than high")
	case len(f.Shape) != 0 && len(f.Shape) != hoursOfDay && len(f.Shape) != hoursOfWeek:
		return fmt.Errorf("shape must have %d or %d numbers", hoursOfDay, hoursOfWeek)
	case f.Digits != nil && (*f.Digits < 0 || *f.Digits > 15):
		return errors.New("digits must be 0 to 15")
	}
	for name, list := range map[string]Ranked{"level": f.Level, "spread": f.Spread, "residual": f.Residual, "shape": f.Shape, "values": f.Values, "low, high and start": {f.Low, f.High, f.Start}} {
		if err := finite(name, list); err != nil {
			return err
		}
	}
	return nil
}

// kind returns the type of the field, and the length of texts that all have the same.
func (f *Field) kind() (series.Type, int, error) {
	list, err := input.ParseList("f:" + f.Type)
	if err != nil || len(list) != 1 || len(list[0].Columns) != 1 || list[0].Columns[0].Kind == 0 {
		return 0, 0, fmt.Errorf("type %q is unknown; write int, float, bool, text or another type of own.fields", f.Type)
	}
	return list[0].Columns[0].Kind, list[0].Columns[0].Size, nil
}

// Bounds of models.
const (
	maxTagLength  = 256
	maxCategories = 1000
	hoursOfDay    = 24
	hoursOfWeek   = 168
)

func share(x float64) bool { return x >= 0 && x <= 1 }

func sum(list []float64) float64 {
	total := 0.0
	for _, x := range list {
		total += x
	}
	return total
}

// finite returns an error where a number of a list is not finite.
func finite(name string, list []float64) error {
	for _, x := range list {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s must have finite numbers", name)
		}
	}
	return nil
}
