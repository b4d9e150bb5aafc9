package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/pprof"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
)

const (
	// longestAgain is the largest median of a type whose query is run once more, in seconds.
	longestAgain = 2
	// profiled is how long a server is profiled for a query type.
	profiled = 2 * time.Second
	// profiledQueries is the number of queries that run in turns meanwhile.
	profiledQueries = 100
	// profiledFunctions is the number of functions that are recorded by each kind of share.
	profiledFunctions = 40
)

// observe records how the target answers the first query of each type that was measured in the first
// repeat, which is the only one that it is for. Nothing is measured meanwhile.
func (x *Querier) observe(ctx context.Context, on *Opened) error {
	if on.job.Repeat != 1 {
		return nil
	}
	begin := time.Now()
	for i := range x.Subject.Queries {
		q := &x.Subject.Queries[i]
		measured := on.out.RepeatOf(1).Type(q.Type.Name)
		if measured == nil || measured.Executed == 0 || measured.Text != "" || measured.WithoutFigure() {
			continue
		}
		if err := x.observeType(ctx, on, q, measured); err != nil {
			return fmt.Errorf("%s: %w", q.Type.Name, err)
		}
		if err := x.Record.KeepQueries(ctx, on.out, 1, measured); err != nil {
			return err
		}
	}
	x.Observed = time.Since(begin)
	return nil
}

// observeType records the first query of a type as sent, the system's plan of it, and how much the
// system reads for it, as far as it reports them. A user's text has only the text.
func (x *Querier) observeType(ctx context.Context, on *Opened, q *plan.TypeQueries, measured *result.Queries) error {
	requests, err := x.renderFirst(ctx, on, q, 1)
	if err != nil || len(requests) == 0 {
		return err
	}
	first := requests[0]
	if measured.Text = first.Text; first.UserText {
		return nil
	}
	if on.DB.Explain != nil {
		measured.Plan, _ = on.DB.Explain(ctx, first) // without a plan the page has the text alone
	}
	if measured.Read == nil && on.DB.MeasureReads != nil && measured.Service.Median < longestAgain {
		if read, ok, err := on.DB.MeasureReads(ctx, first); ok && err == nil {
			measured.Read = &result.Read{Rows: float64(read.Rows), Bytes: float64(read.Bytes), CacheHits: float64(read.Hits), CacheMisses: float64(read.Misses), Files: float64(read.Files)}
		}
	}
	return nil
}

// renderFirst renders the first n queries of a type, or all if there are fewer.
func (x *Querier) renderFirst(ctx context.Context, on *Opened, q *plan.TypeQueries, n int) (requests []driver.Request, err error) {
	render := x.Subject.Renderer(on.Planned, q, on.DB)
	defer render.Close()
	for one := range q.All {
		if len(requests) == n {
			break
		}
		rendered, err := render.Render(ctx, &one)
		if err != nil {
			return nil, err
		}
		requests = append(requests, rendered.Request)
	}
	return requests, nil
}

// Profile takes a CPU profile of the server, if it offers any, for each of the query types that was
// measured. It fails only if the context has ended or the record cannot be stored: a profile that
// could not be taken is a remark.
func (x *Querier) Profile(ctx context.Context, on *Opened, types []string) error {
	for _, name := range types {
		measured := on.out.RepeatOf(1).Type(name)
		if on.DB.ProfileCPU == nil || measured == nil || measured.Executed == 0 || measured.WithoutFigure() {
			continue
		}
		requests, err := x.renderFirst(ctx, on, x.Subject.QueriesOf(name), profiledQueries)
		if err == nil && len(requests) > 0 {
			measured.Profile, err = x.profile(ctx, on, requests, name)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			x.Record.Remark(fmt.Sprintf("%s: no CPU profile of %s: %v", on.out.Name, name, err))
		}
		if err := x.Record.KeepQueries(ctx, on.out, 1, measured); err != nil {
			return err
		}
	}
	return nil
}

// profile profiles the server while one connection runs the queries, and keeps the profile in the
// folder of the run.
func (x *Querier) profile(ctx context.Context, on *Opened, requests []driver.Request, queryType string) (*result.Profile, error) {
	querier, err := on.DB.NewQuerier(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer querier.Close()
	var data []byte
	done := make(chan error, 1)
	go func() {
		var err error
		data, err = on.DB.ProfileCPU(ctx, profiled)
		done <- err
	}()
	failed := error(nil)
	for i := 0; failed == nil && len(done) == 0; i++ {
		_, failed = querier.Do(ctx, requests[i%len(requests)], nil)
	}
	if err := <-done; failed != nil || err != nil {
		return nil, errors.Join(failed, err)
	}
	p := &result.Profile{File: fileName("cpu-"+on.out.Name+"-"+queryType) + ".pprof", Seconds: profiled.Seconds()}
	var functions []pprof.Function
	if p.Samples, functions, err = pprof.Read(data, profiledFunctions); err != nil {
		return nil, err
	}
	for _, f := range functions {
		p.Functions = append(p.Functions, result.ProfiledFunction(f))
	}
	dir := filepath.Join(x.Record.Dir, x.Record.Doc.ID)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return p, os.WriteFile(filepath.Join(dir, p.File), data, 0o666)
}

// fileName returns a text without characters that some system refuses in the name of a file.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '-'
		}
		return r
	}, text)
}
