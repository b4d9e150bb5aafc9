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
	render := x.Subject.Renderer(on.Planned, q, on.DB)
	defer render.Close()
	var requests []driver.Request
	for one := range q.All {
		rendered, err := render.Render(ctx, &one)
		if err != nil {
			return err
		}
		if requests = append(requests, rendered.Request); !x.Profile || len(requests) == profiledQueries {
			break
		}
	}
	if len(requests) == 0 {
		return nil
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
	if x.Profile && on.DB.ProfileCPU != nil && x.Team == nil {
		p, err := x.profile(ctx, on, requests, q.Type.Name)
		if err != nil {
			x.Record.Remark(fmt.Sprintf("%s: no CPU profile of %s: %v", on.out.Name, q.Type.Name, err))
		}
		measured.Profile = p
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
