package verify_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
)

// holds is a target with only a census, by table.
type holds struct {
	driver.Required
	tables map[string]driver.Census
}

func (h holds) Census(_ context.Context, t *series.Table) (driver.Census, error) {
	return h.tables[t.Name], nil
}

// 100 rows were sent to each of two tables, in which the field b has 60
// values.
func TestCensus(t *testing.T) {
	survey := &oracle.Survey{}
	for _, name := range []string{"cpu", "mem"} {
		table := conformance.Table("a", "b")
		table.Name = name
		survey.Tables = append(survey.Tables, oracle.Census{Table: table, Rows: 100, Fields: []oracle.Content{{Count: 100}, {Count: 60}}})
	}
	holding := func(rows, a, b int64) driver.Census {
		return driver.Census{Rows: rows, Fields: []driver.Content{{Count: a}, {Count: b}}}
	}
	right := holding(100, 100, 60)
	acked := verify.Sent{Acknowledged: true}
	for name, c := range map[string]struct {
		cpu, mem         driver.Census
		sent             verify.Sent
		lost, duplicates int64
		problems         []string // in cpu, mem
	}{
		"agrees":                         {right, right, acked, 0, 0, []string{"", ""}},
		"lost":                           {holding(93, 93, 60), right, acked, 7, 0, []string{"table cpu holds 93 rows, 100 expected; 7 of its rows are lost: the target had acknowledged them", ""}},
		"missing, never acknowledged":    {holding(93, 93, 60), right, verify.Sent{}, 0, 0, []string{"table cpu holds 93 rows, 100 expected", ""}},
		"lost, counted in points":        {holding(-1, 95, 57), right, acked, 5, 0, []string{"holds 95 values of a, 100 expected; 5 of its rows are lost", ""}},
		"a value is missing":             {holding(100, 99, 60), right, acked, 0, 0, []string{"holds 99 values of a, 100 expected", ""}},
		"duplicates":                     {holding(110, 110, 66), right, verify.Sent{Acknowledged: true, Twice: 10}, 0, 10, []string{"", ""}},
		"duplicates in both":             {holding(110, 110, 66), holding(105, 105, 65), verify.Sent{Twice: 15}, 0, 15, []string{"", ""}},
		"more than both can have":        {holding(110, 110, 66), holding(105, 105, 65), verify.Sent{Twice: 14}, 0, 10, []string{"", "table mem holds 105 rows, 100 expected, and 4 at most were sent twice"}},
		"nothing was sent twice":         {holding(101, 101, 60), right, acked, 0, 0, []string{"table cpu holds 101 rows, 100 expected", ""}},
		"duplicates with too many of b":  {holding(110, 110, 71), right, verify.Sent{Twice: 10}, 0, 10, []string{"holds 71 values of b, 60 expected", ""}},
		"duplicates without a value":     {holding(110, 110, 59), right, verify.Sent{Twice: 10}, 0, 10, []string{"holds 59 values of b, 60 expected", ""}},
		"duplicates, counted in points":  {holding(-1, 110, 66), right, verify.Sent{Twice: 10}, 0, 10, []string{"", ""}},
		"lost although others are twice": {holding(96, 96, 60), right, verify.Sent{Acknowledged: true, Twice: 10}, 4, 0, []string{"4 of its rows are lost", ""}},
	} {
		found, err := verify.Census(t.Context(), driver.DB{Required: holds{tables: map[string]driver.Census{"cpu": c.cpu, "mem": c.mem}}}, survey, c.sent, nil)
		if err != nil {
			t.Fatal(err)
		}
		load := result.Load{Census: found}
		if load.LostRows() != c.lost || load.Duplicates() != c.duplicates {
			t.Errorf("%s: %d lost, %d duplicates; want %d, %d", name, load.LostRows(), load.Duplicates(), c.lost, c.duplicates)
		}
		for i, want := range c.problems {
			if got := found[i].Problem; !strings.Contains(got, want) || (got == "") != (want == "") {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if lost := strings.Join(slices.Collect(func(yield func(string) bool) {
			for _, r := range found {
				if !yield(r.Problem) {
					return
				}
			}
		}), ""); strings.Contains(lost, "lost") != (c.lost > 0) {
			t.Errorf("%s: %q speaks of lost rows", name, lost)
		}
	}
}
