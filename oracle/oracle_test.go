package oracle_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

func spec(scale uint32, span time.Duration) workload.Spec {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	return workload.Spec{Name: "cpu-only", Seed: 123, Scale: scale, Start: start, End: start.Add(span), Interval: 10 * time.Second}
}

func allQueries(t testing.TB, s workload.Spec, n int) []query.Query {
	var all []query.Query
	w := tsbs.CPUOnly()
	for _, qt := range w.QueryTypes() {
		sequence, err := w.Queries(s, qt.Name, n)
		if err != nil {
			t.Fatal(err)
		}
		all = slices.AppendSeq(all, sequence)
	}
	return all
}

func ignore(int) {}

// plainRow is a row of the dataset in the most obvious form there is.
type plainRow struct {
	time   time.Time
	host   string
	fields map[string]float64
}

func plainRows(t *testing.T, d workload.Dataset) []plainRow {
	var rows []plainRow
	var b series.Batch
	for r := d.Open(); r.Next(&b, 777) == nil; {
		run := b.Runs[0]
		for i := range run.Times {
			p := plainRow{time.Unix(0, run.Times[i]), fmt.Sprintf("host_%d", run.Series[i]), map[string]float64{}}
			for f, field := range run.Table.Fields {
				p.fields[field.Name] = float64(run.Columns[f].Ints[i])
			}
			rows = append(rows, p)
		}
	}
	return rows
}

func plainlyFulfils(f *query.ValueFilter, v float64) bool {
	switch f.Compare.String() {
	case ">":
		return v > f.Value
	case "<":
		return v < f.Value
	case "=":
		return v == f.Value
	}
	return v >= f.Value
}

// plainAnswer answers q in the most obvious way: slow, and written apart from
// the oracle's own code.
func plainAnswer(q *query.Query, rows []plainRow) map[string]string {
	type group struct{ values map[string][]float64 }
	_, last := q.Shape.(query.Last)
	buckets, _ := q.Shape.(query.Buckets)
	answer := map[string]string{}
	groups := map[string]*group{}
	for _, r := range rows {
		if !q.Start.IsZero() && r.time.Before(q.Start) || !q.End.IsZero() && !r.time.Before(q.End) {
			continue
		}
		if q.In != nil {
			found := false
			for _, h := range q.In.Values {
				found = found || h == r.host
			}
			if !found {
				continue
			}
		}
		if q.Filter != nil && !plainlyFulfils(q.Filter, r.fields[q.Filter.Field]) {
			continue
		}
		key := ""
		switch s := q.Shape.(type) {
		case query.Buckets:
			key = r.time.UTC().Truncate(s.Width).Format(time.RFC3339)
			if s.GroupBy != "" {
				key += " " + r.host
			}
		case query.Last:
			key = r.host
		case query.Rows:
			key = r.time.UTC().Format(time.RFC3339) + " " + r.host
		}
		g := groups[key]
		if g == nil {
			g = &group{map[string][]float64{}}
			groups[key] = g
		}
		for _, f := range q.NamedFields() {
			if last {
				g.values[f] = nil
			}
			g.values[f] = append(g.values[f], r.fields[f])
		}
		if last {
			g.values["time"] = []float64{float64(r.time.Unix())}
		}
	}
	for key, g := range groups {
		text := ""
		for _, f := range q.NamedFields() {
			max, sum := -1.0, 0.0
			for _, v := range g.values[f] {
				sum += v
				if v > max {
					max = v
				}
			}
			if buckets.Aggregate == query.Avg {
				max = sum / float64(len(g.values[f]))
			}
			text += fmt.Sprintf(" %.9g", max)
		}
		if last {
			key = time.Unix(int64(g.values["time"][0]), 0).UTC().Format(time.RFC3339) + " " + key
		}
		answer[key] = text
	}
	for buckets.Limit > 0 && len(answer) > buckets.Limit { // newest first: drop the oldest
		oldest := ""
		for key := range answer {
			if oldest == "" || key < oldest {
				oldest = key
			}
		}
		delete(answer, oldest)
	}
	return answer
}

func asText(q *query.Query, a *query.Answer) map[string]string {
	answer := map[string]string{}
	for _, row := range a.Rows {
		key, rest := row[0].String(), row[1:]
		if q.Keys() == 2 {
			key, rest = key+" "+row[1].String(), row[2:]
		}
		text := ""
		for _, v := range rest {
			x := v.Float
			if v.Kind == query.Int {
				x = float64(v.Int)
			}
			text += fmt.Sprintf(" %.9g", x)
		}
		answer[key] = text
	}
	return answer
}

// Every type's answers agree with those of the obvious way.
func TestAnswersAgreeWithObviousWay(t *testing.T) {
	s := spec(33, 25*time.Hour)
	s.Interval, s.InitialScale = 97*time.Second, 5
	d, err := tsbs.CPUOnly().Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	rows := plainRows(t, d)
	for _, q := range allQueries(t, s, 3) {
		got, err := oracle.Rows(context.Background(), d, &q)
		if err != nil {
			t.Fatal(err)
		}
		want := plainAnswer(&q, rows)
		if fmt.Sprint(asText(&q, got)) != fmt.Sprint(want) {
			t.Errorf("%s %d: got %d rows\n%v\nwant %d\n%v", q.Type, q.ID, len(got.Rows), asText(&q, got), len(want), want)
		}
	}
}

// The quick count equals the number of rows of the answer, for data that
// grows, has gaps and meets window borders in every way.
func TestCountsEqualAnswers(t *testing.T) {
	for _, interval := range []time.Duration{10 * time.Second, 7 * time.Minute, time.Hour} {
		s := spec(40, 26*time.Hour)
		s.Interval, s.InitialScale = interval, 7
		d, err := tsbs.CPUOnly().Dataset(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []workload.Dataset{d, gaps{d}} {
			queries := allQueries(t, s, 20)
			x, err := oracle.Pass(context.Background(), d, queries, slices.Values(queries), ignore)
			if err != nil {
				t.Fatal(err)
			}
			for i := range queries {
				if x.Full[i].Rows != x.Counted[i] {
					t.Errorf("%T every %s, %s %d: counted %d rows, the answer has %d", d, interval, queries[i].Type, queries[i].ID, x.Counted[i], x.Full[i].Rows)
				}
			}
		}
	}
}

// gaps is a dataset without two rows in three, drawn at random.
type gaps struct{ workload.Dataset }

func (g gaps) Open() workload.Reader {
	return &gapReader{Reader: g.Dataset.Open(), random: rand.New(rand.NewSource(3))}
}

type gapReader struct {
	workload.Reader
	random *rand.Rand
}

func (g *gapReader) Next(b *series.Batch, max int) error {
	if err := g.Reader.Next(b, max); err != nil {
		return err
	}
	run := &b.Runs[0]
	kept := 0
	for i := range run.Times {
		if g.random.Intn(3) > 0 {
			continue
		}
		run.Times[kept], run.Series[kept] = run.Times[i], run.Series[i]
		for f := range run.Columns {
			run.Columns[f].Ints[kept] = run.Columns[f].Ints[i]
		}
		kept++
	}
	run.Grow(kept)
	return nil
}

// late swaps the halves of every batch, so that rows of a series run backwards.
type late struct{ workload.Dataset }

func (l late) Open() workload.Reader { return &lateReader{l.Dataset.Open()} }

type lateReader struct{ workload.Reader }

func (l *lateReader) Next(b *series.Batch, max int) error {
	if err := l.Reader.Next(b, max); err != nil {
		return err
	}
	run := &b.Runs[0]
	for i, j := 0, run.Rows()-1; i < j; i, j = i+1, j-1 {
		run.Times[i], run.Times[j] = run.Times[j], run.Times[i]
		run.Series[i], run.Series[j] = run.Series[j], run.Series[i]
		for f := range run.Columns {
			v := run.Columns[f].Ints
			v[i], v[j] = v[j], v[i]
		}
	}
	return nil
}

// The order in which rows arrive changes no answer and no count.
func TestLateRowsChangeNothing(t *testing.T) {
	s := spec(40, 25*time.Hour)
	s.Interval = 5 * time.Minute
	d, err := tsbs.CPUOnly().Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	queries := allQueries(t, s, 10)
	inOrder, err := oracle.Pass(context.Background(), d, queries, slices.Values(queries), ignore)
	if err != nil {
		t.Fatal(err)
	}
	x, err := oracle.Pass(context.Background(), late{d}, queries, slices.Values(queries), ignore)
	if err != nil {
		t.Fatal(err)
	}
	for i := range queries {
		q := &queries[i]
		cols := q.Columns(d.Schema().Table("cpu"))
		if w, g := inOrder.Full[i], x.Full[i]; w.Digest != nil && !w.Digest.Equal(g.Digest) {
			t.Errorf("%s %d: another digest", q.Type, q.ID)
		} else if w.Answer != nil {
			if diff := query.Compare(q, cols, w.Answer, g.Answer); diff != nil {
				t.Errorf("%s %d: %s", q.Type, q.ID, diff)
			}
		}
		if inOrder.Counted[i] != x.Counted[i] {
			t.Errorf("%s %d: %d rows counted, %d in order", q.Type, q.ID, x.Counted[i], inOrder.Counted[i])
		}
	}
}

func TestSurvey(t *testing.T) {
	s := spec(100, time.Hour)
	d, err := tsbs.CPUOnly().Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	x, err := oracle.Pass(context.Background(), d, nil, nil, ignore)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	var b series.Batch
	for r, lines := d.Open(), encode.NewLineProtocol(d.Schema()); r.Next(&b, 777) == nil; {
		text = lines.Append(text, &b)
	}
	v := x.Survey
	if v.Rows != 36_000 || v.Metrics != 360_000 || v.RawBytes != int64(len(text)) || v.Tables[0].Rows != v.Rows || v.Tables[0].Fields[9].Count != v.Rows {
		t.Errorf("survey %+v, want 36,000 rows, 360,000 metrics, %d bytes", v, len(text))
	}
}
