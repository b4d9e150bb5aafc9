package witness_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/witness"
	"github.com/tsmark/tsmark/workload/file/witness/duckdb"
)

// A value that the second reader reads otherwise is named with file, row and column.
func TestDifference(t *testing.T) {
	table := &series.Table{Name: "t", Fields: []series.Field{{Name: "v", Type: series.Float}}}
	for format, c := range map[string]struct{ name, text string }{
		witness.CSV: {"t.csv", "time,v\n1,1.50\n2,\n3,3.5e0\n"}, witness.Objects: {"t.ndjson", "{\"time\":1,\"v\":1.50}\n{\"time\":2}\n{\"time\":3,\"v\":3.5e0}\n"},
		witness.Points: {"t.lp", "t v=1.50 1\nt w=1 2\nt v=3.5e0 3\n"},
	} {
		t.Run(format, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.name)
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			for third, want := range map[float64]string{3.5: "", 3.25: "t" + filepath.Ext(path) + ":row 2: column v: tsmark reads 3.25 and "} {
				var b series.Batch
				run := b.Add(table)
				run.Grow(3)
				copy(run.Times, []int64{1e9, 2e9, 3e9})
				copy(run.Columns[0].Floats, []float64{1.5, 0, third})
				clear(run.Series)
				run.SetNull(0, 1)
				s := witness.NewSample(1)
				s.Add(0, 0, &b)
				found, err := s.Check(t.Context(), duckdb.Library(), 1, func(int) (witness.File, error) {
					return witness.File{Path: path, Format: format, Header: []string{"time", "v"}, HasHeader: true, Delimiter: ',', Time: "time", TimeFormat: "s", Loads: func(string) bool { return true }, Rows: 3}, nil
				})
				if format != witness.Points && len(found.Skipped) == 1 && strings.Contains(found.Skipped[0], "without DuckDB") {
					t.Skip(found.Skipped[0])
				}
				var d *witness.Difference
				if errors.As(err, &d) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
				if want == "" && (found.Rows != 3 || found.Columns != 2 || len(found.Skipped) > 0) {
					t.Errorf("got %+v", found)
				}
			}
		})
	}
}
