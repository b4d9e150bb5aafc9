package workload_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

func day() workload.Spec {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	return workload.Spec{Name: "cpu-only", Seed: 123, Scale: 100, Start: start, End: start.Add(24 * time.Hour), Interval: 10 * time.Second}
}

// Windows have the distribution that is documented, keep their length, and lie
// within the span.
func TestWindows(t *testing.T) {
	spec := day()
	const length = time.Hour
	sequence, err := tsbs.CPUOnly().Queries(spec, "single-groupby-1-1-1", 20_000)
	if err != nil {
		t.Fatal(err)
	}
	drawn := slices.Collect(sequence)
	span := spec.End.Sub(spec.Start)
	for _, windows := range []workload.Windows{workload.Uniform, workload.Recent} {
		var distances []float64 // from the span's end, as shares of it
		for _, q := range drawn {
			hosts := q.In
			if !windows.Place(&q, spec.Start, spec.End, nil) || q.End.Sub(q.Start) != length || q.Start.Before(spec.Start) || q.End.After(spec.End) || q.In != hosts {
				t.Fatalf("%s: query %d from %v to %v", windows, q.ID, q.Start, q.End)
			}
			distances = append(distances, float64(spec.End.Sub(q.End))/float64(span))
		}
		slices.Sort(distances)
		room := 1 - float64(length)/float64(span)
		for _, p := range []float64{0.1, 0.5, 0.9, 0.99} {
			want := p * room
			if windows == workload.Recent {
				want = -0.1 * math.Log(1-p*-math.Expm1(-10*room))
			}
			if got := distances[int(p*float64(len(distances)))]; math.Abs(got-want) > 0.01 {
				t.Errorf("%s: %v of the windows end within %.4f of the span before its end, want %.4f", windows, p, got, want)
			}
		}
	}
}

// Where a window lies depends on the query and the span alone, on every
// machine.
func TestWindowsAreDeterministic(t *testing.T) {
	spec := day()
	sequence, err := tsbs.CPUOnly().Queries(spec, "single-groupby-1-1-1", 3)
	if err != nil {
		t.Fatal(err)
	}
	drawn := slices.Collect(sequence)
	var starts []string
	for _, windows := range []workload.Windows{workload.Uniform, workload.Recent} {
		for _, q := range drawn {
			windows.Place(&q, spec.Start, spec.End, nil)
			starts = append(starts, q.Start.Format("15:04:05.000000"))
		}
	}
	want := []string{
		"10:25:10.407000", "05:11:51.479000", "16:21:29.309000",
		"21:33:07.541000", "22:23:06.927000", "20:01:09.700000",
	}
	if diff := cmp.Diff(want, starts); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
}

// Windows that do not fit are left unchanged, and windows without a bound get the one they need.
func TestWindowsThatHaveNoRoom(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	for name, test := range map[string]struct {
		query query.Query
		span  time.Duration
		want  query.Query
		fits  bool
	}{
		"too short":   {query.Query{Start: at(5), End: at(time.Hour)}, time.Minute, query.Query{Start: at(5), End: at(time.Hour)}, false},
		"just fits":   {query.Query{Start: at(7 * time.Hour), End: at(8 * time.Hour)}, time.Hour, query.Query{Start: start, End: at(time.Hour)}, true},
		"all":         {query.Query{Shape: query.Last{}}, time.Hour, query.Query{Shape: query.Last{}, End: at(time.Hour)}, true},
		"all of none": {query.Query{Shape: query.Last{}}, 0, query.Query{Shape: query.Last{}, End: start}, false},
		"no start":    {query.Query{Shape: query.Buckets{Width: time.Minute, Limit: 5}, End: at(9 * time.Hour)}, 5 * time.Minute, query.Query{Shape: query.Buckets{Width: time.Minute, Limit: 5}, End: at(5 * time.Minute)}, true},
		"too early":   {query.Query{Shape: query.Buckets{Width: time.Minute, Limit: 5}, End: at(9 * time.Hour)}, 4 * time.Minute, query.Query{Shape: query.Buckets{Width: time.Minute, Limit: 5}, End: at(9 * time.Hour)}, false},
	} {
		for _, windows := range []workload.Windows{workload.Uniform, workload.Recent} {
			q := test.query
			if fits := windows.Place(&q, start, at(test.span), nil); fits != test.fits || fits && cmp.Diff(test.want, q) != "" {
				t.Errorf("%s, %s: fits %v, %+v", name, windows, fits, q)
			}
		}
	}
}

// Windows end in sessions, begin in them if they are shorter, and keep their length.
func TestWindowsInSessions(t *testing.T) {
	start := time.Date(2016, 1, 4, 0, 0, 0, 0, time.UTC)
	var sessions []series.Session
	for day := range 10 {
		open := start.Add(time.Duration(day)*24*time.Hour + 14*time.Hour)
		sessions = append(sessions, series.Session{Open: open.UnixNano(), Close: open.Add(6 * time.Hour).UnixNano()})
	}
	sessionOf := func(at time.Time) int {
		return slices.IndexFunc(sessions, func(s series.Session) bool { return s.Open <= at.UnixNano() && at.UnixNano() <= s.Close })
	}
	for _, span := range []time.Duration{10 * 24 * time.Hour, 9*24*time.Hour + 17*time.Hour, 15 * time.Hour} {
		for _, length := range []time.Duration{30 * time.Minute, 6 * time.Hour, 80 * time.Hour} {
			for windows, latest := range map[workload.Windows]float64{workload.Uniform: 0.02, workload.Recent: 0.3, workload.Sliding: 0, workload.SlidingBy(0): 0} {
				ends, last := map[int]float64{}, 0
				for id := range 1000 {
					q := query.Query{ID: id, Start: start, End: start.Add(length)}
					if !windows.Place(&q, start, start.Add(span), sessions) {
						if length <= 15*time.Hour || span > length {
							t.Fatalf("%s: %v does not fit into %v", windows, length, span)
						}
						continue
					}
					at := sessionOf(q.End)
					if at < 0 || q.Start.Before(start) || q.End.After(start.Add(span)) || q.End.Sub(q.Start) != length || length < time.Hour && sessionOf(q.Start) != at {
						t.Fatalf("%s: from %v to %v", windows, q.Start, q.End)
					}
					ends[at]++
					last = max(last, at)
				}
				if n := ends[last] / 1000; length < time.Hour && (n < latest || span > 24*time.Hour && windows == workload.Uniform && n > 0.2) {
					t.Errorf("%s: %v of windows of %v in %v end in the last session", windows, n, length, span)
				}
			}
		}
	}
}

// Sliding windows advance by the given step, restart at the end, and all lie at the beginning if
// the step is 0.
func TestSlidingWindows(t *testing.T) {
	spec := day()
	for windows, want := range map[workload.Windows][]time.Duration{
		"sliding":                           {0, 72 * time.Second, 144 * time.Second},
		workload.SlidingBy(5 * time.Minute): {0, 5 * time.Minute, 10 * time.Minute},
		workload.SlidingBy(10 * time.Hour):  {0, 10 * time.Hour, 20 * time.Hour, 0},
		workload.SlidingBy(0):               {0, 0, 0},
	} {
		if err := windows.Check(); err != nil {
			t.Error(err)
		}
		for id, at := range want {
			q := query.Query{ID: id, Start: spec.Start.Add(time.Hour), End: spec.Start.Add(2 * time.Hour)}
			if !windows.Place(&q, spec.Start, spec.End, nil) {
				t.Fatalf("%s: window %d does not fit", windows, id)
			}
			if got := q.Start.Sub(spec.Start); got != at || q.End.Sub(q.Start) != time.Hour {
				t.Errorf("%s: window %d begins after %s and lasts %s, want %s", windows, id, got, q.End.Sub(q.Start), at)
			}
		}
	}
	for _, wrong := range []workload.Windows{"sliding:", "sliding5s", "sliding:-5s", "sliding:5", "Sliding"} {
		if wrong.Check() == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
