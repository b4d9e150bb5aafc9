package shared

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/workload"
)

// Operations of agents whose logs began at different times count from the common start, and each
// agent's workers are separate.
func TestReplay(t *testing.T) {
	p := &phase{team: &Team{Record: &record.Record{}}, into: newJoined(oplog.Cell{Kind: oplog.Query, Schedule: "8/s", Workers: 4, Queries: 4}, 0, nil), start: time.Now()}
	for agent, late := range []time.Duration{time.Second, 3 * time.Second} {
		var file bytes.Buffer
		begun := time.Now()
		log, err := oplog.NewWriter(&file, oplog.Header{Start: begun})
		if err != nil {
			t.Fatal(err)
		}
		section := log.Section(oplog.Cell{Kind: oplog.Query})
		for worker := range 2 {
			r := section.Recorder(worker, begun)
			at := late + time.Duration(10*(agent+1))*time.Millisecond
			r.Record(oplog.Op{Sequence: int64(2*worker + agent), Start: at, Intended: at - time.Millisecond, Lag: time.Millisecond, Duration: 5 * time.Millisecond, Rows: 1})
			r.Close()
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := oplog.NewReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		last, err := p.replay(r, workload.Share{Index: agent, Count: 2}, -late)
		if want := time.Duration(10*(agent+1)+5) * time.Millisecond; err != nil || last != want {
			t.Errorf("agent %d ended after %v, want %v: %v", agent, last, want, err)
		}
	}
	if want := (tally.Span{First: 9 * time.Millisecond, Last: 25 * time.Millisecond, Any: true}); p.into[0].tally.Span != want {
		t.Errorf("all took %+v, want %+v", p.into[0].tally.Span, want)
	}
	if got, want := p.into[0].tally.WorkerSeconds(), []float64{0.005, 0.005, 0.005, 0.005}; !slices.Equal(got, want) {
		t.Errorf("workers took %v, want %v", got, want)
	}
	if got, want := p.into[0].tally.QuerySeconds(), []float64{0.006, 0.006, 0.006, 0.006}; !slices.Equal(got, want) || p.behind != time.Millisecond {
		t.Errorf("queries took %v, want %v; behind by %v", got, want, p.behind)
	}
}

// The start is the mean over all agents' clocks, less the delay of each.
func TestStartOf(t *testing.T) {
	now := time.Now()
	at := startOf([]Outcome{{Started: now.Add(3 * time.Millisecond), Skew: time.Millisecond}, {}, {Started: now.Add(4 * time.Millisecond)}})
	if !at.Equal(now.Add(3*time.Millisecond)) || !startOf([]Outcome{{}}).IsZero() {
		t.Errorf("%v after", at.Sub(now))
	}
}
