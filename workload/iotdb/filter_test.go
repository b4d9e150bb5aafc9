package iotdb

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// Drawn constants are values in the query's window, so that no answer is empty; other operators have
// the constant of the setting.
func TestFilters(t *testing.T) {
	for _, settings := range []workload.Settings{
		{}, {"iotdb.unaligned": "true", "iotdb.irregular": "true"}, {"iotdb.values": "shared-buffer", "iotdb.device-groups": "2"}, {"iotdb.types": "0:0:0:1"},
	} {
		spec := base()
		spec.Settings = settings
		for filter, compare := range map[string]query.Comparison{"= drawn": query.Equal, "<3": query.Less, "> 3": query.Greater, "= 3": query.Equal} {
			spec.QuerySettings = workload.Settings{"iotdb.filter": filter, "iotdb.span": "1m"}
			for _, name := range []string{"value-range", "agg-value"} {
				sequence, err := Workload().Queries(spec, name, 6)
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range slices.Collect(sequence) {
					if q.Filter.Compare != compare || filter != "= drawn" && q.Filter.Value != 3 {
						t.Fatalf("filter %q of %s is %+v", filter, name, q.Filter)
					}
					if filter != "= drawn" {
						continue
					}
					if answer, err := oracle.Rows(t.Context(), dataset(t, spec), &q); err != nil || len(answer.Rows) == 0 {
						t.Errorf("%v: no row of %v has %s = %v from %v to %v: %v", settings, q.In.Values, q.Filter.Field, q.Filter.Value, q.Start.Format(time.TimeOnly), q.End.Format(time.TimeOnly), err)
					}
				}
			}
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for filter, want := range map[string]string{
		"5":         `must be >, < or = and a number from -1e15 to 1e15, such as "> -5", or "= drawn"`,
		">= 5":      "must be >, < or =",
		"> drawn":   "must be >, < or =",
		"< NaN":     "must be >, < or =",
		"= 1e16":    "must be >, < or =",
		"sensors 2": "set iotdb-queries sensors to 1, or compare with a number",
	} {
		spec := base()
		if spec.QuerySettings["iotdb.filter"] = filter; filter == "sensors 2" {
			spec.QuerySettings = workload.Settings{"iotdb.filter": "= drawn", "iotdb.sensors": "2"}
		}
		if _, err := Workload().Queries(spec, "value-range", 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", filter, err, want)
		}
	}
}
