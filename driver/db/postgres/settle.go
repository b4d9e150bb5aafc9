package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// Settle implements driver.DB. Acknowledged rows are visible. Settle runs a checkpoint, which would
// otherwise run later, during queries, and waits for running vacuums and analyzes of the tables. If the
// user lacks the privilege for a checkpoint, Settle succeeds without it.
func (d *database) Settle(ctx context.Context) error {
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		if q := d.variant.quirks; q != nil && (len(q.Settle) > 0 || q.Lack(sqlkit.LacksCatalogs)) {
			l, err := d.Layout()
			if err != nil {
				return err
			}
			return c.Exec(ctx, q.Settling(l.Tables, d.Dialect)...)
		}
		if err := d.idle(ctx, c); err != nil {
			return err
		}
		err := c.Exec(ctx, "CHECKPOINT")
		var refused *pgwire.Error
		if errors.As(err, &refused) && refused.SQLState() == stateNotPermitted {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.variant.System, err)
	}
	return nil
}

// stateNotPermitted is the SQLSTATE insufficient_privilege.
const stateNotPermitted = "42501"

// The time between two checks for running maintenance.
const (
	firstLook = 2 * time.Millisecond
	lastLook  = 50 * time.Millisecond
)

// idle returns when no background job works on this database.
func (d *database) idle(ctx context.Context, c sqlkit.Conn) error {
	return poll.Wait(ctx, firstLook, lastLook, func() (bool, error) {
		row, err := sqlkit.QueryRow(ctx, c, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker' AND datname = current_database()")
		if err != nil {
			return false, err
		}
		busy := row[0].Int
		if d.variant.Busy != nil {
			more, err := d.variant.Busy(ctx, c)
			if err != nil {
				return false, err
			}
			busy += more
		}
		return busy == 0, nil
	})
}

// steps are driver.Optional\'s Steps.
func (d *database) steps() []driver.Step {
	var steps []driver.Step
	for _, s := range d.variant.steps() {
		steps = append(steps, driver.Step{Name: s.Name, Help: s.Help, Do: func(ctx context.Context) error { return d.step(ctx, s) }})
	}
	return steps
}

// stepList returns the steps without their functions.
func (v Variant) stepList() []driver.Step {
	var steps []driver.Step
	for _, s := range v.steps() {
		steps = append(steps, driver.Step{Name: s.Name, Help: s.Help})
	}
	return steps
}

// steps returns the extension's steps and PostgreSQL's.
func (v Variant) steps() []Step {
	each := func(text string) func(context.Context, sqlkit.Conn, driver.Options, Table) error {
		return func(ctx context.Context, c sqlkit.Conn, _ driver.Options, t Table) error {
			return c.Exec(ctx, text+" "+QuoteIdent(t.Name))
		}
	}
	all := append(v.Steps[:len(v.Steps):len(v.Steps)],
		Step{Name: "cluster", Help: "rewrite tables of rows in the order of series and time, and analyze them", Do: cluster},
		Step{Name: "vacuum", Help: "VACUUM ANALYZE: visibility maps for index-only scans, and statistics", Tags: true, Do: each("VACUUM (ANALYZE)")},
		Step{Name: "analyze", Help: "statistics for the query planner", Tags: true, Do: each("ANALYZE")},
	)
	return slices.DeleteFunc(all, func(s Step) bool {
		return v.quirks.Lack(lacksVacuum) && (s.Name == "vacuum" || s.Name == "cluster") || v.quirks.Lack(lacksAnalyze) && s.Name == "analyze"
	})
}

// step runs a step on the tables that Create created.
func (d *database) step(ctx context.Context, s Step) error {
	l, err := d.Layout()
	if err == nil {
		err = d.admin.Do(ctx, func(c *pgwire.Conn) error {
			for _, t := range l.Tables {
				if !t.Rows && !s.Tags {
					continue
				}
				if err := s.Do(ctx, c, d.options, t); err != nil {
					return fmt.Errorf("table %s: %w", t.Name, err)
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("%s's step %s: %w", d.variant.System, s.Name, err)
	}
	return nil
}

// cluster rewrites a table in the order of its index on series and time.
func cluster(ctx context.Context, c sqlkit.Conn, _ driver.Options, t Table) error {
	if t.By == "" {
		return nil
	}
	row, err := sqlkit.QueryRow(ctx, c, fmt.Sprintf(`SELECT coalesce(min(indexrelid::regclass::text), '') FROM pg_index
		WHERE indrelid = %s::regclass AND indnkeyatts >= 2 AND indkey[0] = 2 AND indkey[1] = 1`, Regclass(t)))
	if err != nil {
		return err
	}
	index := row[0].String()
	if index == "" {
		return errors.New("it has no index of series and time to be ordered by; load it with index=both or tags_time")
	}
	return c.Exec(ctx, fmt.Sprintf("CLUSTER %s USING %s", QuoteIdent(t.Name), index), "ANALYZE "+QuoteIdent(t.Name))
}
