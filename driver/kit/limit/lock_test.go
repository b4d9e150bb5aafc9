package limit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// locked is a target whose answers wait for a lock, and that tells who has it from some time on.
type locked struct {
	driver.Required
	begin        time.Time
	answersAfter time.Duration
	holder       string
	free         time.Duration // when the lock is released
}

func (l *locked) db() driver.DB {
	return driver.DB{Required: l, Optional: driver.Optional{FindBlocker: l.FindBlocker, CountRows: l.CountRows}}
}

func (l *locked) FindBlocker(ctx context.Context) (string, error) {
	if time.Since(l.begin) < l.answersAfter {
		return "", errors.New("it does not answer")
	}
	return l.holder, ctx.Err()
}

func (l *locked) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("the connection is gone: %w", ctx.Err())
	case <-time.After(l.free):
		return nil
	}
}

func (l *locked) Census(ctx context.Context, _ *series.Table) (driver.Census, error) {
	return driver.Census{}, l.wait(ctx)
}
func (l *locked) Settle(ctx context.Context) error { return l.wait(ctx) }
func (l *locked) CountRows(ctx context.Context, _ *series.Table) (int64, error) {
	return 0, l.wait(ctx)
}
func (l *locked) NewQuerier(context.Context, int) (driver.Querier, error) { return l, nil }
func (l *locked) Do(ctx context.Context, _ driver.Request, _ query.Sink) (driver.Cost, error) {
	return driver.Cost{}, l.wait(ctx)
}
func (l *locked) Close() error { return nil }

// What reads a table that somebody has locked says within seconds who that is, and ends;
// where the lock is released meanwhile, and where nobody can be named, it goes on.
func TestBlocked(t *testing.T) {
	calls := map[string]func(ctx context.Context, db driver.DB) error{
		"settle": func(ctx context.Context, db driver.DB) error { return db.Settle(ctx) },
		"census": func(ctx context.Context, db driver.DB) error {
			_, err := db.Census(ctx, &series.Table{Name: "cpu"})
			return err
		},
		"count": func(ctx context.Context, db driver.DB) error {
			_, err := db.CountRows(ctx, &series.Table{Name: "cpu"})
			return err
		},
		"query": func(ctx context.Context, db driver.DB) error {
			q, err := db.NewQuerier(ctx, 0)
			if err == nil {
				_, err = q.Do(ctx, driver.Request{}, nil)
			}
			return err
		},
	}
	for name, call := range calls {
		for _, c := range []struct {
			target locked
			ends   time.Duration
			want   string
		}{
			{locked{holder: "process 7 has table cpu locked", free: 30 * time.Minute}, 10 * time.Second, "waited 10s for a lock in vain: process 7 has table cpu locked; allow more with --statement-timeout"},
			{locked{holder: "process 7 has table cpu locked", free: 30 * time.Minute, answersAfter: 2 * time.Minute}, 125 * time.Second, "process 7"},
			{locked{holder: "process 7 has table cpu locked", free: 7 * time.Second}, 7 * time.Second, ""},
			{locked{free: 30 * time.Minute}, 30 * time.Minute, ""},
			{locked{free: 2 * time.Hour}, time.Hour, "no answer within 1h0m0s"},
		} {
			synctest.Test(t, func(t *testing.T) {
				c.target.begin = time.Now()
				err := call(t.Context(), Target(c.target.db(), Default()))
				took := time.Since(c.target.begin)
				if took != c.ends || (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
					t.Errorf("%s: %v after %v, want %q after %v", name, err, took, c.want, c.ends)
				}
			})
		}
	}
}
