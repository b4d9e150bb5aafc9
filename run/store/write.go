package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Begin adds the run, without its targets, and sets its status to Running. An
// empty ID is replaced by a new one, made of the time at which the run Started,
// which must be set, and a random part: 20260131-154500-3f2a. An ID that
// exists already is an error: no run is ever overwritten.
func (s *Store) Begin(ctx context.Context, r *result.Run) error {
	if r.Started.IsZero() {
		return errors.New("saving a run: the time at which it started is not set")
	}
	r.Status = result.Running
	given := r.ID != ""
	for {
		if !given {
			r.ID = newID(r.Started, "")
		}
		columns := runColumns(r)
		done, err := s.db.ExecContext(ctx, insert("runs", columns)+" ON CONFLICT (id) DO NOTHING", values(columns)...)
		if err != nil {
			return fmt.Errorf("saving run %s: %w", r.ID, err)
		}
		switch n, err := done.RowsAffected(); {
		case err != nil:
			return fmt.Errorf("saving run %s: %w", r.ID, err)
		case n == 1:
			return nil
		case given:
			return fmt.Errorf("saving run %s: a run with this id exists already", r.ID)
		}
	}
}

// newID returns an ID that sorts by time, its random part behind the mark.
func newID(started time.Time, mark string) string {
	var random [2]byte
	rand.Read(random[:])
	return fmt.Sprintf("%s-%s%x", started.UTC().Format("20060102-150405"), mark, random)
}

// SaveTarget saves what is known of the target itself; its repeats are saved
// apart. A target of the same name within the run is updated.
func (s *Store) SaveTarget(ctx context.Context, runID string, t *result.Target) error {
	columns := append(targetColumns(t), column{"run_id", runID})
	if _, err := s.db.ExecContext(ctx, upsert("targets", "run_id, name", columns), values(columns)...); err != nil {
		return fmt.Errorf("saving target %s of run %s: %w", t.Name, runID, err)
	}
	return nil
}

// SaveLoad saves a load, in the repeat of the number, of a target that
// SaveTarget has saved. It takes the place of an earlier one.
func (s *Store) SaveLoad(ctx context.Context, runID, target string, repeat int, l *result.Load) error {
	err := s.onTarget(ctx, runID, target, func(tx *sql.Tx, id int64) error { return saveLoad(ctx, tx, id, repeat, l) })
	if err != nil {
		return fmt.Errorf("saving the load of target %s of run %s: %w", target, runID, err)
	}
	return nil
}

func saveLoad(ctx context.Context, tx *sql.Tx, targetID int64, repeat int, l *result.Load) error {
	owner := []column{{"target_id", targetID}, {"repeat", repeat}}
	columns := append(loadColumns(l), owner...)
	if _, err := tx.ExecContext(ctx, upsert("loads", "target_id, repeat", columns), values(columns)...); err != nil {
		return err
	}
	err := replaceAll(ctx, tx, "load_rates", owner, len(l.Rates), func(i int) []column { return rateColumns(&l.Rates[i]) })
	if err != nil {
		return err
	}
	return replaceAll(ctx, tx, "census", owner, len(l.Census), func(i int) []column { return censusColumns(&l.Census[i]) })
}

// SaveQueries saves the figures of one query type, in the repeat of the
// number, of a target that SaveTarget has saved. They take the place of earlier
// ones. Types keep the order in which they were saved first.
func (s *Store) SaveQueries(ctx context.Context, runID, target string, repeat int, q *result.Queries) error {
	err := s.onTarget(ctx, runID, target, func(tx *sql.Tx, id int64) error { return saveQueries(ctx, tx, id, repeat, q) })
	if err != nil {
		return fmt.Errorf("saving %s of target %s of run %s: %w", q.Type, target, runID, err)
	}
	return nil
}

func saveQueries(ctx context.Context, tx *sql.Tx, targetID int64, repeat int, q *result.Queries) error {
	columns := append(queriesColumns(q), column{"target_id", targetID}, column{"repeat", repeat})
	_, err := tx.ExecContext(ctx, upsert("query_types", "target_id, type, repeat", columns), values(columns)...)
	return err
}

// ForgetTarget removes the loads and the figures of query types that were saved
// of a target. The target itself stays.
func (s *Store) ForgetTarget(ctx context.Context, runID, target string) error {
	err := s.onTarget(ctx, runID, target, func(tx *sql.Tx, id int64) error {
		for _, table := range []string{"loads", "load_rates", "census", "query_types"} {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE target_id = ?", id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("removing what was measured of target %s of run %s: %w", target, runID, err)
	}
	return nil
}

// Finish saves the run's own figures as they stand at its end: status, reason,
// time, dataset. The targets are saved apart.
func (s *Store) Finish(ctx context.Context, r *result.Run) error {
	err := s.transaction(ctx, nil, func(tx *sql.Tx) error {
		var known bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?)", r.ID).Scan(&known); err != nil {
			return err
		}
		if !known {
			return fmt.Errorf("%w: it was not begun", ErrNotFound)
		}
		columns := runColumns(r)
		_, err := tx.ExecContext(ctx, upsert("runs", "id", columns), values(columns)...)
		return err
	})
	if err != nil {
		return fmt.Errorf("finishing run %s: %w", r.ID, err)
	}
	return nil
}

// Discard removes a run with all that was saved of it.
func (s *Store) Discard(ctx context.Context, runID string) error {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM runs WHERE id = ?", runID); err != nil {
		return fmt.Errorf("removing run %s: %w", runID, err)
	}
	return nil
}

// replaceAll puts n rows in the place of all rows that the owner has in the
// table, in order.
func replaceAll(ctx context.Context, tx *sql.Tx, table string, owner []column, n int, row func(i int) []column) error {
	conditions := make([]string, len(owner))
	for i, c := range owner {
		conditions[i] = c.name + " = ?"
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE "+strings.Join(conditions, " AND "), values(owner)...); err != nil {
		return err
	}
	for i := range n {
		columns := append(append(row(i), owner...), column{"position", i})
		if _, err := tx.ExecContext(ctx, insert(table, columns), values(columns)...); err != nil {
			return err
		}
	}
	return nil
}

// onTarget calls do in a transaction with the row id of a target.
func (s *Store) onTarget(ctx context.Context, runID, name string, do func(tx *sql.Tx, id int64) error) error {
	return s.transaction(ctx, nil, func(tx *sql.Tx) error {
		var id int64
		err := tx.QueryRowContext(ctx, "SELECT id FROM targets WHERE run_id = ? AND name = ?", runID, name).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return errors.New("the target was not saved before")
		}
		if err != nil {
			return err
		}
		return do(tx, id)
	})
}

// transaction does all or nothing.
func (s *Store) transaction(ctx context.Context, options *sql.TxOptions, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		// What went wrong first matters; a rollback fails only when the
		// connection, and with it the transaction, is gone.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}
