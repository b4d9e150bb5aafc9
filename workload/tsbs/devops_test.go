package tsbs

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// goldenSpec is what TSBS's golden query texts were made with.
func goldenSpec() workload.Spec {
	return workload.Spec{
		Name: "cpu-only", Seed: 123, Scale: 100, Interval: 10 * time.Second,
		Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC),
		End:   time.Date(2016, 1, 4, 0, 0, 1, 0, time.UTC),
	}
}

func texts(t *testing.T, use workload.Workload, queryType string, n int) []string {
	sequence, err := use.Queries(goldenSpec(), queryType, n)
	if err != nil {
		t.Fatal(err)
	}
	queries := slices.Collect(sequence)
	out := make([]string, n)
	for i := range queries {
		out[i] = TimescaleDB(&queries[i]).String()
	}
	return out
}

// The first 100 queries of every type, word for word as TSBS generates them.
func TestTimescaleDBGoldenSums(t *testing.T) {
	file, err := os.Open("testdata/tsbs-golden-queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if f := strings.Fields(lines.Text()); f[0] == "timescaledb" {
			want[f[1]] = f[2]
		}
	}
	for _, use := range []workload.Workload{CPUOnly(), IoT()} {
		for _, qt := range use.QueryTypes() {
			hash := sha256.New()
			for _, text := range texts(t, use, qt.Name, 100) {
				hash.Write([]byte(text + "\n"))
			}
			if got := hex.EncodeToString(hash.Sum(nil))[:16]; got != want[qt.Name] {
				t.Errorf("%s: sum %s, TSBS has %q", qt.Name, got, want[qt.Name])
			}
		}
	}
}

// The example texts, for a difference that a reader can see.
func TestTimescaleDBExamples(t *testing.T) {
	data, err := os.ReadFile("testdata/tsbs-query-examples-devops.txt")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, section := range strings.Split(string(data), "##### ") {
		title, body, _ := strings.Cut(section, "\n")
		queryType, kind, _ := strings.Cut(title, " ")
		if kind != "timescaledb" {
			continue
		}
		tested++
		if got := texts(t, CPUOnly(), queryType, 1)[0]; strings.TrimRight(got, "\n") != strings.TrimRight(body, "\n") {
			t.Errorf("%s: got\n%s\nTSBS has\n%s", queryType, got, body)
		}
	}
	if tested != 8 {
		t.Errorf("%d examples tested, the file has 8 for timescaledb", tested)
	}
}

// The first query of the first type, as the issue tracker quotes it.
func TestFirstQuery(t *testing.T) {
	sequence, err := CPUOnly().Queries(goldenSpec(), "single-groupby-1-1-1", 1)
	if err != nil {
		t.Fatal(err)
	}
	queries := slices.Collect(sequence)
	q := queries[0]
	if got := q.Start.Format(time.RFC3339Nano); got != "2016-01-03T12:26:46.646325Z" || q.In.Values[0] != "host_49" {
		t.Errorf("%s from %s, want host_49 from 2016-01-03T12:26:46.646325Z", q.In.Values[0], got)
	}
}

// A TSBS user lengthens the end by a second for the queries; we do it where
// that was not done.
func TestEndMayBeLengthenedAlready(t *testing.T) {
	lengthened, plain := goldenSpec(), goldenSpec()
	plain.End = plain.End.Add(-time.Second)
	for _, qt := range CPUOnly().QueryTypes() {
		a, errA := CPUOnly().Queries(lengthened, qt.Name, 20)
		b, errB := CPUOnly().Queries(plain, qt.Name, 20)
		if errA != nil || errB != nil || !reflect.DeepEqual(slices.Collect(a), slices.Collect(b)) {
			t.Errorf("%s: other queries without the second (%v, %v)", qt.Name, errA, errB)
		}
	}
}

func TestImpossibleQueries(t *testing.T) {
	for _, test := range []struct {
		queryType, setting string
		change             func(*workload.Spec)
	}{
		{"cpu-max-all-32-24", "scale", func(s *workload.Spec) { s.Scale = 31 }},
		{"cpu-max-all-32-24", "timestamp-end", func(s *workload.Spec) { s.End = s.Start.Add(23 * time.Hour) }},
	} {
		spec := goldenSpec()
		test.change(&spec)
		_, err := CPUOnly().Queries(spec, test.queryType, 1)
		var bad *workload.SpecError
		if !errors.As(err, &bad) || bad.Setting != test.setting {
			t.Errorf("%s: error %v, want one about --%s", test.queryType, err, test.setting)
		}
	}
	// One second less is accepted: a day's dataset supports windows of a day.
	spec := goldenSpec()
	spec.End = spec.Start.Add(24 * time.Hour)
	if _, err := CPUOnly().Queries(spec, "cpu-max-all-32-24", 10); err != nil {
		t.Errorf("windows of a day over a day: %v", err)
	}
}

// A batch of few hosts has a run for each ten rows or so, and none has room for many more:
// thousands of runs with room for a whole batch were gigabytes.
func TestRunsHaveRoomForTheirRows(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, w := range []workload.Workload{Devops(), DevopsGeneric(), IoT()} {
		d, err := w.Dataset(workload.Spec{Name: w.Name(), Seed: 123, Scale: 10, Start: start, End: start.Add(24 * time.Hour), Interval: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		var b series.Batch
		if err := d.Open().Next(&b, 10_000); err != nil {
			t.Fatal(err)
		}
		room := 0
		for i := range b.Runs {
			room += cap(b.Runs[i].Times)
		}
		if room > 5*b.Rows() {
			t.Errorf("%s: %d runs have room for %d rows, and hold %d", w.Name(), len(b.Runs), room, b.Rows())
		}
	}
}
