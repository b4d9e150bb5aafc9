package life

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

const (
	lookEvery    = 200 * time.Millisecond // between two rows that are looked for
	firstWait    = time.Millisecond       // between two looks for a row; it doubles
	longestWait  = 50 * time.Millisecond
	lookPatience = 10 * time.Second // for a row
)

// pick is a row that a writer has written, with the time of its acknowledgement.
type pick struct {
	row oracle.Row
	at  time.Duration
}

// lastRow returns the last row of a batch that has a value; false: no run of it ends with such a row. Of corrected
// rows it returns one with a value that the correction has changed, and that value.
func lastRow(b *series.Batch, corrected bool) (oracle.Row, bool) {
	for i := len(b.Runs) - 1; i >= 0; i-- {
		run := &b.Runs[i]
		last := run.Rows() - 1
		if last < 0 {
			continue
		}
		for f := range run.Columns {
			if run.Lacks(f, last) || corrected && !isCorrected(run, f, last) {
				continue
			}
			row := oracle.Row{Table: run.Table, Series: run.Series[last], Time: run.Times[last], Fields: []int{f}}
			if corrected {
				row.Values = []query.Value{oracle.ValueOf(run, f, last)}
			}
			return row, true
		}
	}
	return oracle.Row{}, false
}

// watchRows looks for written rows, one after the other, until its context ends. It records how long
// after its acknowledgement each is visible. Dashboards query only rows that were written before
// one that was seen.
func (l *life) watchRows(ctx context.Context) {
	looker := looker{life: l, schema: l.schema}
	defer looker.close()
	// A row that is seen shows that earlier rows are visible: all rows that were acknowledged when the
	// look for the previous row began.
	before := l.phase.Watermark()
	for {
		l.wanted.Store(true)
		var p pick
		select {
		case p = <-l.picked:
		case <-ctx.Done():
			return
		}
		watermark := l.phase.Watermark()
		seen, err := looker.await(ctx, p.row, lookPatience)
		switch {
		case errors.Is(err, query.ErrUnsupported):
			l.out.FreshnessUnknown = err.Error()
			l.base.Store(always)
			return
		case ctx.Err() != nil:
			return
		case seen || !l.isGone(p.row.Series):
			now := l.now()
			l.figures.visible(now, now-p.at, seen)
			if seen {
				l.base.Store(before)
			}
		}
		before = watermark
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
	}
}

// isGone reports whether an event has removed a series for ever, will do so, or lets it send nothing now.
func (l *life) isGone(id uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.never {
		if a.to == always && a.of != nil && a.of.has(id) {
			return true
		}
	}
	return false
}

// looker looks for rows over a connection of its own.
type looker struct {
	life    *life
	schema  *series.Schema
	querier driver.Querier // nil: not connected
}

// await looks for a row until it is visible, or patience is over. The error is for a row that can
// never be seen.
func (k *looker) await(ctx context.Context, row oracle.Row, patience time.Duration) (seen bool, err error) {
	lookup := oracle.Lookups(k.schema, []oracle.Row{row})[0]
	for end, wait := time.Now().Add(patience), firstWait; time.Now().Before(end); wait = min(2*wait, longestWait) {
		seen, err = k.look(ctx, &lookup)
		if seen || errors.Is(err, query.ErrUnsupported) {
			return seen, err
		}
		if err != nil { // such as while the server restarts
			k.close()
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(wait):
		}
	}
	return false, nil
}

// awaitWritten waits until a row that an event has written is visible. A target that cannot show the row
// cannot show those of the base either.
func (k *looker) awaitWritten(ctx context.Context, row oracle.Row, patience time.Duration) error {
	seen, err := k.await(ctx, row, patience)
	switch {
	case errors.Is(err, query.ErrUnsupported):
		return nil
	case err == nil && !seen:
		return fmt.Errorf("its last row was not visible %s after it had been acknowledged", patience)
	}
	return err
}

func (k *looker) look(ctx context.Context, lookup *oracle.Lookup) (seen bool, err error) {
	if k.querier == nil {
		if k.querier, err = k.life.cfg.DB.NewQuerier(ctx, k.life.cfg.Base.Queriers); err != nil {
			k.querier = nil
			return false, err
		}
	}
	return engine.Sees(ctx, k.querier, k.life.cfg.Render, k.schema, lookup)
}

func (k *looker) close() {
	if k.querier != nil {
		k.querier.Close() // reading only
		k.querier = nil
	}
}
