package oracle

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// naive is what a table holds, worked out row by row.
type naive struct {
	rows   int64
	times  [3]int64 // sum, least, largest
	counts []int64
	wholes [][3]int64   // likewise
	floats [][3]float64 // likewise
	seen   map[uint32]bool
}

func (n *naive) add(run *series.Run) {
	if n.seen == nil {
		fields := len(run.Columns)
		n.counts, n.wholes, n.floats, n.seen = make([]int64, fields), make([][3]int64, fields), make([][3]float64, fields), map[uint32]bool{}
	}
	fold := func(at *[3]int64, first bool, v, sum int64) {
		at[0] += sum
		if first || v < at[1] {
			at[1] = v
		}
		if first || v > at[2] {
			at[2] = v
		}
	}
	for row, time := range run.Times {
		fold(&n.times, n.rows == 0, time, time)
		n.rows++
		n.seen[run.Series[row]] = true
		for f := range run.Columns {
			if run.Lacks(f, row) {
				continue
			}
			n.counts[f]++
			first := n.counts[f] == 1
			switch field := run.Table.Fields[f]; {
			case field.Type.Textual():
				v := run.Columns[f].Ints[row]
				fold(&n.wholes[f], first, v, TextSum(series.AppendText(nil, v, field.Length)))
			case field.Type.UsesInts():
				fold(&n.wholes[f], first, run.Columns[f].Ints[row], run.Columns[f].Ints[row])
			default:
				v, at := run.Columns[f].Floats[row], &n.floats[f]
				at[0] += v
				if first || v < at[1] {
					at[1] = v
				}
				if first || v > at[2] {
					at[2] = v
				}
			}
		}
	}
}

// A survey tells what tables hold: rows with NULLs, without any, of all types, and
// of tables that share their tags.
func TestSurveyOfContents(t *testing.T) {
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		use  workload.Workload
		spec workload.Spec
	}{
		"devops":    {tsbs.Devops(), workload.Spec{Scale: 5, Interval: time.Minute}},
		"iot":       {tsbs.IoT(), workload.Spec{Scale: 30, Interval: time.Minute}},
		"types":     {iotdb.Workload(), workload.Spec{Scale: 4, Interval: time.Second, Settings: workload.Settings{"iotdb.sensors": "20", "iotdb.types": "1:1:1:1:1:1:1:1:1:1"}}},
		"unaligned": {iotdb.Workload(), workload.Spec{Scale: 4, Interval: time.Second, Settings: workload.Settings{"iotdb.sensors": "20", "iotdb.types": "1:1:1:1:1:1:1:1:1:1", "iotdb.unaligned": "true"}}},
	} {
		c.spec.Name, c.spec.Seed, c.spec.Start, c.spec.End = c.use.Name(), 1, start, start.Add(10*time.Minute)
		d, err := c.use.Dataset(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		expected, err := Pass(t.Context(), d, nil, nil, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		tables := map[*series.Table]*naive{}
		for _, table := range d.Schema().Tables {
			tables[table] = &naive{}
		}
		look := func(runs []span) {
			for _, run := range runs {
				tables[run.Table].add(run.Run)
			}
		}
		if err := eachBatch(t.Context(), d, []func([]span){look}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		for i := range expected.Survey.Tables {
			got := &expected.Survey.Tables[i]
			want := tables[got.Table]
			if got.Rows != want.rows || got.Times.Count != want.rows || int64(got.Times.Whole.Low) != want.times[0] || got.Times.Min.Int != want.times[1] || got.Times.Max.Int != want.times[2] {
				t.Errorf("%s: table %s: %d rows, times %+v; want %d, %v", name, got.Table.Name, got.Rows, got.Times, want.rows, want.times)
			}
			for f, field := range got.Table.Fields {
				content := &got.Fields[f]
				same := content.Count == want.counts[f]
				switch {
				case want.counts[f] == 0:
					same = same && content.Min.Kind == query.Null && content.Max.Kind == query.Null
				case field.Type.Textual():
					same = same && int64(content.Whole.Low) == want.wholes[f][0] &&
						string(content.Min.Text) == string(series.AppendText(nil, want.wholes[f][1], field.Length)) &&
						string(content.Max.Text) == string(series.AppendText(nil, want.wholes[f][2], field.Length))
				case field.Type.UsesInts():
					same = same && int64(content.Whole.Low) == want.wholes[f][0] && content.Min.Int == want.wholes[f][1] && content.Max.Int == want.wholes[f][2]
				default:
					same = same && math.Abs(content.Float-want.floats[f][0]) <= 1e-12*content.Size && content.Min.Float == want.floats[f][1] && content.Max.Float == want.floats[f][2]
				}
				if !same {
					t.Errorf("%s: field %s of %s: %+v; want %d, %v, %v", name, field.Name, got.Table.Name, *content, want.counts[f], want.wholes[f], want.floats[f])
				}
			}
			if got.Series.Len() == 0 || got.Series.Len() > len(want.seen) || got.TextSeries.Len() > got.Series.Len() {
				t.Errorf("%s: table %s: %d and %d series, of %d", name, got.Table.Name, got.Series.Len(), got.TextSeries.Len(), len(want.seen))
			}
		}
	}
}

// A survey allocates nothing per row, whatever the types.
func TestSurveyAllocatesNothing(t *testing.T) {
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := iotdb.Workload().Dataset(workload.Spec{Name: "iotdb", Seed: 1, Scale: 4, Start: start, End: start.Add(time.Hour), Interval: time.Second,
		Settings: workload.Settings{"iotdb.sensors": "20", "iotdb.types": "1:1:1:1:1:1:1:1:1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	var batch series.Batch
	if err := d.Open().Next(&batch, batchRows); err != nil {
		t.Fatal(err)
	}
	v := newSurveyor(d)
	v.Add(&batch)
	if n := testing.AllocsPerRun(3, func() { v.Add(&batch) }); n > 0 {
		t.Errorf("%v allocations a batch", n)
	}
}

// Fields that are dealt to several functions come to the same, to the last bit.
func TestSurveyInParts(t *testing.T) {
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := iotdb.Workload().Dataset(workload.Spec{Name: "iotdb", Seed: 1, Scale: 4, Start: start, End: start.Add(time.Hour), Interval: time.Second,
		Settings: workload.Settings{"iotdb.sensors": "20", "iotdb.types": "1:1:1:1:1:1:1:1:1:1", "iotdb.unaligned": "true"}})
	if err != nil {
		t.Fatal(err)
	}
	whole := newSurveyor(d)
	if err := eachBatch(t.Context(), d, whole.functions(1), func(int) {}); err != nil {
		t.Fatal(err)
	}
	parts := newSurveyor(d)
	if err := eachBatch(t.Context(), d, parts.functions(7), func(int) {}); err != nil {
		t.Fatal(err)
	}
	want, got := whole.Result(), parts.Result()
	if want.Rows == 0 || want.Rows != got.Rows || want.RawBytes != got.RawBytes || !reflect.DeepEqual(want.Tables[0].Fields, got.Tables[0].Fields) {
		t.Errorf("%d rows, %d bytes, %+v; want %d, %d, %+v", got.Rows, got.RawBytes, got.Tables[0].Fields, want.Rows, want.RawBytes, want.Tables[0].Fields)
	}
}
