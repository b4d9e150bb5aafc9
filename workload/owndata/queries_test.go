package owndata

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// propose returns the query types that are generated for a file of CSV, by name.
func propose(t *testing.T, text string) (map[string]ownqueries.Query, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &own{surveys: make(map[string]*survey)}
	spec, err := w.Survey(t.Context(), workload.Spec{Name: Name, Settings: workload.Settings{"own.files": QuoteFile(name)}}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	list, notes := w.ProposeQueries(spec)
	if err := ownqueries.Check(list, nil); err != nil {
		t.Error(err)
	}
	if err := ownqueries.Fit(list, w, spec); err != nil {
		t.Error(err)
	}
	byName := make(map[string]ownqueries.Query)
	for _, q := range list {
		byName[q.Name] = q
		queries, err := ownqueries.AddQueries(w, list).Queries(spec, q.Name, 20)
		if err != nil {
			t.Fatal(err)
		}
		for one := range queries {
			if q.Window > 0 && (one.End.After(spec.End) || !q.NoStart && one.Start.Before(spec.Start)) {
				t.Errorf("%s: the window from %v to %v is not in the data", q.Name, one.Start, one.End)
			}
		}
	}
	return byName, strings.Join(notes, "\n")
}

// sensors is CSV of some sensors with a row every period.
func sensors(n, rows int, period time.Duration) string {
	var text strings.Builder
	text.WriteString("time,sensor id,room,power,state\n")
	for row := range rows {
		at := time.Unix(1_700_000_000, 0).Add(time.Duration(row) * period).UTC().Format(time.RFC3339Nano)
		for s := range n {
			fmt.Fprintf(&text, "%s,s%d,r%d,%d,1.5\n", at, s, s%2, row)
		}
	}
	return text.String()
}

func TestProposedWindows(t *testing.T) {
	for period, name := range map[time.Duration]string{
		100 * time.Microsecond: "mean-1-millisecond-1", time.Second: "mean-10-seconds-1", 30 * time.Second: "mean-5-minutes-1", 24 * time.Hour: "mean-30-days-1",
	} {
		byName, _ := propose(t, sensors(8, 400, period))
		q, ok := byName[name]
		if !ok {
			t.Errorf("a row every %v has no %s", period, name)
			continue
		}
		if q.Every < 9*period || q.Window%q.Every != 0 || q.Window > 200*period {
			t.Errorf("a row every %v has buckets of %v and windows of %v", period, q.Every, q.Window)
		}
	}
}

func TestProposedThreshold(t *testing.T) {
	byName, _ := propose(t, sensors(2, 3000, time.Second))
	above := byName["above-threshold"].Above
	if above.Field != "power" || len(above.Value) != 3 {
		t.Fatalf("%+v", above)
	}
	for i, share := range []float64{0.9, 0.95, 0.99} {
		var v float64
		if _, err := fmt.Sscan(above.Value[i], &v); err != nil || v < 3000*(share-0.05) || v > 3000*(share+0.05) {
			t.Errorf("the quantile %v of 0 to 2999 is %s: %v", share, above.Value[i], err)
		}
	}
}

func TestProposedTypes(t *testing.T) {
	const noTag = "skipped query types: lastpoint, mean-10-seconds-1, mean-10-seconds-8, mean-10-seconds-by-tag, by-tag: table rows has no tag"
	for _, c := range []struct {
		name, text, has, lacks, note string
	}{
		{"tags", sensors(9, 60, time.Second), "lastpoint mean-10-seconds-1 mean-10-seconds-8 mean-10-seconds-by-sensor_id by-sensor_id by-room max-10-seconds-newest-10", "", ""},
		{"few series", sensors(3, 60, time.Second), "mean-10-seconds-1", "mean-10-seconds-8", "mean-10-seconds-8: tag sensor id has 3 values"},
		{"one series", sensors(1, 60, time.Second), "lastpoint mean-10-seconds-1", "by-room by-sensor_id mean-10-seconds-by-sensor_id", "has one value"},
		{"no tag", "time,v\n2024-01-01T00:00:00Z,1\n2024-01-01T00:00:30Z,2\n", "max-10-seconds-all", "lastpoint", noTag},
		{"no number", "time,s,on\n2024-01-01T00:00:00Z,a,true\n2024-01-01T00:00:30Z,b,false\n", "lastpoint", "by-s", "table rows has no field of numbers"},
		{"NaN", "time,s,v,w\n2024-01-01T00:00:00Z,a,NaN,1\n2024-01-01T00:00:30Z,b,1.5,2\n", "lastpoint", "", "which systems aggregate differently: v"},
		{"one time", "time,s,v\n2024-01-01T00:00:00Z,a,1\n", "lastpoint max-1-millisecond-all", "above-threshold", "above-threshold: no field has a value above most others"},
	} {
		byName, notes := propose(t, c.text)
		for _, name := range strings.Fields(c.has) {
			if _, ok := byName[name]; !ok {
				t.Errorf("%s: no %s\n%s", c.name, name, notes)
			}
		}
		for _, name := range strings.Fields(c.lacks) {
			if _, ok := byName[name]; ok {
				t.Errorf("%s: there is %s", c.name, name)
			}
		}
		if !strings.Contains(notes, c.note) {
			t.Errorf("%s: no note %q:\n%s", c.name, c.note, notes)
		}
	}
}
