//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package columnar_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// DuckDB, whose Parquet reader is another's work, finds what the batches hold:
// in each column as many values, and the same sums.
func TestDuckDBReadsParquet(t *testing.T) {
	dir := t.TempDir()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	dataset, err := tsbs.IoT().Dataset(workload.Spec{Name: "iot", Seed: 123, Scale: 10, Start: start, End: start.Add(3 * time.Hour), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	batches := batches(t, dataset, 1024)
	for name, data := range write(t, columnar.Formats()[0], dataset.Schema(), batches, 2500) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var db duck.Database
	var conn duck.Connection
	if duck.Open("", &db) != duck.StateSuccess || duck.Connect(db, &conn) != duck.StateSuccess {
		t.Fatal("DuckDB does not open")
	}
	defer duck.Close(&db)
	defer duck.Disconnect(&conn)
	// holds fails the test where the condition does not hold for the table.
	holds := func(table, condition string) {
		t.Helper()
		var result duck.Result
		defer duck.DestroyResult(&result)
		query := fmt.Sprintf("SELECT CASE WHEN %s THEN 1 ELSE error('it does not hold') END FROM '%s'",
			condition, filepath.Join(dir, table+".parquet"))
		if duck.Query(conn, query, &result) != duck.StateSuccess {
			t.Errorf("%s: %s: %s", table, condition, duck.ResultError(&result))
		}
	}
	for _, table := range dataset.Schema().Tables {
		want := want(table, batches)
		holds(table.Name, fmt.Sprintf("count(*) = %d", len(want.values[0])))
		holds(table.Name, `min(typeof("time")) = 'TIMESTAMP WITH TIME ZONE' OR min(typeof("time")) = 'TIMESTAMP_NS'`)
		for i, name := range want.names {
			values, texts, sum := 0, 0, 0.0
			for _, v := range want.values[i] {
				switch v := v.(type) {
				case nil:
					continue
				case string:
					texts += len(v)
				case float64:
					sum += v
				case int64:
					sum += float64(v)
				}
				values++
			}
			holds(table.Name, fmt.Sprintf("count(%q) = %d", name, values))
			holds(table.Name, fmt.Sprintf("count(*) FILTER (%q IS NULL) = %d", name, len(want.values[i])-values))
			switch {
			case name == "time":
				holds(table.Name, fmt.Sprintf("min(epoch_ns(%q)) = %d AND avg(epoch_ns(%q)) BETWEEN %.0f AND %.0f", name, start.UnixNano(), name, sum/float64(values)-1e6, sum/float64(values)+1e6))
			case texts > 0:
				holds(table.Name, fmt.Sprintf("sum(length(%q)) = %d", name, texts))
			default:
				holds(table.Name, fmt.Sprintf("abs(sum(%q) - (%v)) <= 1e-9 * abs(%v)", name, sum, sum))
			}
		}
	}
	holds("readings", "abs(avg(latitude)) < 1000 AND count(DISTINCT name) = 10")
}
