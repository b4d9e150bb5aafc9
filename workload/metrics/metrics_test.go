package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/workloadtest"
)

// spec returns the specification of an hour of some targets, with settings KEY=VALUE.
func spec(targets uint32, settings ...string) workload.Spec {
	s := workload.Spec{Name: Name, Seed: 123, Scale: targets, Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC), Interval: 15 * time.Second}
	s.End = s.Start.Add(time.Hour)
	for _, set := range settings {
		key, value, _ := strings.Cut(set, "=")
		s.Settings.Set(Name+"."+key, value)
	}
	return s
}

func open(t testing.TB, s workload.Spec) *Dataset {
	t.Helper()
	return workloadtest.Open(t, Workload(), s).(*Dataset)
}

// text returns a row as OpenMetrics would write it, and NULLs as NaN.
func text(run *series.Run, row int) string {
	var out strings.Builder
	out.WriteString(run.Table.Name + "{")
	for i := range run.Table.Tags {
		if value, ok := run.Table.Tags[i].Values.Append(nil, run.Series[row]); ok {
			fmt.Fprintf(&out, "%s=%q,", run.Table.Tags[i].Key, value)
		}
	}
	out.WriteString("}")
	for f := range run.Columns {
		switch c := &run.Columns[f]; {
		case c.Nulls.Has(row):
			out.WriteString(" NaN")
		case run.Table.Fields[f].Type == series.Int:
			fmt.Fprintf(&out, " %d", c.Ints[row])
		default:
			fmt.Fprintf(&out, " %v", c.Floats[row])
		}
	}
	return fmt.Sprintf("%s %d", out.String(), run.Times[row]/1e6)
}

func TestDeterminism(t *testing.T) {
	s := spec(10, "churn=20", "failed=0.05", "late=0.1", "series=500")
	s.End = s.Start.Add(2 * time.Minute)
	workloadtest.Determinism(t, Workload(), s, text)
}

// Shares and clients have all rows once, and those of a series in their order.
func TestParts(t *testing.T) {
	s := spec(23, "churn=20", "failed=0.05", "series=500")
	s.End = s.Start.Add(2 * time.Minute)
	bySeries := func(readers ...workload.Reader) map[uint32][]int64 {
		times := map[uint32][]int64{}
		for _, r := range readers {
			mine := map[uint32][]int64{}
			workloadtest.ReadRuns(t, r, 1000, func(run *series.Run) {
				for row, s := range run.Series {
					mine[s] = append(mine[s], run.Times[row])
				}
			})
			for s, of := range mine {
				if times[s] != nil {
					t.Fatalf("series %d is in two parts", s)
				}
				times[s] = of
			}
		}
		return times
	}
	same := func(what string, got, want map[uint32][]int64) {
		t.Helper()
		for s, times := range want {
			if !slices.Equal(got[s], times) {
				t.Fatalf("%s: series %d has the times %v, want %v", what, s, got[s], times)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d series, want %d", what, len(got), len(want))
		}
	}
	d := open(t, s)
	whole := bySeries(d.Open())
	for _, clients := range []int{2, 5, 40} {
		dealt, err := d.Deal(clients, 700)
		if err != nil {
			t.Fatal(err)
		}
		same("dealt", bySeries(dealt.Open()), whole)
		var shards, shares []workload.Reader
		for i := range clients {
			r := dealt.(workload.Sharded).OpenShard(i)
			workloadtest.ReadRuns(t, dealt.(workload.Sharded).OpenShard(i), 1000, func(run *series.Run) {
				for _, s := range run.Series {
					if got := d.Client(s, clients); got != i {
						t.Fatalf("series %d is of client %d, and came from %d", s, got, i)
					}
				}
			})
			shards = append(shards, r)
			shares = append(shares, d.Share(workload.Share{Index: i, Count: clients}).Open())
		}
		same("shards", bySeries(shards...), whole)
		same("shares", bySeries(shares...), whole)
	}
}

// Samples are by the rules of Prometheus: values of classes, resets, markers, times.
func TestSamples(t *testing.T) {
	d := open(t, spec(20, "churn=3", "failed=0.02"))
	type last struct {
		time   int64
		value  float64
		marker bool
		count  int
		falls  int
	}
	seen := make([]last, d.schema.Series)
	table := make([]*series.Table, d.schema.Series)
	workloadtest.ReadRuns(t, d.Open(), 5000, func(run *series.Run) {
		m := run.Table.Metric
		for row, s := range run.Series {
			if !run.Table.Range.Has(s) {
				t.Fatalf("series %d is outside the range of table %s", s, run.Table.Name)
			}
			table[s] = run.Table
			l, at := &seen[s], run.Times[row]
			if at <= l.time || at < d.start || at >= d.start+int64(time.Hour) || at%int64(time.Millisecond) != 0 {
				t.Fatalf("%s: the time is not behind %d, or not in the dataset", text(run, row), l.time)
			}
			marker := run.Lacks(0, row)
			if marker && (l.count == 0 || l.marker) {
				t.Fatalf("%s: a marker without a sample before it", text(run, row))
			}
			var v float64
			if m.Native != nil {
				v = float64(run.Columns[0].Ints[row])
			} else {
				v = run.Columns[0].Floats[row]
			}
			if !marker && math.IsNaN(v) {
				t.Fatalf("%s: not a number", text(run, row))
			}
			if !marker && l.count > 0 {
				switch m.Class {
				case "constant":
					if v != l.value && !strings.HasPrefix(run.Table.Name, "scrape_") {
						t.Fatalf("%s: it was %v before", text(run, row), l.value)
					}
				case "busy-counter", "sparse-counter", "classic-histogram", "native-histogram":
					if v < l.value {
						t.Fatalf("%s: the counter was %v before", text(run, row), l.value)
					}
				case "reset-counter":
					if v < l.value {
						l.falls++
					}
				case "state":
					if v != 0 && v != 1 {
						t.Fatalf("%s: neither 0 nor 1", text(run, row))
					}
				case "info":
					if v != 1 {
						t.Fatalf("%s: not 1", text(run, row))
					}
				}
			}
			l.time, l.marker = at, marker
			if !marker {
				l.value = v
				l.count++
			}
		}
	})
	end := d.start + (d.epochs-1)*int64(d.interval)
	resets, ended := 0, 0
	for s := range seen {
		l := &seen[s]
		if l.count == 0 {
			t.Fatalf("series %d of %s has no sample", s, table[s].Name)
		}
		resets += l.falls
		if l.time < end {
			if ended++; !l.marker {
				t.Fatalf("series %d of %s ends at %d without a marker", s, table[s].Name, l.time/1e6)
			}
		}
	}
	if resets == 0 || ended == 0 || d.podNumbers == d.counts[app] {
		t.Errorf("%d resets, %d series that ended, %d pods replaced; want some of each", resets, ended, d.podNumbers-d.counts[app])
	}
	// Three of ten pods an hour are replaced, give or take the deployment that is being rolled out.
	if n := float64(d.podNumbers-d.counts[app]) / float64(d.counts[app]); math.Abs(n-3) > 1 {
		t.Errorf("%.1f times the pods were replaced, want about 3", n)
	}
}

// Buckets are cumulative, the last one is the count, and the sum is within the bounds of the buckets.
// Counts of native histograms are the sums of their buckets.
func TestHistograms(t *testing.T) {
	s := spec(10, "churn=20", "failed=0.02")
	s.End = s.Start.Add(10 * time.Minute)
	d := open(t, s)
	type key struct {
		labels string
		time   int64
	}
	labels := func(run *series.Run, row int) key {
		name := text(run, row)
		name = name[strings.IndexByte(name, '{'):strings.IndexByte(name, '}')]
		name, _, _ = strings.Cut(name, `le="`)
		return key{strings.TrimSuffix(run.Table.Metric.Family+name, ","), run.Times[row]}
	}
	buckets, counts, sums := map[key][]float64{}, map[key]float64{}, map[key]float64{}
	natives := 0
	workloadtest.ReadRuns(t, d.Open(), 5000, func(run *series.Run) {
		for row := range run.Times {
			if run.Lacks(0, row) {
				continue
			}
			if run.Table.Metric.Native != nil {
				natives++
				total := run.Columns[2].Ints[row]
				least, most := 0.0, 0.0
				for b, limits := range nativeLimits() {
					n := run.Columns[3+b].Ints[row]
					total += n
					least, most = least+float64(n)*limits[0], most+float64(n)*limits[1]
				}
				if sum := run.Columns[1].Floats[row]; total != run.Columns[0].Ints[row] || sum < least*0.999 || sum > most*1.001 {
					t.Fatalf("%s: the buckets have %d observations with a sum of %v to %v", text(run, row), total, least, most)
				}
				continue
			}
			if run.Table.Metric.Kind != series.Histogram {
				continue
			}
			switch k, v := labels(run, row), run.Columns[0].Floats[row]; {
			case strings.HasSuffix(run.Table.Name, "_bucket"):
				buckets[k] = append(buckets[k], v)
			case strings.HasSuffix(run.Table.Name, "_sum"):
				sums[k] = v
			default:
				counts[k] = v
			}
		}
	})
	if natives == 0 || len(buckets) == 0 || len(buckets) != len(counts) || len(counts) != len(sums) {
		t.Fatalf("%d native histograms, %d classic ones, with %d counts and %d sums", natives, len(buckets), len(counts), len(sums))
	}
	for k, of := range buckets {
		least, most := 0.0, 0.0
		for b, limits := range classicLimits() {
			n := of[b]
			if b > 0 {
				n -= of[b-1]
			}
			least, most = least+n*limits[0], most+n*limits[1]
		}
		if !slices.IsSorted(of) || of[len(of)-1] != counts[k] || sums[k] < least*0.999 || sums[k] > most*1.001 {
			t.Fatalf("%v: buckets %v, count %v, sum %v", k, of, counts[k], sums[k])
		}
	}
}

// Series have different labels, and families of metrics different names.
func TestLabels(t *testing.T) {
	d := open(t, spec(23, "churn=3"))
	families := map[string]string{}
	for _, table := range d.schema.Tables {
		seen := map[string]bool{}
		for s := table.Range.First; s < table.Range.End; s++ {
			var labels strings.Builder
			for i := range table.Tags {
				value, ok := table.Tags[i].Values.Append(nil, s)
				if ok && (len(value) == 0 || !series.Plain(value)) {
					t.Fatalf("%s: label %s of series %d is %q", table.Name, table.Tags[i].Key, s, value)
				}
				fmt.Fprintf(&labels, "%t%s\x00", ok, value)
			}
			if seen[labels.String()] {
				t.Fatalf("%s: two series have the labels %q", table.Name, labels.String())
			}
			seen[labels.String()] = true
		}
		if _, ok := table.Tags[0].Values.Append(nil, table.Range.End); ok {
			t.Errorf("%s: a series outside its range has labels", table.Name)
		}
		name := table.Name
		if table.Metric.Kind == series.Histogram && table.Metric.Native == nil {
			name = table.Metric.Family + " classic"
		}
		if other := families[table.Metric.Family]; other != "" && other != name {
			t.Errorf("the metrics %s and %s have one family", other, name)
		}
		families[table.Metric.Family] = name
		if table.Metric.Help == "" || len(table.Name) > 58 {
			t.Errorf("%s: no help, or too long a name", table.Name)
		}
	}
	if n := len(d.schema.Tables); n < 150 || n > 280 {
		t.Errorf("%d tables", n)
	}
}

// The number of series of a target is about the one requested.
func TestSize(t *testing.T) {
	for _, want := range []int{500, 1000, 10_000} {
		d := open(t, spec(100, fmt.Sprintf("series=%d", want)))
		if got := float64(d.alive) / 100; math.Abs(got/float64(want)-1) > 0.06 {
			t.Errorf("%.0f series a target, want about %d", got, want)
		}
		for j := range jobs {
			n := uint64(0)
			for e := range entities {
				_, alive := d.owners(j, e)
				n += d.exposed[j][e] * uint64(alive) / uint64(d.counts[j])
			}
			if got := float64(n); math.Abs(got/float64(want)-1) > 0.1 {
				t.Errorf("%.0f series of a target of job %d, want about %d", got, j, want)
			}
		}
	}
}

// RowsAtMost is exact if no scrape fails.
func TestDescribe(t *testing.T) {
	s := spec(20, "churn=3", "failed=0")
	rows := int64(0)
	workloadtest.ReadRuns(t, open(t, s).Open(), 10_000, func(run *series.Run) { rows += int64(run.Rows()) })
	if about := Workload().Describe(s); about.RowsAtMost != rows {
		t.Errorf("at most %d rows, and there are %d", about.RowsAtMost, rows)
	}
	s = spec(20, "failed=0.05")
	failing := int64(0)
	workloadtest.ReadRuns(t, open(t, s).Open(), 10_000, func(run *series.Run) {
		if run.Table.Name == "up" {
			for _, v := range run.Columns[0].Floats {
				if v == 0 {
					failing++
				}
			}
		}
	})
	if share := float64(failing) / (20 * 240); math.Abs(share-0.05) > 0.015 {
		t.Errorf("a share of %.3f scrapes failed, want 0.05", share)
	}
}

// Late samples are out of order, and the same as those in order.
func TestLate(t *testing.T) {
	late := 0 // rows
	values := func(s workload.Spec) map[[2]int64]string {
		list, newest := map[[2]int64]string{}, map[uint32]int64{}
		workloadtest.ReadRuns(t, open(t, s).Open(), 10_000, func(run *series.Run) {
			for row, number := range run.Series {
				if run.Times[row] < newest[number] {
					late++
				}
				newest[number] = max(newest[number], run.Times[row])
				list[[2]int64{int64(number), run.Times[row]}] = text(run, row)
			}
		})
		return list
	}
	inOrder := values(spec(4, "classes=reset-counter,limited-gauge"))
	if late > 0 {
		t.Fatalf("%d rows are late", late)
	}
	outOfOrder := values(spec(4, "classes=reset-counter,limited-gauge", "late=0.1"))
	if len(inOrder) != len(outOfOrder) {
		t.Errorf("%d rows, want %d", len(outOfOrder), len(inOrder))
	}
	for k, v := range inOrder {
		if outOfOrder[k] != v {
			t.Fatalf("%s became %s", v, outOfOrder[k])
		}
	}
	if share := float64(late) / float64(len(inOrder)); math.Abs(share-0.1) > 0.03 {
		t.Errorf("a share of %.3f is late, want 0.1", share)
	}
}

// The entropy of the differences between consecutive values is what a class promises: nothing to
// compress in constants, most in noisy values.
func TestEntropy(t *testing.T) {
	d := open(t, spec(10, "churn=0", "failed=0"))
	histograms := map[string]map[float64]int{}
	last := map[uint32]float64{}
	workloadtest.ReadRuns(t, d.Open(), 10_000, func(run *series.Run) {
		if run.Table.Metric.Native != nil {
			return
		}
		class := run.Table.Metric.Class
		if histograms[class] == nil {
			histograms[class] = map[float64]int{}
		}
		for row, s := range run.Series {
			v := run.Columns[0].Floats[row]
			if before, ok := last[s]; ok {
				histograms[class][v-before]++
			}
			last[s] = v
		}
	})
	for class, bounds := range map[string][2]float64{
		"constant": {0, 0.1}, "info": {0, 0}, "state": {0, 0.1}, "sparse-counter": {0.05, 3}, "slow-gauge": {0.1, 1.5}, "limited-gauge": {1, 12},
		"classic-histogram": {2, 8}, "reset-counter": {5, 14}, "busy-counter": {8, 22}, "noisy-gauge": {8, 22},
	} {
		total, bits := 0.0, 0.0
		for _, n := range histograms[class] {
			total += float64(n)
		}
		for _, n := range histograms[class] {
			bits -= float64(n) / total * math.Log2(float64(n)/total)
		}
		t.Logf("%s: %.2f bits a sample", class, bits)
		if bits < bounds[0] || bits > bounds[1]+1e-9 {
			t.Errorf("%s: %.2f bits a sample, want %v to %v", class, bits, bounds[0], bounds[1])
		}
	}
}

func TestMemory(t *testing.T) {
	s := spec(10_000)
	s.End = s.Start.Add(30 * time.Second)
	workloadtest.Memory(t, open(t, s), 0.01)
}

func TestGolden(t *testing.T) { workloadtest.Golden(t, open(t, spec(4)), 4000, text) }

func TestBadSettings(t *testing.T) {
	for _, c := range []struct {
		problem string
		spec    func(*workload.Spec)
	}{
		{"--metrics classes: ", func(s *workload.Spec) { s.Settings.Set("metrics.classes", "gauge") }},
		{"--metrics series: ", func(s *workload.Spec) { s.Settings.Set("metrics.series", "10") }},
		{"--metrics churn: ", func(s *workload.Spec) { s.Settings.Set("metrics.churn", "60"); s.Interval = time.Minute }},
		{"--metrics failed: ", func(s *workload.Spec) { s.Settings.Set("metrics.failed", "0.5") }},
		{"--scale: ", func(s *workload.Spec) { s.Scale = 0 }},
		{"--scale: ", func(s *workload.Spec) { s.Scale = 10_000_000 }},
		{"--log-interval: ", func(s *workload.Spec) { s.Interval = 100 * time.Microsecond }},
		{"--timestamp-start: ", func(s *workload.Spec) { s.Start = s.Start.Add(time.Microsecond) }},
		{"--initial-scale: ", func(s *workload.Spec) { s.InitialScale = 1 }},
		{"--max-metric-count: ", func(s *workload.Spec) { s.MaxMetrics = 1 }},
		{"--metrics classes: ", func(s *workload.Spec) {
			s.Scale = 1
			s.Settings.Set("metrics.histograms", "native")
			s.Settings.Set("metrics.classes", "classic-histogram")
		}},
	} {
		s := spec(10)
		c.spec(&s)
		var bad *workload.SpecError
		if err := Workload().Check(s); !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.problem) {
			t.Errorf("%v, want %s…", err, c.problem)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	s := spec(10_000)
	r := open(b, s).Open()
	var batch series.Batch
	rows := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Next(&batch, 10_000); err != nil {
			b.Fatal(err)
		}
		rows += batch.Rows()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
