package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/tsmark/tsmark/conformance/wire"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/session"
)

// fill loads everything and leaves the server as it was.
func (f *faults) fill(ctx context.Context) error {
	l, err := f.load(ctx, loading{})
	if l != nil {
		defer l.db.Close()
	}
	if err == nil {
		err = l.err
	}
	return err
}

// requests renders the queries of the example that the target can answer.
func (f *faults) requests() ([]driver.Request, error) {
	d, _, err := f.rows()
	if err != nil {
		return nil, err
	}
	options, err := f.options(nil)
	if err != nil {
		return nil, err
	}
	var requests []driver.Request
	for _, t := range exampleUse().QueryTypes() {
		sequence, err := exampleUse().Queries(f.spec(), t.Name, 1)
		if err != nil {
			return nil, err
		}
		queries := slices.Collect(sequence)
		r, err := f.Driver.Render(&queries[0], d.Schema(), options)
		switch {
		case errors.Is(err, query.ErrUnsupported):
		case err != nil:
			return nil, err
		default:
			requests = append(requests, r)
		}
	}
	if len(requests) == 0 {
		return nil, errors.New("the target can answer none of the queries")
	}
	return requests, nil
}

// rowsOnly is a sink that counts.
type rowsOnly int64

func (r *rowsOnly) Row([]query.Value) error { *r++; return nil }

// cutQuery: a truncated answer is an error, wherever it ends.
func (f *faults) cutQuery(ctx context.Context) error {
	if err := f.fill(ctx); err != nil {
		return err
	}
	requests, err := f.requests()
	if err != nil {
		return err
	}
	flow := wire.NewFlow()
	through, wires, err := f.newWires(flow)
	for _, w := range wires {
		defer w.Close()
	}
	if err != nil {
		return err
	}
	db, err := f.open(ctx, through)
	if err != nil {
		return err
	}
	defer db.Close()
	// The largest answer is cut.
	var largest struct {
		driver.Request
		rows  int64
		bytes int64
	}
	for _, r := range requests {
		rows, bytes, err := runTwice(ctx, db, r, flow, func() {})
		if err != nil {
			return err
		}
		if bytes > largest.bytes {
			largest.Request, largest.rows, largest.bytes = r, rows, bytes
		}
	}
	for _, share := range []int64{0, 25, 50, 75, 95} {
		at := largest.bytes * share / 100
		rows, _, err := runTwice(ctx, db, largest.Request, flow, func() { flow.Left.Store(at) })
		flow.Left.Store(-1)
		if err == nil {
			return fmt.Errorf("an answer of %d rows and %d bytes was cut after %d bytes, and %d rows of it were taken for all", largest.rows, largest.bytes, at, rows)
		}
		if err := f.clear(err, nil); err != nil {
			return err
		}
	}
	again, err := driver.Reconnect(ctx, db, 0)
	if err != nil {
		return fmt.Errorf("after connections were cut: %w", err)
	}
	again.Close() // nothing was read over it
	rows, _, err := runTwice(ctx, db, largest.Request, flow, func() {})
	if err != nil || rows != largest.rows {
		return fmt.Errorf("running the query again with a new querier: %d rows, %d before; %w", rows, largest.rows, err)
	}
	return f.cutShort(ctx, largest.Request, largest.rows)
}

// runTwice runs a query twice, the second time right after calling before, and returns
// the rows and bytes of the second answer.
func runTwice(ctx context.Context, db driver.DB, r driver.Request, through *wire.Flow, before func()) (rows, bytes int64, err error) {
	q, err := db.NewQuerier(ctx, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("opening a querier: %w", err)
	}
	defer q.Close()
	if _, err := q.Do(ctx, r, nil); err != nil { // does the one-time work
		return 0, 0, err
	}
	begin := through.Answered.Load()
	before()
	var sink rowsOnly
	cost, err := q.Do(ctx, r, &sink)
	if err == nil && cost.Rows != int64(sink) {
		err = fmt.Errorf("%d rows were counted, %d delivered", cost.Rows, sink)
	}
	return int64(sink), through.Answered.Load() - begin, err
}

// greet does the first steps of a command, and runs a query.
func (f *faults) greet(ctx context.Context, env driver.Env, more map[string]string) error {
	options, err := f.options(more)
	if err != nil {
		return err
	}
	env.Dir = f.dir
	db, err := f.Driver.Open(ctx, env, options)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := session.New(db).Mark(ctx); err != nil && (!env.Create || !errors.Is(err, session.ErrNoMark)) {
		return err
	}
	if _, err := db.Describe(ctx); err != nil {
		return err
	}
	requests, err := f.requests()
	if err != nil {
		return err
	}
	q, err := db.NewQuerier(ctx, 0) // which may have a protocol of its own
	if err != nil {
		return err
	}
	defer q.Close()
	_, err = q.Do(ctx, requests[0], nil)
	return err
}

// expectRefusal: the target must not open, and says why without the secret.
func (f *faults) expectRefusal(ctx context.Context, option, value string, existing bool, wanted *regexp.Regexp) error {
	if !f.has(option) {
		return fmt.Errorf("the target has no option %s; name the part in Cannot, with the reason", option)
	}
	err := f.greet(ctx, driver.Env{Create: !existing}, map[string]string{option: value})
	if err := f.clear(err, wanted); err != nil {
		return fmt.Errorf("%s=%s: %w", option, value, err)
	}
	f.log("%v", err)
	return nil
}

const badPassword = "tsmark-bad-pw-71a"

// wrongPassword: it is refused.
func (f *faults) wrongPassword(ctx context.Context) error {
	if err := f.fill(ctx); err != nil {
		return err
	}
	option := cmp.Or(f.Password, "password")
	f.Target.Options = withOption(f.Target.Options, option, badPassword) // so that it counts as a secret
	return f.expectRefusal(ctx, option, badPassword, false, isRefusal)
}

func withOption(options map[string]string, name, value string) map[string]string {
	with := map[string]string{name: value}
	for k, v := range options {
		if k != name {
			with[k] = v
		}
	}
	return with
}

// wrongDatabase: the error names a missing database that should hold a
// dataset.
func (f *faults) wrongDatabase(ctx context.Context) error {
	const name = "tsmark_is_not_there"
	return f.expectRefusal(ctx, cmp.Or(f.Database, "database"), name, true, regexp.MustCompile(name))
}

// noTLS: with TLS requested, nothing is sent in the clear.
func (f *faults) noTLS(ctx context.Context) error {
	return f.expectRefusal(ctx, "tls", "on", false, regexp.MustCompile(`(?i)tls`))
}

// neverAnswers: a server that accepts connections and says nothing ends in a
// time-out.
func (f *faults) neverAnswers(ctx context.Context) error {
	port, stop, err := silent()
	if err != nil {
		return err
	}
	defer stop()
	more := f.shortTimeout()
	for option := range f.ports() {
		more[option] = port
	}
	begin := time.Now()
	err = f.greet(ctx, driver.Env{Create: true}, more)
	if took := time.Since(begin); took > f.patience() {
		return fmt.Errorf("opening took %v", took)
	}
	return f.clear(err, isSilence)
}

// shortTimeout is the option timeout, if there is one: short, but long enough for a
// busy machine or a slow server.
func (f *faults) shortTimeout() map[string]string {
	if !f.has("timeout") {
		return map[string]string{}
	}
	longest := 5 * time.Second
	if f.Sparse {
		longest = f.patience() / 2
	}
	return map[string]string{"timeout": min(longest, f.patience()/2).String()}
}

// fallsSilent: writers and queriers notice that the server says nothing more.
func (f *faults) fallsSilent(ctx context.Context) error {
	proceed := func() error { return f.Server.running.Continue(ctx) }
	begin := time.Now()
	l, err := f.load(ctx, loading{more: f.shortTimeout(), after: 0.3, happens: func() error {
		begin = time.Now()
		return f.Server.running.Pause(ctx)
	}})
	took := time.Since(begin)
	if err := errors.Join(err, proceed()); err != nil {
		return err
	}
	defer l.db.Close()
	if err := f.clear(l.err, namesBatch); err != nil {
		return fmt.Errorf("a load whose server fell silent: %w", err)
	}
	if took > f.patience() || !isSilence.MatchString(l.err.Error()) {
		return fmt.Errorf("the load ended %v after the server fell silent: %q", took, l.err)
	}
	requests, err := f.requests()
	if err != nil {
		return err
	}
	q, err := l.db.NewQuerier(ctx, 0)
	if err != nil {
		return fmt.Errorf("opening a querier: %w", err)
	}
	defer q.Close()
	if err := f.Server.running.Pause(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	begin = time.Now()
	_, err = q.Do(limited, requests[0], nil)
	took = time.Since(begin)
	if proceedErr := proceed(); proceedErr != nil {
		return proceedErr
	}
	if err == nil || took > f.patience() {
		return fmt.Errorf("a query of a silent server, with a second to answer, ended after %v with error %w", took, err)
	}
	return nil
}
