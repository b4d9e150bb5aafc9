package driver_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// traits are all of them.
func traits() []series.Trait {
	var list []series.Trait
	for t := series.NaN; t <= series.NULTexts; t++ {
		list = append(list, t)
	}
	return list
}

// lacking is what a system can do that lacks the traits.
func lacking(traits ...series.Trait) *driver.Caps {
	c := &driver.Caps{TimePrecision: time.Nanosecond, Lacks: make(map[series.Trait]string)}
	for _, t := range traits {
		c.Lacks[t] = "x does not hold"
	}
	return c
}

// Every limit is told before a load, with what to do about it.
func TestRefuse(t *testing.T) {
	at := time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)
	values := series.Values{First: at, Last: at.Add(48 * time.Hour), Step: time.Microsecond, Has: traits()}
	for _, c := range []struct {
		caps          driver.Caps
		setting, says string
	}{
		{driver.Caps{}, "", ""},
		{driver.Caps{TimePrecision: time.Microsecond, First: at, Last: values.Last}, "", ""},
		{driver.Caps{First: time.Unix(0, 0)}, "timestamp-start", "target q has no rows before 1970-01-01T00:00:00Z, and the dataset begins at 1969-12-31T00:00:00Z; choose a later start"},
		{driver.Caps{Last: time.Unix(0, 0)}, "timestamp-end", "target q has no rows after 1970-01-01T00:00:00Z, and the dataset ends at 1970-01-02T00:00:00Z; choose an earlier end"},
		{driver.Caps{TimePrecision: time.Millisecond}, "log-interval", "target q holds times to 1ms, and those of the dataset are multiples of 1µs; choose an interval and a start that are multiples of 1ms"},
	} {
		checkRefusal(t, c.caps.Refuse("q", nil, values), c.setting, c.says)
	}
	for _, trait := range traits() {
		checkRefusal(t, lacking(trait).Refuse("q", nil, values), "", fmt.Sprintf("target q: the dataset has %v, which x does not hold; choose another target, or a dataset without them", trait))
	}
	fixed := lacking()
	fixed.Lacks[series.NaN] = "x holds as NULL; give y=z"
	checkRefusal(t, fixed.Refuse("q", nil, values), "", "target q: the dataset has NaN, which x holds as NULL; give y=z")
	limits := driver.Caps{First: at, Last: at, TimePrecision: time.Hour}
	checkRefusal(t, limits.Refuse("q", nil, series.Values{}), "", "") // nothing is known
}

// TestRefuseSchema checks that a schema that the system cannot store is refused before its values are
// checked, whether they are known beforehand or come from a file.
func TestRefuseSchema(t *testing.T) {
	caps := driver.Caps{Last: time.Unix(0, 0), Schema: func(s *series.Schema) error {
		if len(s.Tables) > 1 {
			return errors.New("x takes one table; leave out the others")
		}
		return nil
	}}
	one, two := &series.Schema{Tables: make([]*series.Table, 1)}, &series.Schema{Tables: make([]*series.Table, 2)}
	const says = "x takes one table; leave out the others"
	checkRefusal(t, caps.Refuse("q", two, series.Values{Last: time.Unix(1, 0)}), "", "target q: "+says)
	checkRefusal(t, caps.Refuse("q", one, series.Values{}), "", "")
	checkRefusal(t, caps.Refuse("q", nil, series.Values{}), "", "")
	if _, err := caps.Checker(one); err != nil {
		t.Error(err)
	}
	var beyond *driver.NotHeldError
	if _, err := caps.Checker(two); !errors.As(err, &beyond) || err.Error() != says {
		t.Errorf("a checker of two tables: %v", err)
	}
}

func checkRefusal(t *testing.T, got *driver.Refusal, setting, says string) {
	t.Helper()
	switch {
	case got == nil && says != "":
		t.Errorf("nothing is refused, want %s", says)
	case got != nil && (got.Setting != setting || got.Problem != says):
		t.Errorf("%+v, want %s %s", *got, setting, says)
	}
}

// TestChecker checks rows whose values are not known beforehand one by one. The contents of columns at
// a missing value are ignored.
func TestChecker(t *testing.T) {
	types := []series.Type{series.Int, series.Float, series.Int32, series.Timestamp, series.Float32}
	table := &series.Table{Name: "cpu", Tags: []series.Tag{{Key: "host", Values: names{"a", "", "b\nc", `d\`, `e\f`}}}}
	for _, kind := range types {
		table.Fields = append(table.Fields, series.Field{Name: "f_" + kind.String(), Type: kind})
	}
	bounded := &driver.Caps{First: time.Unix(0, 0), Last: time.Unix(100, 0), TimePrecision: time.Microsecond}
	for _, c := range []struct {
		caps  *driver.Caps
		says  string
		spoil func(*series.Run)
	}{
		{lacking(traits()...), "", func(*series.Run) {}},
		{bounded, "a row's time 1969-12-31T23:59:59.999999Z is before 1970-01-01T00:00:00Z, where the target has no rows; leave it out of the data", func(r *series.Run) { r.Times[1] = -1000 }},
		{bounded, "a row's time 1970-01-01T00:01:40.000001Z is after 1970-01-01T00:01:40Z, where", func(r *series.Run) { r.Times[1] = 100_000_001_000 }},
		{bounded, "a row's time 1970-01-01T00:00:00.000000001Z is not a multiple of 1µs, the precision of the target; round it in the data", func(r *series.Run) { r.Times[1] = 1 }},
		{lacking(series.NaN), "field f_float of series 0 at 1970-01-01T00:00:01Z is NaN, which x does not hold; leave it out of the data", func(r *series.Run) { r.Columns[1].Floats[1] = math.NaN() }},
		{lacking(series.Infinities), "field f_float32 of series 0 at 1970-01-01T00:00:01Z is -Inf, which", func(r *series.Run) { r.Columns[4].Floats[1] = math.Inf(-1) }},
		{lacking(series.LargeInts), "is 9007199254740993, which", func(r *series.Run) { r.Columns[0].Ints[1] = 1<<53 + 1 }},
		{lacking(series.LargeInts), "is -9007199254740993, which", func(r *series.Run) { r.Columns[0].Ints[1] = -1<<53 - 1 }},
		{lacking(series.SmallestInt), "is -9223372036854775808, which", func(r *series.Run) { r.Columns[0].Ints[1] = math.MinInt64 }},
		{lacking(series.SmallestInt), "is -2147483648, which", func(r *series.Run) { r.Columns[2].Ints[1] = math.MinInt32 }},
		{lacking(series.FineTimestamps), "is 1970-01-01T00:00:00.000000001Z, which", func(r *series.Run) { r.Columns[3].Ints[1] = 1 }},
		{lacking(series.EmptyTags), `tag host of series 1 is "", which x does not hold; leave it out of the data`, func(r *series.Run) { r.Series[1] = 1 }},
		{lacking(series.EscapedTags), `tag host of series 2 is "b\nc", which`, func(r *series.Run) { r.Series[1] = 2 }},
		{lacking(series.EscapedTags), `tag host of series 3 is "d\\", which`, func(r *series.Run) { r.Series[1] = 3 }},
		{lacking(series.UnplainTags), `tag host of series 2 is "b\nc", which`, func(r *series.Run) { r.Series[1] = 2 }},
		{lacking(series.UnplainTags, series.EscapedTags, series.EmptyTags), "", func(r *series.Run) { r.Series[1] = 4 }},
		{lacking(traits()...), "", func(r *series.Run) {
			r.Columns[0].Ints[1], r.Columns[1].Floats[1], r.Columns[2].Ints[1], r.Columns[3].Ints[1] = math.MinInt64, math.NaN(), math.MinInt32, 1
			for f := range 4 {
				r.SetNull(f, 1)
			}
		}},
	} {
		var b series.Batch
		run := b.Add(table)
		run.Grow(2)
		for row := range 2 {
			run.Series[row], run.Times[row] = 0, int64(row)*1_000_000_000
			for f := range run.Columns {
				if c := &run.Columns[f]; table.Fields[f].Type.UsesInts() {
					c.Ints[row] = 0
				} else {
					c.Floats[row] = 0
				}
			}
		}
		c.spoil(run)
		checker, err := c.caps.Checker(nil)
		if err != nil {
			t.Fatal(err)
		}
		switch err := checker.Check(&b); {
		case c.says == "" && err != nil:
			t.Error(err)
		case c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), "table cpu: ") || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}

// names are tags by series.
type names []string

func (n names) Append(dst []byte, s uint32) ([]byte, bool) { return append(dst, n[s]...), true }

// TestWorkloadsKnowTheirValues checks that the values of workloads are as the workloads declare.
// Writers rely on this and do not check values.
func TestWorkloadsKnowTheirValues(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 5_000_000, time.UTC)
	spec := workload.Spec{Seed: 3, Scale: 12, Start: start, End: start.Add(6 * time.Hour), Interval: 90 * time.Second}
	for _, w := range tsbs.Workloads() {
		s := spec
		s.Name = w.Name()
		t.Run(s.Name, func(t *testing.T) { knownValues(t, w, s) })
		s.NewTags, s.Records, s.InARow = 1, 50, 5
		t.Run(s.Name+" arranged", func(t *testing.T) { knownValues(t, w, s) })
	}
	for _, i := range []workload.Settings{
		{}, {"iotdb.types": "1:1:1:1:1:1:1:1:1:1", "iotdb.tags": "2:3"}, {"iotdb.irregular": "true", "iotdb.late": "0.2"}, {"iotdb.unaligned": "true"}, {"iotdb.duplicates": "0.3"},
		{"iotdb.late": "0.3", "iotdb.late-mode": "paper-poisson", "iotdb.late-mean": "3"}, {"iotdb.late": "0.3", "iotdb.late-mode": "global"},
		{"iotdb.amplitude": "1000000", "iotdb.offset": "-1000000..1000000", "iotdb.noise": "1", "iotdb.decimals": "9", "iotdb.types": "1:1:1:1:1:1:1:1:1:1"},
	} {
		s := spec
		s.Name, s.Settings = "iotdb", i
		t.Run(fmt.Sprintf("iotdb %+v", i), func(t *testing.T) { knownValues(t, iotdb.Workload(), s) })
	}
}

// knownValues reads a dataset as a system takes it that holds nothing but what the
// workload knows to be there.
func knownValues(t *testing.T, w workload.Workload, s workload.Spec) {
	d, err := w.Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	v := w.Describe(s).Values
	caps := lacking(traits()...)
	caps.First, caps.Last, caps.TimePrecision = v.First, v.Last, v.Step
	for _, has := range v.Has {
		delete(caps.Lacks, has)
	}
	type timeCase struct {
		table  *series.Table
		series uint32
		at     int64
	}
	seen := make(map[timeCase]bool)
	checker, err := caps.Checker(d.Schema())
	if err != nil {
		t.Fatal(err)
	}
	reader := d.Open()
	var b series.Batch
	for {
		err := reader.Next(&b, 1000)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = checker.Check(&b)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Runs {
			for row, at := range b.Runs[i].Times {
				m := timeCase{b.Runs[i].Table, b.Runs[i].Series[row], at}
				if seen[m] && !caps.Holds(series.RepeatedTimes) {
					t.Fatalf("table %s: a second row of series %d at %d", m.table.Name, m.series, at)
				}
				seen[m] = true
			}
		}
	}
	if len(seen) == 0 {
		t.Error("the dataset has no rows")
	}
}

// A system without free texts says so by the schema alone, with the field; one that lacks
// some of them finds these in rows.
func TestFreeTextsRefused(t *testing.T) {
	table := &series.Table{Name: "t", Fields: []series.Field{{Name: "code", Type: series.Text, Length: 3}, {Name: "note", Type: series.Text}}}
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 1}
	checkRefusal(t, lacking(series.FreeTexts).Refuse("q", schema, series.Values{}), "",
		"target q: field note of table t has texts of any length, which x does not hold; make it a tag, or leave it out")
	checkRefusal(t, lacking().Refuse("q", schema, series.Values{}), "", "")
	if _, err := lacking(series.FreeTexts).Checker(schema); err == nil {
		t.Error("a file with free texts is checked by a target that has none")
	}
	checker, err := lacking(series.NULTexts).Checker(schema)
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	run := b.Add(table)
	run.Grow(3)
	for row, text := range []string{"", "a\n", "b\x00c"} {
		run.Series[row], run.Times[row], run.Columns[0].Ints[row] = 0, int64(row), 0
		run.Columns[1].SetText(row, []byte(text))
	}
	const want = `table t: field note of series 0 at 1970-01-01T00:00:00.000000002Z is "b\x00c", which x does not hold; leave it out of the data`
	if err := checker.Check(&b); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	run.SetNull(1, 2)
	if err := checker.Check(&b); err != nil {
		t.Error(err)
	}
}
