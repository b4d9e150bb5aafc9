package verify_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/peertest"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// byClients has several clients execute the phase of a dataset's second half, and checks their
// answers together.
func byClients(t *testing.T, n int, kind driver.Driver, cfg engine.MixedConfig) *result.Mixed {
	t.Helper()
	s := spec()
	d, err := tsbs.CPUOnly().Dataset(s)
	if err != nil {
		t.Fatal(err)
	}
	list := queriesOf(t, s, someTypes...)
	db, err := kind.Open(t.Context(), driver.Env{Create: true}, nil)
	if err == nil {
		err = session.New(db).Prepare(t.Context(), d.Schema(), session.Mark{})
	}
	if err == nil {
		_, err = engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 1000}, workload.LimitRows(d, cfg.Loaded), db, ignore)
	}
	if err != nil {
		t.Fatal(err)
	}
	together := peertest.New(n, 5*time.Millisecond)
	// All begin at one instant.
	at := time.Now().Add(100 * time.Millisecond)
	cfg.LoadConfig.Start = func(context.Context) (time.Time, error) { return at, nil }
	out := &result.Mixed{}
	all := &engine.Journal{Loaded: cfg.Loaded, Types: make([]engine.AnsweredType, len(list))}
	for _, q := range list {
		out.Types = append(out.Types, result.MixedType{Type: q.Type})
	}
	journals := make([]*engine.Journal, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			own, share := cfg, workload.Share{Index: i, Count: n}
			own.Part = engine.MixedPart{Share: share, Own: share.Reader, Peers: together.Client(i)}
			m, journal, err := engine.RunMixed(t.Context(), own, d, db, kind.Renderer(nil), list, ignore)
			if err != nil || m.Problem() != "" {
				t.Errorf("client %d: %v, %s", i, err, m.Problem())
			}
			journals[i] = journal
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, j := range journals {
		all.Shares = append(all.Shares, j.Shares...)
		for kind := range j.Types {
			all.Types[kind].Full = append(all.Types[kind].Full, j.Types[kind].Full...)
			all.Types[kind].Counted = append(all.Types[kind].Counted, j.Types[kind].Counted...)
		}
	}
	if all.HandedRows() != 14_400-cfg.Loaded {
		t.Errorf("%d rows were handed over", all.HandedRows())
	}
	if err := verify.CheckMixed(t.Context(), d, all, out, verify.MixedProgress{}); err != nil {
		t.Fatal(err)
	}
	return out
}

// Exact answers to several clients are neither stale nor wrong, however far one client gets ahead.
func TestMixedOfClientsExact(t *testing.T) {
	for n := 1; n <= 4; n++ {
		var batches atomic.Int64
		uneven := hinder(memory.Driver("memory"), hindered{writer: func(w driver.Writer) driver.Writer {
			return writeFunc{w, func(ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
				time.Sleep(time.Duration(1+batches.Add(1)%7) * time.Millisecond)
				return w.Write(ctx, b)
			}}
		}})
		cfg := config(spec())
		cfg.BatchSize = 60
		out := byClients(t, n, uneven, cfg)
		if out.Problem() != "" {
			t.Errorf("%d clients: %s", n, out.Problem())
		}
		for _, q := range out.Types {
			if !q.Verdict.OK() || q.Stale > 0 || q.Unexamined > 0 || q.Verdict.Checked == 0 {
				t.Errorf("%d clients, %s: %s, %d stale, %d not examined", n, q.Type, q.Verdict, q.Stale, q.Unexamined)
			}
		}
	}
}

// Rows of another client that are shown late make answers stale, with a known delay.
func TestMixedOfClientsStale(t *testing.T) {
	const delay = 60 * time.Millisecond
	for n := 2; n <= 4; n++ {
		stale := int64(0)
		for range 3 {
			cfg := config(spec())
			cfg.BatchSize = 60
			out := byClients(t, n, slow(memory.SlowDriver("delayed", delay)), cfg)
			if p := out.Problem(); p != "" {
				t.Fatalf("%d clients: wrong, not stale: %s", n, p)
			}
			for _, q := range out.Types {
				stale += q.Stale
				if f := q.Freshness; f.Count != q.Stale || f.Max > delay.Seconds() || f.Min < 0 {
					t.Errorf("%d clients, %s: %d stale, by %v to %v s; want up to %v", n, q.Type, q.Stale, f.Min, f.Max, delay)
				}
			}
			if stale > 0 {
				break
			}
		}
		if stale == 0 {
			t.Errorf("%d clients: no answer of a target that shows rows late is stale", n)
		}
	}
}

// A target that returns wrong answers to one client, or loses a row of one client, is detected.
func TestMixedOfClientsWrong(t *testing.T) {
	var answers, batches atomic.Int64
	for name, test := range map[string]hindered{
		"a row of a batch lost": {writer: func(w driver.Writer) driver.Writer {
			return writeFunc{w, func(ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
				if run := &b.Runs[0]; batches.Add(1)%5 == 0 { // and another one twice
					last := run.Rows() - 1
					run.Series[last], run.Times[last] = run.Series[0], run.Times[0]
				}
				time.Sleep(time.Millisecond)
				return w.Write(ctx, b)
			}}
		}},
		"rows beyond the window": {querier: func(q driver.Querier) driver.Querier {
			return doFunc{q, func(ctx context.Context, q driver.Querier, r driver.Request, sink query.Sink) (driver.Cost, error) {
				if answers.Add(1)%2 == 0 {
					r.Text = strings.Replace(r.Text, `"end":"2016-01-01T0`, `"end":"2016-01-01T1`, 1)
				}
				return q.Do(ctx, r, sink)
			}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(spec())
			cfg.BatchSize = 60
			out := byClients(t, 3, slow(hinder(memory.Driver("memory"), test)), cfg)
			if !strings.Contains(out.Problem(), "no older state matches it") {
				t.Errorf("problem %q", out.Problem())
			}
		})
	}
}

// Concurrent batches may become visible in any order, not only in order of start or
// acknowledgement. An answer for such a state is stale; an answer that matches no such state is
// wrong.
func TestMixedAnyOrder(t *testing.T) {
	d, err := tsbs.CPUOnly().Dataset(spec())
	if err != nil {
		t.Fatal(err)
	}
	const loaded, rows, batches = 7200, 100, 5
	reader := d.Open()
	read := func(rows int) *series.Batch {
		all := new(series.Batch)
		if err := reader.Next(all, rows); err != nil || all.Rows() != rows {
			t.Fatal(all.Rows(), err)
		}
		return all
	}
	q := queriesOf(t, spec(), "double-groupby-1")[0].Queries[0]
	q.End = spec().Start.Add((loaded + rows*batches) / 20 * 10 * time.Second)
	q.Start = q.End.Add(-30 * time.Minute)
	var under []*series.Batch
	base := read(loaded)
	for range batches {
		under = append(under, read(rows))
	}
	journal := func() *engine.Journal {
		j := &engine.Journal{Loaded: loaded, Types: make([]engine.AnsweredType, 1), Shares: make([]engine.WrittenShare, 1)}
		for i := range batches {
			j.Shares[0].Writes = append(j.Shares[0].Writes, engine.Written{Rows: rows, Begin: time.Duration(i), Acked: time.Second - time.Duration(i)})
		}
		return j
	}
	for set := range 1 << batches {
		growing, err := oracle.NewGrowing(d.Schema(), []query.Query{q})
		if err != nil {
			t.Fatal(err)
		}
		growing.Add(base)
		for i, b := range under {
			if set>>i&1 == 1 {
				growing.Add(b)
			}
		}
		x := growing.Expectation(0)
		for _, lies := range []bool{false, true} {
			answer := &query.Answer{}
			for _, row := range x.Answer.Rows {
				answer.Rows = append(answer.Rows, slices.Clone(row))
			}
			if lies {
				last := len(answer.Rows[0]) - 1
				answer.Rows[0][last] = answer.Rows[1][last] // another host's
			}
			j, out := journal(), &result.Mixed{Types: make([]result.MixedType, 1)}
			j.Types[0].Full = []engine.Answered{{Query: q, At: time.Second, Rows: x.Rows, Answer: answer}}
			if err := verify.CheckMixed(t.Context(), d, j, out, verify.MixedProgress{}); err != nil {
				t.Fatal(err)
			}
			whole := set == 1<<batches-1
			if got := out.Types[0]; (got.Withheld != "") != lies || (got.Stale == 1) != (!lies && !whole) {
				t.Errorf("batches %05b are there, lies %v: withheld %q, %d stale", set, lies, got.Withheld, got.Stale)
			}
		}
	}
}
