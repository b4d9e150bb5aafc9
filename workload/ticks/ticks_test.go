package ticks

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/workloadtest"
)

// spec returns the specification of two sessions of some symbols, with settings KEY=VALUE.
func spec(symbols uint32, settings ...string) workload.Spec {
	s := workload.Spec{Name: Name, Seed: 123, Scale: symbols, Start: time.Date(2016, 1, 4, 0, 0, 0, 0, time.UTC), Interval: 10 * time.Second}
	s.End = s.Start.AddDate(0, 0, 2)
	for _, set := range settings {
		key, value, _ := strings.Cut(set, "=")
		s.Settings.Set(Name+"."+key, value)
	}
	return s
}

func open(t testing.TB, s workload.Spec) workload.Dataset {
	t.Helper()
	return workloadtest.Open(t, Workload(), s)
}

// text returns a row as line protocol would write it.
func text(run *series.Run, row int) string {
	var out strings.Builder
	out.WriteString(run.Table.Name)
	for i := range run.Table.Tags {
		value, _ := run.Table.Tags[i].Values.Append(nil, run.Series[row])
		fmt.Fprintf(&out, " %s", value)
	}
	for f := range run.Columns {
		switch c, field := &run.Columns[f], &run.Table.Fields[f]; field.Type {
		case series.Text:
			fmt.Fprintf(&out, " %s", c.AppendText(nil, row, field.Length))
		case series.Int:
			fmt.Fprintf(&out, " %d", c.Ints[row])
		default:
			fmt.Fprintf(&out, " %v", c.Floats[row])
		}
	}
	return out.String() + time.Unix(0, run.Times[row]).UTC().Format(" 2006-01-02T15:04:05.000000000")
}

func TestDeterminism(t *testing.T) {
	s := spec(9, "late=0.3")
	s.Interval = time.Minute
	workloadtest.Determinism(t, Workload(), s, text)
}

// event is a trade or a quote.
type event struct {
	time      int64
	low, high int64 // bid and ask, or the price, in units of 0.0001
	condition string
}

// events returns the trades and the quotes of each symbol in their order, and which share of the trades
// came after a newer one of the symbol. It checks each row by itself.
func events(t *testing.T, s workload.Spec) (trades, quotes [][]event, late float64) {
	t.Helper()
	trades, quotes = make([][]event, s.Scale), make([][]event, s.Scale)
	data, err := newDataset(s)
	if err != nil {
		t.Fatal(err)
	}
	price := func(symbol uint32, v float64) int64 {
		units := int64(math.Round(v * 10_000))
		of := newSymbol(data.seed, symbol)
		if float64(units)/10_000 != v || units%int64(of.tick) != 0 || v <= 0 || v > 5000 {
			t.Fatalf("the price %v of symbol %d is not on its grid of %d", v, symbol, of.tick)
		}
		return units
	}
	inSession := func(at int64) bool {
		return slices.ContainsFunc(data.sessions, func(s session) bool { return s.open <= at && at < s.close })
	}
	rows, lateRows, newest := int64(0), 0, make([]int64, s.Scale)
	workloadtest.ReadRuns(t, open(t, s).Open(), 10_000, func(run *series.Run) {
		rows += int64(run.Rows())
		for row, symbol := range run.Series {
			e := event{time: run.Times[row], low: price(symbol, run.Columns[0].Floats[row])}
			if !inSession(e.time) || e.time%data.unit != 0 {
				t.Fatalf("a row at %v", time.Unix(0, e.time))
			}
			if run.Table.Name == Quotes {
				if e.high = price(symbol, run.Columns[1].Floats[row]); e.high <= e.low {
					t.Fatalf("bid %d, ask %d", e.low, e.high)
				}
				quotes[symbol] = append(quotes[symbol], e)
				continue
			}
			e.condition = string(series.AppendText(nil, run.Columns[2].Ints[row], len(regular)))
			if size := run.Columns[1].Ints[row]; size < 1 || size > 10_000 || e.condition == oddLot && size >= 100 || e.condition == regular && size%100 != 0 {
				t.Fatalf("size %d of a trade %s", size, e.condition)
			}
			trades[symbol] = append(trades[symbol], e)
			if e.time < newest[symbol] {
				lateRows++
			}
			newest[symbol] = max(newest[symbol], e.time)
		}
	})
	if about := Workload().Describe(s); about.RowsAtMost != rows {
		t.Errorf("at most %d rows, and there are %d", about.RowsAtMost, rows)
	}
	all := 0
	for _, of := range trades {
		all += len(of)
	}
	return trades, quotes, float64(lateRows) / float64(all)
}

// Times are unique, quotes are in order, and all trades that are neither cancelled nor corrected are
// within the prevailing quote. Each symbol has an opening and a closing trade per session.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		settings    []string
		least, most float64 // share of late trades
	}{
		{nil, 0.0001, 0.003},
		{[]string{"late=0.3", "precision=1ns", "skew=0"}, 0.03, 0.3},
		{[]string{"late=0", "precision=1ms", "quotes=20"}, 0, 0},
	} {
		settings := c.settings
		trades, quotes, late := events(t, spec(20, settings...))
		if late < c.least || late > c.most {
			t.Errorf("%v: a share of %.4f trades is late, want %v to %v", settings, late, c.least, c.most)
		}
		counts, sessions := map[string]int{}, map[string]int{}
		for symbol := range trades {
			byTime := func(a, b event) int { return int(a.time - b.time) }
			if !slices.IsSortedFunc(quotes[symbol], byTime) {
				t.Fatalf("%v: quotes are out of order", settings)
			}
			slices.SortFunc(trades[symbol], byTime)
			for _, of := range [][]event{trades[symbol], quotes[symbol]} {
				for i := 1; i < len(of); i++ {
					if of[i].time == of[i-1].time {
						t.Fatalf("%v: two rows of symbol %d at %d", settings, symbol, of[i].time)
					}
				}
			}
			for _, e := range trades[symbol] {
				counts[e.condition]++
				at, found := slices.BinarySearchFunc(quotes[symbol], e, byTime)
				if found || at == 0 {
					t.Fatalf("%v: a trade without a quote before it", settings)
				}
				prevailing := quotes[symbol][at-1]
				if inside := prevailing.low <= e.low && e.low <= prevailing.high; !inside && e.condition != cancelled && e.condition != corrected {
					t.Fatalf("%v: a trade %s of symbol %d at %d, outside of %d to %d", settings, e.condition, symbol, e.low, prevailing.low, prevailing.high)
				}
			}
			sessions[fmt.Sprint(trades[symbol][0].condition, trades[symbol][len(trades[symbol])-1].condition)]++
		}
		if sessions["OPNCLS"] != len(trades) || counts[opening] != 2*len(trades) || counts[closing] != 2*len(trades) {
			t.Errorf("%v: first and last trades %v; %v", settings, sessions, counts)
		}
		if n := counts[cancelled] + counts[corrected]; n == 0 || n > counts[regular]/50 || counts[oddLot] < counts[regular]/4 {
			t.Errorf("%v: conditions %v", settings, counts)
		}
	}
}

// Activity follows Zipf's law, is highest when the market opens and closes, and has bursts.
func TestActivity(t *testing.T) {
	trades, quotes, _ := events(t, spec(100))
	total, quoted, first, last, soon := 0, 0, 0, 0, 0
	for symbol := range trades {
		total += len(trades[symbol]) + len(quotes[symbol])
		quoted += len(quotes[symbol])
		for i, e := range quotes[symbol] {
			switch minute := time.Duration(e.time) % (24 * time.Hour) / time.Minute; {
			case minute < 14*60+45:
				first++
			case minute >= 20*60+55:
				last++
			}
			if i > 0 && e.time-quotes[symbol][i-1].time < int64(100*time.Millisecond) {
				soon++
			}
		}
	}
	for _, c := range []struct {
		what        string
		n, of       int
		least, most float64
	}{
		{"rows of the first symbol", len(trades[0]) + len(quotes[0]), total, 0.19, 0.2},
		{"rows of the tenth symbol", len(trades[9]) + len(quotes[9]), total, 0.018, 0.021},
		{"quotes", quoted, total, 0.78, 0.82},
		{"quotes of the first 15 of 390 minutes", first, quoted, 0.08, 0.12},
		{"quotes of the last 5 of 390 minutes", last, quoted, 0.05, 0.09},
		{"quotes within 0.1 s of another one", soon, quoted, 0.3, 0.9},
	} {
		if share := float64(c.n) / float64(c.of); share < c.least || share > c.most {
			t.Errorf("a share of %.3f is %s, want %v to %v", share, c.what, c.least, c.most)
		}
	}
}

// Rows outside the span are left out, and the others are the same.
func TestPartOfSession(t *testing.T) {
	s := spec(5)
	part := s
	part.Start, part.End = s.Start.Add(16*time.Hour), s.Start.Add(17*time.Hour)
	var whole, got []string
	for of, list := range map[*workload.Spec]*[]string{&s: &whole, &part: &got} {
		workloadtest.ReadRuns(t, open(t, *of).Open(), 1000, func(run *series.Run) {
			for row, at := range run.Times {
				if at >= part.Start.UnixNano() && at < part.End.UnixNano() {
					*list = append(*list, text(run, row))
				}
			}
		})
		slices.Sort(*list)
	}
	if len(got) == 0 || !slices.Equal(got, whole) {
		t.Errorf("%d rows of an hour, want %d", len(got), len(whole))
	}
}

// The sessions are those of the exchange. In the years that are missing it was closed on further days.
func TestCalendar(t *testing.T) {
	for year, want := range map[int]int{
		2008: 253, 2009: 252, 2010: 252, 2011: 252, 2013: 252, 2014: 252, 2015: 252, 2016: 252, 2017: 251, 2019: 252,
		2020: 253, 2021: 252, 2022: 251, 2023: 250, 2024: 252,
	} {
		start := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		if got := len(sessionsBetween(start, start.AddDate(1, 0, 0))); got != want {
			t.Errorf("%d has %d sessions, want %d", year, got, want)
		}
	}
	for day, want := range map[string]string{
		"2016-01-01": "closed", "2016-01-04": "14:30 to 21:00", "2016-03-11": "14:30 to 21:00", "2016-03-14": "13:30 to 20:00",
		"2016-03-25": "closed", "2016-11-04": "13:30 to 20:00", "2016-11-07": "14:30 to 21:00", "2016-11-25": "14:30 to 18:00",
		"2021-12-24": "closed", "2021-12-31": "14:30 to 21:00", "2022-06-20": "closed", "2024-07-03": "13:30 to 17:00",
		"2026-07-03": "closed",
	} {
		start, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		got := "closed"
		for _, s := range sessionsBetween(start, start.AddDate(0, 0, 1)) {
			got = time.Unix(0, s.open).UTC().Format("15:04 to ") + time.Unix(0, s.close).UTC().Format("15:04")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", day, got, want)
		}
	}
}

// Names of symbols are different and of letters.
func TestSymbols(t *testing.T) {
	for _, n := range []uint32{1000, 200_000} {
		seen := map[string]bool{}
		for symbol := range n {
			name, _ := symbolNames(n).Append(nil, symbol)
			if seen[string(name)] || len(name) < 4 {
				t.Fatalf("symbol %d of %d is %s", symbol, n, name)
			}
			seen[string(name)] = true
		}
	}
}

func TestMemory(t *testing.T) { workloadtest.Memory(t, open(t, spec(10_000, "late=0.1")), 0.001) }

func TestGolden(t *testing.T) { workloadtest.Golden(t, open(t, spec(4, "late=0.1")), 100, text) }

func TestBadSettings(t *testing.T) {
	for _, c := range []struct {
		problem string
		spec    func(*workload.Spec)
	}{
		{"--ticks skew: ", func(s *workload.Spec) { s.Settings.Set("ticks.skew", "3") }},
		{"--ticks quotes: ", func(s *workload.Spec) { s.Settings.Set("ticks.quotes", "0") }},
		{"--ticks late: ", func(s *workload.Spec) { s.Settings.Set("ticks.late", "1") }},
		{"--ticks delay: ", func(s *workload.Spec) { s.Settings.Set("ticks.delay", "5s..1s") }},
		{"--ticks precision: ", func(s *workload.Spec) { s.Settings.Set("ticks.precision", "1s") }},
		{"--scale: ", func(s *workload.Spec) { s.Scale = 0 }},
		{"--log-interval: ", func(s *workload.Spec) { s.Interval = 100 * time.Nanosecond }},
		{"--log-interval: ", func(s *workload.Spec) { s.Interval = time.Millisecond; s.Settings.Set("ticks.precision", "1ms") }},
		{"--timestamp-start: the stock exchange in New York is closed from 2016-01-01T00:00:00Z to 2016-01-02T00:00:00Z; choose trading days, such as 2016-01-04T00:00:00Z to 2016-01-05", func(s *workload.Spec) {
			s.Start = s.Start.AddDate(0, 0, -3)
			s.End = s.Start.AddDate(0, 0, 1)
		}},
		{"--timestamp-start: ", func(s *workload.Spec) { s.Start = s.Start.AddDate(-20, 0, 0) }},
		{"--initial-scale: ", func(s *workload.Spec) { s.InitialScale = 1 }},
		{"--max-metric-count: ", func(s *workload.Spec) { s.MaxMetrics = 1 }},
		{"--records-per-device: ", func(s *workload.Spec) { s.InARow = 2 }},
	} {
		s := spec(10)
		c.spec(&s)
		var bad *workload.SpecError
		if err := Workload().Check(s); !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.problem) {
			t.Errorf("%v, want %s…", err, c.problem)
		}
	}
}

// Two readers at once are two cores.
func BenchmarkGenerate(b *testing.B) {
	for _, readers := range []int{1, 2} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			s := spec(10_000)
			s.End = s.Start.AddDate(1, 0, 0)
			d := open(b, s)
			b.ReportAllocs()
			counts := make([]int, readers)
			var all sync.WaitGroup
			for i := range readers {
				all.Go(func() {
					r := workload.Share{Index: i, Count: readers}.Dataset(d).Open()
					var batch series.Batch
					for range b.N {
						if r.Next(&batch, 10_000) != nil {
							return
						}
						counts[i] += batch.Rows()
					}
				})
			}
			all.Wait()
			rows := 0
			for _, n := range counts {
				rows += n
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
