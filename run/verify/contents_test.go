package verify_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
)

// sum adds values in one of several orders and methods.
func sum(values []float64, way int) float64 {
	switch {
	case way == 0 || len(values) < 3: // one after the other
		s := 0.0
		for _, v := range values {
			s += v
		}
		return s
	case way == 1: // in pairs
		half := len(values) / 2
		return sum(values[:half], 1) + sum(values[half:], 1)
	}
	s := 0.0 // from the end
	for i := range values {
		s += values[len(values)-1-i]
	}
	return s
}

// Sums of the same values in any order are within the bound of the oracle's sum, and a sum that is
// off by more than twice the bound is not.
func TestSumBound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 100, 10_000} {
		for name, draw := range map[string]func() float64{
			"alike":  func() float64 { return 50 + random.Float64() },
			"signs":  func() float64 { return random.NormFloat64() },
			"widely": func() float64 { return math.Ldexp(random.NormFloat64(), random.IntN(120)-60) },
			"ones":   func() float64 { return 0.1 },
		} {
			values := make([]float64, n)
			for i := range values {
				values[i] = draw()
			}
			expected := surveyValues(t, series.Float, values, nil)
			bound := query.SumBound(int64(n), expected.Size)
			for way := range 3 {
				if got := sum(values, way); math.Abs(got-expected.Float) > bound {
					t.Errorf("%d %s: sum %v in way %d, the oracle's is %v, bound %v", n, name, got, way, expected.Float, bound)
				}
			}
			if bound > 1e-11*float64(n)*expected.Size {
				t.Errorf("%d %s: the bound %v is wide", n, name, bound)
			}
		}
	}
}

// surveyValues returns the oracle's figures for the values of one field.
func surveyValues(t *testing.T, kind series.Type, floats []float64, ints []int64) oracle.Content {
	t.Helper()
	table := &series.Table{Name: "t", Fields: []series.Field{{Name: "v", Type: kind}}}
	if kind.Textual() {
		table.Fields[0].Length = 3
	}
	v := oracle.NewSurveyor(&series.Schema{Tables: []*series.Table{table}, Series: 1})
	var b series.Batch
	run := b.Add(table)
	run.Grow(max(len(floats), len(ints)))
	clear(run.Series)
	clear(run.Times)
	copy(run.Columns[0].Floats, floats)
	copy(run.Columns[0].Ints, ints)
	v.Add(&b)
	survey := v.Result()
	return survey.Tables[0].Fields[0]
}

// Sums of whole numbers are exact beyond 64 bits.
func TestWholeSums(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   string
		low    int64
	}{
		{[]int64{1, 2, 3}, "6", 6},
		{[]int64{math.MaxInt64, math.MaxInt64, 2}, "18446744073709551616", 0},
		{[]int64{math.MinInt64, math.MinInt64, -1}, "-18446744073709551617", -1},
		{[]int64{math.MinInt64, math.MaxInt64}, "-1", -1},
		{[]int64{-3964}, "-3964", -3964},
		{[]int64{math.MinInt64, math.MinInt64}, "-18446744073709551616", 0},
		{nil, "0", 0},
	} {
		got := surveyValues(t, series.Int, nil, c.values)
		if exact, err := strconv.ParseFloat(c.want, 64); err != nil || got.Whole.Float() != exact {
			t.Errorf("%v: as a double %v, want %v", c.values, got.Whole.Float(), exact)
		}
		if got.Whole.String() != c.want || int64(got.Whole.Low) != c.low {
			t.Errorf("%v: %v modulo 2^64 %d, want %s and %d", c.values, got.Whole, int64(got.Whole.Low), c.want, c.low)
		}
	}
	texts := surveyValues(t, series.Text, nil, []int64{5, 61, 7})
	want := oracle.TextSum([]byte("005")) + oracle.TextSum([]byte("00z")) + oracle.TextSum([]byte("007"))
	if int64(texts.Whole.Low) != want || string(texts.Min.Text) != "005" || string(texts.Max.Text) != "00z" {
		t.Errorf("%+v, want the sum %d", texts, want)
	}
	nan := surveyValues(t, series.Float, []float64{1, math.NaN(), 2}, nil)
	infinite := surveyValues(t, series.Float, []float64{1, math.Inf(-1), 2}, nil)
	if nan.Special != 1 || nan.Min.Kind != query.Null || infinite.Special != 1 || infinite.Min.Float != math.Inf(-1) || infinite.Max.Float != 2 {
		t.Errorf("%+v %+v", nan, infinite)
	}
}

// reportingTarget is a target that reports contents and counts distinct rows.
type reportingTarget struct {
	driver.Required
	census, different driver.Census
	err               error
}

func (f reportingTarget) Census(context.Context, *series.Table) (driver.Census, error) {
	return f.census, nil
}

func (f reportingTarget) db() driver.DB {
	return driver.DB{Required: f, Optional: driver.Optional{DistinctCensus: f.DistinctCensus}}
}

func (f reportingTarget) DistinctCensus(context.Context, *series.Table) (driver.Census, error) {
	return f.different, f.err
}

// Each figure of a target is compared with the dataset's, and the first difference is named.
func TestContents(t *testing.T) {
	table := conformance.Table("a")
	table.Tags = nil
	table.Fields = append(table.Fields, series.Field{Name: "f", Type: series.Float}, series.Field{Name: "text", Type: series.Text, Length: 3}, series.Field{Name: "on", Type: series.Bool}, series.Field{Name: "price", Type: series.Float, Decimals: 2})
	v := oracle.NewSurveyor(&series.Schema{Tables: []*series.Table{table}, Series: 1})
	var b series.Batch
	run := b.Add(table)
	run.Grow(4)
	clear(run.Series)
	for row := range 4 {
		run.Times[row] = int64(row) * int64(time.Second)
		run.Columns[0].Ints[row] = int64(row) << 61
		run.Columns[1].Floats[row] = 0.1
		run.Columns[2].Ints[row] = int64(row)
		run.Columns[3].Ints[row] = int64(row & 1)
		run.Columns[4].Floats[row] = 0.1
	}
	v.Add(&b)
	survey := v.Result()
	survey.Repeats = false
	expected := &survey.Tables[0]

	value := func(v query.Value) *query.Value { return &v }
	whole := func(n int64) *query.Value { return value(query.Value{Kind: query.Int, Int: n}) }
	float := func(f float64) *query.Value { return value(query.Value{Kind: query.Float, Float: f}) }
	right := func() driver.Census {
		c := driver.Census{Rows: 4, Times: driver.Content{Sum: whole(6e9), Min: &expected.Times.Min, Max: &expected.Times.Max}}
		for i := range expected.Fields {
			e := &expected.Fields[i]
			content := driver.Content{Count: e.Count, Sum: whole(int64(e.Whole.Low)), Min: &e.Min, Max: &e.Max}
			if table.Fields[i].Type == series.Float {
				content.Sum = float(0.1 + 0.1 + 0.1 + 0.1)
			}
			c.Fields = append(c.Fields, content)
		}
		return c
	}
	for name, c := range map[string]struct {
		change func(*driver.Census)
		says   string
	}{
		"right":               {func(*driver.Census) {}, ""},
		"sum is zero":         {func(c *driver.Census) { c.Fields[0].Sum = whole(0) }, "table cpu: sum of a is 0, expected 13835058055282163712"},
		"sum is NULL":         {func(c *driver.Census) { c.Fields[0].Sum = value(query.Value{}) }, "sum of a is NULL"},
		"sum is a text":       {func(c *driver.Census) { c.Fields[1].Sum = value(query.Value{Kind: query.Text, Text: []byte("0.4")}) }, "sum of f is 0.4"},
		"as a double":         {func(c *driver.Census) { c.Fields[0].Sum = float(6 << 61) }, ""},
		"as another double":   {func(c *driver.Census) { c.Fields[0].Sum = float(5 << 61) }, "sum of a is"},
		"true as a double":    {func(c *driver.Census) { c.Fields[3].Sum = float(2) }, ""},
		"one more is true":    {func(c *driver.Census) { c.Fields[3].Sum = float(3) }, "sum of on is 3, expected 2"},
		"minimum":             {func(c *driver.Census) { c.Fields[0].Min = whole(-1) }, "min of a is -1, expected 0"},
		"maximum as a double": {func(c *driver.Census) { c.Fields[1].Max = float(0.1) }, ""},
		"maximum":             {func(c *driver.Census) { c.Fields[1].Max = float(0.1000001) }, "max of f is 0.1000001, expected 0.1"},
		"in units":            {func(c *driver.Census) { c.Fields[4].Sum, c.Fields[4].Scaled = whole(40), true }, ""},
		"a unit more":         {func(c *driver.Census) { c.Fields[4].Sum, c.Fields[4].Scaled = whole(41), true }, "sum of price is 41, expected 40, in units of 0.01"},
		"a float's sum":       {func(c *driver.Census) { c.Fields[1].Sum = float(0.40000001) }, "sum of f is 0.40000001, expected 0.4"},
		"not a number":        {func(c *driver.Census) { c.Fields[1].Sum = float(math.NaN()) }, "sum of f is NaN, expected 0.4"},
		"a digest":            {func(c *driver.Census) { c.Fields[2].Sum = whole(1) }, "the digest of the texts of text differs"},
		"the first text":      {func(c *driver.Census) { c.Fields[2].Min = value(query.Value{Kind: query.Text, Text: []byte("001")}) }, "min of text is 001, expected 000"},
		"first time":          {func(c *driver.Census) { c.Times.Min = whole(1) }, "the first time of a row is 1, expected 1970-01-01T00:00:00Z"},
		"sum of times":        {func(c *driver.Census) { c.Times.Sum = whole(7e9) }, "the sum of the times of its rows differs"},
		"nothing but counts": {func(c *driver.Census) {
			c.Fields = make([]driver.Content, 5)
			for i := range c.Fields {
				c.Fields[i].Count = 4
			}
		}, ""},
	} {
		reported := right()
		c.change(&reported)
		found, err := verify.Census(t.Context(), reportingTarget{census: reported}.db(), &survey, verify.Sent{Acknowledged: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := found[0].Problem; !strings.Contains(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
		if name == "right" {
			if by := found[0].Contents.Fields; len(by) != 2 || by[0].By != "count, sum, min, max" || by[0].Fields != 4 || by[1].By != "count, digest, min, max" {
				t.Errorf("compared by %+v", by)
			}
		}
	}

	// If rows were sent twice, distinct rows are counted and compared.
	twice, fewer, wrong := right(), right(), right()
	twice.Rows, fewer.Rows, wrong.Fields[0].Sum = 6, 3, whole(1)
	sent := verify.Sent{Acknowledged: true, Twice: 2}
	for name, c := range map[string]struct {
		rows             int64
		different        driver.Census
		repeats          bool
		duplicates, lost int64
		says, unexcluded string
	}{
		"duplicates":          {6, right(), false, 2, 0, "", ""},
		"too many":            {7, right(), false, 0, 0, "table cpu holds 7 rows, 4 expected, and 2 at most were sent twice", ""},
		"a loss masked":       {4, fewer, false, 1, 1, "table cpu holds 3 different rows, 4 expected; 1 of its rows are lost: the target had acknowledged them", ""},
		"a wrong value":       {5, wrong, false, 1, 0, "sum of a is 1", ""},
		"the dataset repeats": {6, right(), true, 2, 0, "", "rows of one series and time may come more than once in the dataset"},
	} {
		reported := right()
		if reported.Rows = c.rows; c.repeats {
			for i := range reported.Fields {
				reported.Fields[i].Count = c.rows
			}
		}
		survey.Repeats = c.repeats
		found, err := verify.Census(t.Context(), reportingTarget{census: reported, different: c.different}.db(), &survey, sent, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := found[0]
		if !strings.Contains(r.Problem, c.says) || (r.Problem == "") != (c.says == "") || r.Duplicates != c.duplicates || r.Lost != c.lost || r.Contents.PossiblyMissing != c.unexcluded {
			t.Errorf("%s: %+v %+v", name, r, r.Contents)
		}
	}
	survey.Repeats = false
	failure := errors.New("out of memory")
	if _, err := verify.Census(t.Context(), reportingTarget{census: right(), err: failure}.db(), &survey, sent, nil); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
	none := right()
	none.Fields = nil
	if _, err := verify.Census(t.Context(), reportingTarget{census: none}.db(), &survey, verify.Sent{Acknowledged: true}, nil); err == nil || !strings.Contains(err.Error(), "the target tells of 0 fields") {
		t.Errorf("a census without fields: %v", err)
	}
}
