package workload_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/all"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/owndata"
	"github.com/tsmark/tsmark/workload/tsbs"
	"github.com/tsmark/tsmark/workload/twin"
)

// Places of the shares of a sequence are all places once, and Range has as many.
func TestShare(t *testing.T) {
	for n := range 20 {
		for count := range 6 {
			var places []int
			ranged := 0
			for i := range max(count, 1) {
				s := workload.Share{Index: i, Count: count}
				for k := range s.CountOf(n) {
					place := s.Place(k)
					if !s.Has(place) || place >= n {
						t.Errorf("%+v of %d: place %d", s, n, place)
					}
					places = append(places, place)
				}
				first, end := s.Range(n)
				if first != ranged || end-first != s.CountOf(n) {
					t.Errorf("%+v of %d: from %d to %d, %d places", s, n, first, end, s.CountOf(n))
				}
				ranged = end
			}
			slices.Sort(places)
			if len(places) != n || ranged != n || n > 0 && (places[0] != 0 || places[n-1] != n-1 || len(slices.Compact(places)) != n) {
				t.Errorf("%d shares of %d: %v, ranges up to %d", count, n, places, ranged)
			}
		}
	}
}

// bySeries lists the rows of a pass as texts, of each table and series in their order.
func bySeries(t testing.TB, r workload.Reader, size int) (rows map[string][]string, n int) {
	t.Helper()
	rows = make(map[string][]string)
	var b series.Batch
	for {
		err := r.Next(&b, size)
		if errors.Is(err, io.EOF) {
			return rows, n
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Rows() == 0 || b.Rows() > size {
			t.Fatalf("a batch of %d rows, want at most %d", b.Rows(), size)
		}
		n += b.Rows()
		for i := range b.Runs {
			run := &b.Runs[i]
			for row := range run.Times {
				text := fmt.Sprint(run.Times[row])
				for f := range run.Columns {
					c := &run.Columns[f]
					switch {
					case run.Lacks(f, row):
						text += " -"
					case run.Table.Fields[f].Type.UsesInts():
						text += fmt.Sprint(" ", c.Ints[row])
					default:
						text += fmt.Sprintf(" %x", c.Floats[row])
					}
				}
				key := fmt.Sprint(run.Table.Name, " ", run.Series[row])
				rows[key] = append(rows[key], text)
			}
		}
	}
}

// The shares of one to four clients are the whole dataset, row by row, each series in its
// order and of one client, whatever the workload.
func TestSharesAreTheWhole(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	datasets := make(map[string]workload.Dataset)
	add := func(name string, w workload.Workload, s workload.Spec) {
		s.Name = w.Name()
		if spanned, ok := w.(workload.Spanned); ok {
			s.Start, s.End = spanned.DefaultSpan()
		}
		if err := w.Check(s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		d, err := w.Dataset(s)
		if err != nil {
			t.Fatal(err)
		}
		datasets[name] = d
	}
	spec := workload.Spec{Seed: 7, Scale: 7, Start: start, End: start.Add(10 * time.Minute), Interval: 10 * time.Second}
	for _, w := range all.Workloads(nil) {
		if name := w.Name(); name != owndata.Name && name != twin.Name {
			add(w.Name(), w, spec)
		}
	}
	grown := spec
	grown.InitialScale, grown.MaxPoints, grown.InARow = 2, 231, 4
	add("growing", tsbs.Workloads()[0], grown)
	add("ten tables", all.Workloads(nil)[slices.IndexFunc(all.Workloads(nil), func(w workload.Workload) bool { return w.Name() == "devops" })], grown)
	late := spec
	late.Settings = workload.Settings{"iotdb.late": "0.3", "iotdb.duplicates": "0.2", "iotdb.unaligned": "true"}
	add("late rows", iotdb.Workload(), late)
	dealt, err := datasets["iotdb"].(workload.Dealt).Deal(5, 20)
	if err != nil {
		t.Fatal(err)
	}
	datasets["dealt to 5 writers"] = dealt
	datasets["the first rows of dealt ones"] = workload.LimitRows(dealt, 777)
	datasets["own data"] = ownData(t)
	for name, d := range datasets {
		t.Run(name, func(t *testing.T) {
			whole, rows := bySeries(t, d.Open(), 100)
			if rows == 0 {
				t.Fatal("the dataset is empty")
			}
			for count := 1; count <= 4; count++ {
				together, sum, shares := make(map[string][]string), 0, 0
				for i := range count {
					share := workload.Share{Index: i, Count: count}.Dataset(d)
					part, n := bySeries(t, share.Open(), 37)
					sum += n
					for key, rows := range part {
						if together[key] != nil {
							t.Errorf("%d clients: series %s is of two of them", count, key)
						}
						together[key] = rows
					}
					shares += max(workload.Shards(share), 1)
				}
				if sum != rows || !maps.EqualFunc(whole, together, slices.Equal) {
					t.Errorf("%d clients have %d rows, the whole has %d; or they are others", count, sum, rows)
				}
				if of := workload.Shards(d); of > 1 && shares != of {
					t.Errorf("%d writers of a dataset that was dealt to %d", shares, of)
				}
			}
		})
	}
}

// ownData is a dataset of a file.
func ownData(t *testing.T) workload.Dataset {
	t.Helper()
	var text strings.Builder
	text.WriteString("time,station,temperature\n")
	for i := range 300 {
		fmt.Fprintf(&text, "%s,s%d,%d.5\n", time.Date(2024, 1, 1, 0, 0, i, 0, time.UTC).Format(time.RFC3339), i%6, i)
	}
	name := filepath.Join(t.TempDir(), "own.csv")
	if err := os.WriteFile(name, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, w := range all.Workloads(nil) {
		surveyed, ok := w.(workload.Surveyed)
		if !ok || w.Name() != owndata.Name {
			continue
		}
		s, err := surveyed.Survey(t.Context(), workload.Spec{Name: w.Name(), Settings: workload.Settings{w.Name() + ".files": name}}, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		d, err := w.Dataset(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	t.Fatal("there is no workload of own data")
	return nil
}

// A share of TSBS's data draws the whole, and of IoTDB-Benchmark's only itself.
func BenchmarkShare(b *testing.B) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, w := range []workload.Workload{tsbs.Workloads()[0], iotdb.Workload()} {
		d, err := w.Dataset(workload.Spec{Name: w.Name(), Seed: 1, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
		if err != nil {
			b.Fatal(err)
		}
		for _, count := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("%s/1of%d", w.Name(), count), func(b *testing.B) {
				b.ReportAllocs()
				var batch series.Batch
				rows := 0
				for b.Loop() {
					r := workload.Share{Count: count}.Dataset(d).Open()
					for r.Next(&batch, 1000) == nil {
						rows += batch.Rows()
					}
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
