package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/session"
)

// trigger starts an action once a number of rows are loaded.
type trigger struct {
	rows    atomic.Int64
	after   int64
	happens func() error
	once    sync.Once
	err     error
}

func newTrigger(after int64, happens func() error) *trigger {
	return &trigger{after: after, happens: happens}
}

func (t *trigger) progress(rows int) {
	if t.rows.Add(int64(rows)) >= t.after && t.happens != nil {
		t.once.Do(func() { t.err = t.happens() })
	}
}

// wait returns the result of the action, or an error if the action did not start.
func (t *trigger) wait() error {
	if t.happens != nil {
		t.once.Do(func() { t.err = errors.New("the load ended before anything happened to it") })
	}
	return t.err
}

// killWithoutRetry: without retry the load ends with a line that names the batch, and the
// same target works again once the server is back.
func (f *faults) killWithoutRetry(ctx context.Context) error {
	l, err := f.load(ctx, loading{after: 0.3, happens: f.Server.Kill})
	if l != nil {
		defer l.db.Close()
	}
	if err != nil {
		return err
	}
	if err := f.clear(l.err, namesBatch); err != nil {
		return fmt.Errorf("a load whose server was killed: %w", err)
	}
	f.log("%v", l.err)
	if driver.AsTemporary(l.err) == nil {
		return fmt.Errorf("the error is not a driver.Temporary, so --retry would not help: %q", l.err)
	}
	if l.load.Rows >= l.survey.Rows {
		return fmt.Errorf("all %d rows were accepted, though the server was killed before", l.load.Rows)
	}
	if err := f.Server.Start(ctx); err != nil {
		return err
	}
	if _, err := session.New(l.db).Mark(ctx); err != nil {
		return fmt.Errorf("the target does not connect again after a restart: %w", err)
	}
	return nil
}

// killedRetried: with retry the load continues after the restart, and the census
// accounts for all rows.
func (f *faults) killedRetried(ctx context.Context) error {
	var started sync.WaitGroup
	var startErr error
	l, err := f.load(ctx, loading{after: 0.3, retry: retry.Policy{Within: 2 * f.patience()}, happens: func() error {
		if err := f.Server.Kill(); err != nil {
			return err
		}
		started.Go(func() { startErr = f.Server.Start(ctx) })
		return nil
	}})
	started.Wait()
	if l != nil {
		defer l.db.Close()
	}
	if err = errors.Join(err, startErr); err != nil {
		return err
	}
	if l.err != nil {
		return fmt.Errorf("the load was not retried to its end: %w", l.err)
	}
	if l.load.Rows != l.survey.Rows || l.load.Retries == nil {
		return fmt.Errorf("%d rows were accepted, %d sent; retries %+v", l.load.Rows, l.survey.Rows, l.load.Retries)
	}
	f.log("%d tries failed and were followed by others, %d rows may have been stored twice", l.load.Retries.Tries, l.load.Retries.SentTwice)
	counted, err := f.count(ctx, l, nil)
	if err != nil {
		return err
	}
	return f.censusError(counted, "as given")
}

// killedAcked: acknowledged rows that are lost after a kill are counted, at
// each level of durability.
func (f *faults) killedAcked(ctx context.Context) error {
	levels := f.Driver.Durabilities
	if len(levels) == 0 {
		levels = []driver.Profile{{Name: driver.AsShipped}}
	}
	for _, level := range levels {
		if err := f.restartAcked(ctx, level, f.Server.Restart); err != nil {
			return err
		}
	}
	return nil
}

// powerFails: no acknowledged row is lost in a power failure at the strict level of durability. Losses of a
// system without this level are only logged.
func (f *faults) powerFails(ctx context.Context) error {
	if f.Server.disk == nil {
		f.log("n/a: %v", f.Server.noDisk)
		return nil
	}
	level := driver.Profile{Name: driver.AsShipped}
	for _, l := range f.Driver.Durabilities {
		if l.Name == driver.Strict {
			level = l
		}
	}
	if err := f.Server.disk.Sync(); err != nil { // so that the failure is of the load, not of a fresh installation
		return err
	}
	return f.restartAcked(ctx, level, f.Server.FailPower)
}

// restartAcked loads at a level of durability, restarts the server after the last acknowledgement, and
// returns an error if rows are lost that the level protects.
func (f *faults) restartAcked(ctx context.Context, level driver.Profile, restart func(context.Context) error) error {
	more, err := f.Driver.Choose("", "", level.Options)
	if err != nil {
		return err
	}
	var restarted error
	l, err := f.load(ctx, loading{more: more, retry: retry.Policy{Within: f.patience()}, acked: func(ctx context.Context) {
		restarted = restart(ctx)
	}})
	if l != nil {
		defer l.db.Close()
	}
	if err = errors.Join(err, restarted); err == nil {
		err = l.err
	}
	if err != nil {
		return fmt.Errorf("durability %s: %w", level.Name, err)
	}
	counted, err := f.count(ctx, l, more)
	if err != nil {
		return err
	}
	return f.censusError(counted, level.Name)
}

// throttle: a server that requests a delay gets it, and every row is stored
// once.
func (f *faults) throttle(ctx context.Context) error {
	const refusals = 2
	port := cmp.Or(f.HTTP, "port")
	gate := newTurnstile(f.address(f.ports()[port]))
	proxy := gate.start()
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		return err
	}
	through := loading{
		writers: 1, more: map[string]string{port: at.Port()},
		opened: func(driver.DB) error { gate.refuse.Store(refusals); return nil },
	}
	l, err := f.load(ctx, through)
	gate.refuse.Store(0) // the next Prepare may write as well
	if l != nil {
		defer l.db.Close()
	}
	if err != nil {
		return err
	}
	if err := f.clear(l.err, namesBatch); err != nil {
		return fmt.Errorf("a load that the server refused: %w", err)
	}
	if t := driver.AsTemporary(l.err); t == nil || t.After != time.Second || !t.Refused {
		return fmt.Errorf("the error is no Temporary with After of 1 s, Refused: %q, %+v", l.err, t)
	}
	through.retry = retry.Policy{Times: refusals}
	again, err := f.load(ctx, through)
	if again != nil {
		defer again.db.Close()
	}
	if err != nil {
		return err
	}
	if again.err != nil {
		return fmt.Errorf("the load was not retried to its end: %w", again.err)
	}
	if r := again.load.Retries; r == nil || r.Tries != refusals || r.SentTwice != 0 || again.load.Batches.Max < refusals {
		return fmt.Errorf("after %d refusals of a second each: %+v, longest batch %v s", refusals, r, again.load.Batches.Max)
	}
	counted, err := f.count(ctx, again, nil)
	if err != nil {
		return err
	}
	return f.censusError(counted, driver.Strict)
}

// diskFull: a server that can write no more must not acknowledge.
func (f *faults) diskFull(ctx context.Context) error {
	limit := f.FileLimit
	if limit == 0 {
		limit = 64 << 10
	}
	l, err := f.load(ctx, loading{after: 0.1, happens: func() error { return f.Server.limitFiles(ctx, limit) }})
	if l != nil {
		defer l.db.Close()
	}
	if err != nil {
		return err
	}
	if l.err != nil {
		f.log("%v", l.err)
		return f.clear(l.err, nil)
	}
	counted, err := f.count(ctx, l, nil)
	if err != nil {
		return fmt.Errorf("the load succeeded, and cannot be counted: %w", err)
	}
	if err := f.censusError(counted, driver.Strict); err != nil {
		return fmt.Errorf("the load was reported as a success: %w", err)
	}
	return fmt.Errorf("files of at most %d bytes did not hinder the load; set a smaller FileLimit", limit)
}
