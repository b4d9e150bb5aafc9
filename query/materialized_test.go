package query

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// An aggregate answers what can be made of its buckets, and nothing else.
func TestMaterializedAnswers(t *testing.T) {
	m := &Materialized{Table: "cpu", Bucket: time.Hour, Aggregates: []Aggregate{Avg, Max}, Fields: []string{"user", "idle"}}
	start := time.Date(2016, 1, 1, 5, 0, 0, 0, time.UTC)
	fits := func(change func(*Query, *Buckets)) *Query {
		q, s := &Query{Table: "cpu", Start: start, End: start.Add(12 * time.Hour)}, Buckets{Aggregate: Max, Fields: []string{"idle"}, Width: 2 * time.Hour}
		change(q, &s)
		q.Shape = s
		return q
	}
	for want, change := range map[string]func(*Query, *Buckets){
		"":                                    func(*Query, *Buckets) {},
		"it reads table mem":                  func(q *Query, _ *Buckets) { q.Table = "mem" },
		"it chooses rows by a value":          func(q *Query, _ *Buckets) { q.Filter = &ValueFilter{Field: "idle"} },
		"buckets of 30m0s are not a multiple": func(_ *Query, s *Buckets) { s.Width = 30 * time.Minute },
		"its window begins within":            func(q *Query, _ *Buckets) { q.Start = start.Add(time.Nanosecond) },
		"its window ends within":              func(q *Query, _ *Buckets) { q.End = q.End.Add(-time.Minute) },
		"it computes the min":                 func(_ *Query, s *Buckets) { s.Aggregate = Min },
		"it reads field steal":                func(_ *Query, s *Buckets) { s.Fields = []string{"idle", "steal"} },
	} {
		err := m.Answers(fits(change))
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := m.Answers(&Query{Table: "cpu", Shape: Last{By: "host"}}); err == nil {
		t.Error("it answers newest rows")
	}
	if kept := m.StoredAggregates(); !slices.Equal(kept, []Aggregate{Sum, Count, Max}) {
		t.Errorf("it keeps %v", kept)
	}
	for width, want := range map[time.Duration]string{time.Hour: "cpu_1h", 90 * time.Minute: "cpu_1h30m", time.Minute: "cpu_1m", 90 * time.Second: "cpu_1m30s", 1500 * time.Millisecond: "cpu_1_5s", 24 * time.Hour: "cpu_24h"} {
		if got := (&Materialized{Table: "cpu", Bucket: width}).Name(); got != want {
			t.Errorf("%v: %s, want %s", width, got, want)
		}
	}
}
