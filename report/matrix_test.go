package report_test

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// matrixRun has operations of every outcome, one after the other and at once.
func matrixRun(t *testing.T) *result.Run {
	t.Helper()
	complete, _ := fixture(t)
	run := *complete
	run.Dataset.Spec.Name = "iotdb"
	queriesOf := func(seed uint64, name string, n int, median time.Duration, fields int64) result.Queries {
		q := queries(t, seed, name, "", n, median, 50)
		q.Values, q.Accumulated = fields*q.Rows, []float64{0.49 * q.Service.Mean * float64(n), 0.47 * q.Service.Mean * float64(n)}
		return q
	}
	cutOff := queriesOf(3, "time-range", 400, 2*time.Millisecond, 2)
	cutOff.AtLeast = 3
	old := queries(t, 5, "group-by-time", "", 100, time.Millisecond, 4)
	unverified := queriesOf(6, "agg-time", 100, time.Millisecond, 1)
	unverified.Verdict = result.Verdict{}
	response := latencies(t, 9, 300, time.Millisecond)
	run.Targets = []result.Target{{
		Name: "duck", Driver: "duckdb", Description: complete.Targets[0].Description,
		Load: &result.Load{
			Workers: 2, BatchSize: 100, Rows: 10_000, Metrics: 100_000, Prepare: 0.0421, Sent: 1.9, Acked: 2, Settled: 2.5,
			Batches: latencies(t, 1, 100, 30*time.Millisecond), Accumulated: []float64{1.625, 1.5},
			Retries: &result.Retries{Tries: 2, Values: 2000, Cause: "cut"},
			Mixed: &result.Mixed{Wall: 5, Queriers: 2, Windows: "recent",
				Writes: result.Load{Workers: 2, BatchSize: 100, Rows: 20_000, Metrics: 200_000, Acked: 4.9,
					Batches: latencies(t, 2, 200, 40*time.Millisecond), Accumulated: []float64{4.25, 4}},
				Types: []result.MixedType{
					{Type: "latest-point", Executed: 400, Rows: 400, Values: 800, Accumulated: []float64{0.25, 0.5}, Service: response, Verdict: result.Verdict{Checked: 100}},
					{Type: "set-operation", Unsupported: "not supported: it has no sets"},
					{Type: "agg-value"},
				}},
		},
		Queries: []result.Queries{
			queriesOf(2, "precise-point", 1000, 180*time.Microsecond, 2), cutOff, old, unverified,
			{Type: "set-operation", Unsupported: "not supported: it has no sets"},
			{Type: "value-range", Withheld: "query 3: 1 rows in the answer, 2 expected", Verdict: result.Verdict{Checked: 3}},
		},
	}}
	return &run
}

func renderMatrices(t *testing.T, format write.Format, opts write.Options, runs ...*result.Run) string {
	t.Helper()
	var b strings.Builder
	if err := report.WriteMatrices(&b, format, runs, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMatrices(t *testing.T) {
	run := matrixRun(t)
	golden(t, "matrices.txt", renderMatrices(t, write.Text, write.Options{}, run))
	golden(t, "matrices-narrow.txt", renderMatrices(t, write.Text, write.Options{Width: 72}, run))
	golden(t, "matrices.md", renderMatrices(t, write.Markdown, write.Options{}, run))
	golden(t, "matrices.csv", renderMatrices(t, write.CSV, write.Options{}, run))
}

// A withheld figure never appears, and an unsupported operation is not a failure.
func TestMatricesWithout(t *testing.T) {
	read := csv.NewReader(strings.NewReader(renderMatrices(t, write.CSV, write.Options{}, matrixRun(t))))
	read.FieldsPerRecord = -1
	lines, err := read.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, line := range lines {
		want := map[string]string{"VALUE_RANGE": "", "SET_OPERATION": "n/a", "AGG_VALUE": ""}
		of, ok := want[line[0]]
		if !ok {
			continue
		}
		found++
		for i, text := range line[1 : len(line)-1] {
			if text != of {
				t.Errorf("%s: figure %d is %q, want %q", line[0], i, text, of)
			}
		}
		if line[len(line)-1] == "" {
			t.Errorf("%s: nothing says why it has no figures", line[0])
		}
	}
	if found != 8 {
		t.Errorf("%d lines without figures, want 8", found)
	}
}

func TestMatricesJSON(t *testing.T) {
	var list []struct {
		Run      string
		Matrices []struct {
			Target     string
			Operations []struct {
				Operation   string
				OK          *int64 `json:"ok_operation"`
				Unsupported string
				Latency     map[string]*float64
			}
		}
	}
	if err := json.Unmarshal([]byte(renderMatrices(t, write.JSON, write.Options{}, matrixRun(t))), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || len(list[0].Matrices) != 2 || len(list[0].Matrices[0].Operations) != 7 {
		t.Fatalf("%+v", list)
	}
	of := list[0].Matrices[0].Operations
	if *of[0].OK != 100 || *of[0].Latency["slowest_thread"] != 1.625 || of[5].OK != nil || of[5].Unsupported == "" || of[3].Latency["slowest_thread"] != nil {
		t.Errorf("%+v", of)
	}
	if text := renderMatrices(t, write.JSON, write.Options{}); text != "[]\n" {
		t.Errorf("no runs are %q", text)
	}
}

// The page of the workload iotdb has its matrices; the page of another one has them on
// request.
func TestMatricesInPage(t *testing.T) {
	run, other := matrixRun(t), *matrixRun(t)
	other.Dataset.Spec.Name = "cpu-only"
	for page, want := range map[string]bool{
		render(t, write.HTML, write.Options{}, run): true, render(t, write.HTML, write.Options{}, &other): false, renderMatrices(t, write.HTML, write.Options{}, &other): true,
	} {
		if got := strings.Contains(page, `id="matrices-`) && strings.Contains(page, "SLOWEST_THREAD"); got != want {
			t.Errorf("a page has matrices: %v, want %v", got, want)
		}
	}
}

func TestParseView(t *testing.T) {
	if v, err := write.ParseView("iotdb"); v != write.IoTDB || err != nil {
		t.Errorf("%s, %v", v, err)
	}
	if _, err := write.ParseView("iotbd"); err == nil || !strings.Contains(err.Error(), "iotdb") {
		t.Errorf("error %v, want one that offers iotdb", err)
	}
}
