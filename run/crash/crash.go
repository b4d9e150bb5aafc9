// Package crash crashes a loaded target again and again while its writers write further rows, and finds
// out what became of the rows that it had acknowledged.
package crash

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/workload"
)

// Victim is the process of a target, which crashes.
type Victim interface {
	// Can returns why crashes of a kind are impossible; nil: they are possible.
	Can(kind string) error
	// Start starts the process, unless it runs, and returns once it answers, with the time at which the start
	// began.
	Start(context.Context) (begun time.Time, err error)
	// Open opens the database of the running process.
	Open(context.Context) (driver.DB, error)
	// Settle forces everything that was written so far to disk, so that a power failure does not drop it.
	Settle(context.Context) error
	// Kill ends the process as kill -9 does. FailPower also drops all writes that were not forced to
	// disk. Both leave the process to Start.
	Kill(context.Context) error
	FailPower(context.Context) error
	// Pause suspends the process, and Resume continues it.
	Pause(context.Context) error
	Resume(context.Context) error
}

// Config configures the crashes of one target.
type Config struct {
	Victim Victim
	Kinds  []string // in turn
	Count  int      // rounds
	Seed   uint64   // of the time of each crash within its round
	// Rows are the rows behind the loaded ones. Each round writes the next RoundRows of them. Stored is
	// the number of loaded rows.
	Rows      workload.Dataset
	RoundRows int64
	Stored    int64
	Load      engine.LoadConfig // of the writers, without retries
	Verify    verify.Config     // of the queries that read rows
	Render    verify.Renderer
	Digits    int // Caps.Digits
	// Safety is what the target said of its acknowledged rows when it was loaded. A round in which it says otherwise fails.
	Safety driver.Safety
	// Patience is the time without a change after which missing rows are lost. Pause is the length of a
	// pause.
	Patience, Pause time.Duration
	// ByCommand says that Kill only begins a command that kills the target. A round whose writers had ended by then is not
	// judged.
	ByCommand bool
	// Begin is called with the open database before the first round.
	Begin func(context.Context, driver.DB) error
	// Announce shows that a round begins. The function that it returns shows how the round ended.
	Announce func(round int, kind string) (ended func(how string, failed bool))
}

// Usual values of Config.Patience and Config.Pause.
const (
	DefaultPatience = 10 * time.Second
	DefaultPause    = 5 * time.Second
)

// Run crashes the target. After an error of its context the result is incomplete. Any other error means
// that the database could not be opened before the first round; what ends the rounds later is in the result.
func Run(ctx context.Context, cfg Config) (*result.Crash, error) {
	out := &result.Crash{Seed: cfg.Seed, Patience: cfg.Patience.Seconds(), RoundRows: cfg.RoundRows, Unsupported: map[string]string{}}
	var kinds []string
	for _, kind := range cfg.Kinds {
		if why := cfg.Victim.Can(kind); why != nil {
			out.Unsupported[kind] = why.Error()
		} else {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return out, nil
	}
	out.Planned = cfg.Count
	c := &crashes{cfg: cfg, reader: cfg.Rows.Open(), stored: cfg.Stored}
	defer c.close()
	_, err := cfg.Victim.Start(ctx)
	if err == nil {
		err = c.open(ctx)
	}
	if err == nil {
		err = cfg.Begin(ctx, c.db)
	}
	if err != nil {
		return out, fmt.Errorf("before the crashes: %w", err)
	}
	for n := range cfg.Count {
		r := result.CrashRound{Kind: kinds[n%len(kinds)], Stored: c.stored, Bytes: -1, LostEarlier: -1, Answers: -1, Complete: -1}
		ended := cfg.Announce(n+1, r.Kind)
		err := c.round(ctx, n, &r)
		if ctx.Err() != nil {
			ended("interrupted", false)
			return out, ctx.Err()
		}
		if errors.Is(err, errNoRows) {
			ended("the dataset has no more rows", false)
			out.Ended = fmt.Sprintf("the dataset has no rows for more than %d of %d crashes", n, cfg.Count)
			break
		}
		out.Rounds = append(out.Rounds, r)
		ended(r.Finding(), err != nil || !r.Intact())
		if err != nil {
			out.Ended = fmt.Sprintf("crash %d of %d was the last: %v", n+1, cfg.Count, err)
			break
		}
	}
	return out, nil
}

// crashes is the state between the rounds.
type crashes struct {
	cfg    Config
	db     driver.DB
	opened bool
	reader workload.Reader
	stored int64 // rows that the target has acknowledged
}

// open opens the database in place of an earlier connection, which the crash may have broken.
func (c *crashes) open(ctx context.Context) (err error) {
	c.close()
	if c.db, err = c.cfg.Victim.Open(ctx); err == nil {
		c.opened = true
	}
	return err
}

func (c *crashes) close() {
	if c.opened {
		_ = c.db.Close() // all writers were flushed or have failed
		c.opened = false
	}
}
