package oracle_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// For any number of arrived rows, the answers are those of a dataset with just these rows, and
// answers about untouched parts have not changed.
func TestGrowingAgreesWithPass(t *testing.T) {
	for _, use := range []workload.Workload{tsbs.CPUOnly(), tsbs.IoT()} {
		s := spec(35, 25*time.Hour)
		s.Name, s.Interval = use.Name(), 3*time.Minute
		d, err := use.Dataset(s)
		if err != nil {
			t.Fatal(err)
		}
		var queries []query.Query
		for _, qt := range use.QueryTypes() {
			sequence, err := use.Queries(s, qt.Name, 2)
			if err != nil {
				t.Fatal(err)
			}
			queries = slices.AppendSeq(queries, sequence)
		}
		growing, err := oracle.NewGrowing(d.Schema(), queries)
		if err != nil {
			t.Fatal(err)
		}
		var b series.Batch
		rows := int64(0)
		before := make([]int64, len(queries))
		for r := d.Open(); ; {
			if err := r.Next(&b, 2999); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			rows += int64(b.Rows())
			touched := map[int]bool{}
			for _, i := range growing.Add(&b) {
				touched[i] = true
			}
			x, err := oracle.Pass(t.Context(), workload.LimitRows(d, rows), queries, nil, ignore)
			if err != nil {
				t.Fatal(err)
			}
			for i := range queries {
				got, want := growing.Expectation(i), x.Full[i]
				right := got.Rows == want.Rows && growing.Rows(i) == want.Rows && (touched[i] || want.Rows == before[i])
				if right && want.Digest != nil {
					right = got.Digest.Equal(want.Digest)
				} else if right {
					columns := queries[i].Columns(d.Schema().Table(queries[i].Table))
					right = query.Compare(&queries[i], columns, want.Answer, got.Answer) == nil
				}
				if !right {
					t.Fatalf("%s %d after %d rows: %d and %d rows in the answer (touched: %v), want %d; or other values",
						queries[i].Type, queries[i].ID, rows, got.Rows, growing.Rows(i), touched[i], want.Rows)
				}
				before[i] = want.Rows
			}
		}
	}
}

// Lateness is by how much a row is behind the newest one before it.
func TestLateness(t *testing.T) {
	d, err := tsbs.CPUOnly().Dataset(spec(5, time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	x, err := oracle.Pass(t.Context(), d, nil, nil, ignore)
	if err != nil || x.Survey.Lateness != 0 {
		t.Errorf("rows in order: late by %v, error %v", x.Survey.Lateness, err)
	}
	// One batch of the oracle's holds all of the hour, and late turns it round.
	const want = 59*time.Minute + 50*time.Second
	if x, err = oracle.Pass(t.Context(), late{d}, nil, nil, ignore); err != nil || x.Survey.Lateness != want {
		t.Errorf("rows in reverse: late by %v, error %v; want %v", x.Survey.Lateness, err, want)
	}
}
