package analysis_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/analysis"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The figures of a mixed phase can be computed from its log: those of the writes, and of each type,
// including queries with recorded answers but without their times.
func TestMixed(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{
		Name: "cpu-only", Seed: 1, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	render := func(q *query.Query, _ *series.Schema) (driver.Request, error) {
		if q.Type == "slow" {
			return driver.Request{Text: "16"}, nil // never answered
		}
		return driver.Request{Text: "15"}, nil
	}
	lastOf := query.Query{Table: "cpu", Shape: query.Last{By: "hostname", Fields: []string{"usage_user"}}}
	var out bytes.Buffer
	log, err := oplog.NewWriter(&out, oplog.Header{})
	if err != nil {
		t.Fatal(err)
	}
	var types []engine.MixedQueries
	for _, name := range []string{"fast", "slow"} {
		q := lastOf
		q.Type = name
		types = append(types, engine.MixedQueries{Type: name, Queries: []query.Query{q}, Log: log.Section(oplog.Cell{
			Kind: oplog.Query, Part: oplog.Mixed, Type: name, Schedule: "1000/s", Workers: 2,
		})})
	}
	writes := oplog.Cell{Kind: oplog.Load, Part: oplog.Mixed, Schedule: "100000/s", Workers: 3}
	want, _, err := engine.RunMixed(t.Context(), engine.MixedConfig{
		LoadConfig: engine.LoadConfig{Workers: 3, BatchSize: 500, Log: log.Section(writes)},
		Queriers:   2, Timeout: 5 * time.Millisecond, Queue: 1000, Start: start, Windows: workload.Uniform, Keep: 10,
		RowRate: pace.Constant(100_000), QueryRate: pace.Constant(1000),
	}, d, driver.DB{Required: stub{}}, render, types, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := oplog.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.Log(reader, 0)
	if err != nil || len(a.Cells) != 3 || a.Cells[0].Part != oplog.Mixed {
		t.Fatalf("error %v, cells %+v", err, a.Cells)
	}
	got := a.Cells[0]
	got.Load.BatchSize, got.Load.Settled = want.Writes.BatchSize, want.Writes.Settled
	if !reflect.DeepEqual(got.Load, &want.Writes) || got.Load.Rows != 36_000 || !reflect.DeepEqual(got.Response, want.Response) {
		t.Errorf("the log says of the writes\n%+v\nthe engine\n%+v", got.Load, want.Writes)
	}
	for i := range want.Types {
		of, q := &want.Types[i], a.Cells[1+i].Queries
		logged := *of
		logged.Type, logged.Executed, logged.AtLeast, logged.Rows, logged.Bytes, logged.Values = q.Type, q.Executed, q.AtLeast, q.Rows, q.Bytes, q.Values
		logged.Service, logged.Response, logged.Accumulated = q.Service, &q.Open.Response, q.Accumulated
		if !reflect.DeepEqual(&logged, of) || q.Service.Count != q.Executed || of.Executed == 0 {
			t.Errorf("%s: the log says\n%+v\nthe engine\n%+v", of.Type, &logged, of)
		}
	}
	if slow := &want.Types[1]; slow.AtLeast == 0 || slow.AtLeast != slow.Service.Count {
		t.Errorf("%d cut off, %d latencies", slow.AtLeast, slow.Service.Count)
	}
}
