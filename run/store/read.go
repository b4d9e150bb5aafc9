package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Latest names the newest run to Run and Find, Unfinished to Find the newest
// that did not complete and was not imported.
const (
	Latest     = "latest"
	Unfinished = "unfinished"
)

// Summary is what a list of runs shows of one.
type Summary struct {
	ID          string
	Name        string
	Command     string
	Started     time.Time
	Finished    time.Time // zero: it goes on, or was killed
	Status      result.Status
	Reason      string   // why it is incomplete
	Workload    string   // name
	Fingerprint string   // of the dataset
	Targets     []string // names, in the order saved
	Failed      int      // targets that failed
	Types       int      // query types with figures or a reason why there are none, over all targets
	Withheld    int      // loads and query types whose figures are withheld, those of mixed phases included
	Place       result.Place
	Imported    bool // from a file
}

// Runs lists all runs, newest first.
func (s *Store) Runs(ctx context.Context) ([]Summary, error) {
	var list []Summary
	err := s.transaction(ctx, &sql.TxOptions{ReadOnly: true}, func(tx *sql.Tx) error {
		at := map[string]int{}
		err := each(ctx, tx, `
			SELECT id, name, command, started, finished, status, reason, workload, fingerprint, sweep, point, points, parameters, imported IS NOT NULL,
				(SELECT count(*) FROM targets WHERE run_id = runs.id AND failure <> ''),
				(SELECT count(DISTINCT target_id || type) FROM query_types JOIN targets ON targets.id = target_id WHERE run_id = runs.id),
				(SELECT count(DISTINCT target_id || type) FROM query_types JOIN targets ON targets.id = target_id WHERE run_id = runs.id AND withheld <> '')
					+ (SELECT count(DISTINCT target_id) FROM loads JOIN targets ON targets.id = target_id WHERE run_id = runs.id AND withheld <> '')
					+ (SELECT count(DISTINCT target_id || json_extract(asked.value, '$.type'))
						FROM loads JOIN targets ON targets.id = target_id, json_each(loads.mixed, '$.types') AS asked
						WHERE run_id = runs.id AND json_extract(asked.value, '$.withheld') <> '')
			FROM runs ORDER BY started DESC, id DESC`, nil, func(rows *sql.Rows) error {
			var r Summary
			if err := rows.Scan(&r.ID, &r.Name, &r.Command, asTime{&r.Started}, asTime{&r.Finished}, &r.Status, &r.Reason,
				&r.Workload, &r.Fingerprint, &r.Place.Sweep, &r.Place.Point, &r.Place.Points, asJSON{&r.Place.Parameters}, &r.Imported, &r.Failed, &r.Types, &r.Withheld); err != nil {
				return err
			}
			at[r.ID] = len(list)
			list = append(list, r)
			return nil
		})
		if err != nil {
			return err
		}
		return each(ctx, tx, "SELECT run_id, name FROM targets ORDER BY id", nil, func(rows *sql.Rows) error {
			var id, name string
			if err := rows.Scan(&id, &name); err != nil {
				return err
			}
			r := &list[at[id]]
			r.Targets = append(r.Targets, name)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing the runs: %w", err)
	}
	return list, nil
}

// Run reads one run with everything that was saved of it. The reference is its
// ID, the beginning or end of its ID where no other run has it too, or Latest.
// The error wraps ErrNotFound where it names no run, offering those with
// similar IDs, or several.
func (s *Store) Run(ctx context.Context, reference string) (*result.Run, error) {
	var run *result.Run
	err := s.transaction(ctx, &sql.TxOptions{ReadOnly: true}, func(tx *sql.Tx) error {
		id, err := resolve(ctx, tx, reference)
		if err != nil {
			return err
		}
		run, err = readRun(ctx, tx, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading run %q: %w", reference, err)
	}
	return run, nil
}

// resolve finds the ID of the run that a reference means.
func resolve(ctx context.Context, tx *sql.Tx, reference string) (string, error) {
	var ids []string
	err := each(ctx, tx, "SELECT id FROM runs ORDER BY started DESC, id DESC", nil, func(rows *sql.Rows) error {
		ids = append(ids, "")
		return rows.Scan(&ids[len(ids)-1])
	})
	switch {
	case err != nil:
		return "", err
	case reference == Latest && len(ids) > 0:
		return ids[0], nil
	}
	at, err := match(reference, ids)
	if err != nil {
		return "", sweepInstead(ctx, tx, reference, err)
	}
	return ids[at], nil
}

// sweepInstead is the error about a reference to a run that is the ID of a
// sweep, or the end of one; else err.
func sweepInstead(ctx context.Context, tx *sql.Tx, reference string, err error) error {
	var id string
	found := tx.QueryRowContext(ctx, "SELECT sweep FROM runs WHERE sweep <> '' AND substr(sweep, -length(?)) = ?", reference, reference).Scan(&id)
	switch {
	case errors.Is(found, sql.ErrNoRows) || reference == "":
		return err
	case found != nil:
		return found
	}
	return fmt.Errorf("%w: %s is a sweep; name one of its runs, as tsmark runs lists them", ErrNotFound, id)
}

func readRun(ctx context.Context, tx *sql.Tx, id string) (*result.Run, error) {
	run := new(result.Run)
	columns := runColumns(run)
	if err := tx.QueryRowContext(ctx, "SELECT "+names(columns)+" FROM runs WHERE id = ?", id).Scan(values(columns)...); err != nil {
		return nil, err
	}
	var targetIDs []int64
	err := each(ctx, tx, "SELECT id, "+names(targetColumns(new(result.Target)))+" FROM targets WHERE run_id = ? ORDER BY id", []any{id}, func(rows *sql.Rows) error {
		var t result.Target
		var rowID int64
		if err := rows.Scan(append([]any{&rowID}, values(targetColumns(&t))...)...); err != nil {
			return err
		}
		run.Targets, targetIDs = append(run.Targets, t), append(targetIDs, rowID)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the targets: %w", err)
	}
	for i := range run.Targets {
		t := &run.Targets[i]
		if err := readRepeats(ctx, tx, targetIDs[i], t); err != nil {
			return nil, fmt.Errorf("reading target %s: %w", t.Name, err)
		}
		t.Restate()
		if err := t.Pool(); err != nil {
			return nil, fmt.Errorf("reading target %s: %w", t.Name, err)
		}
	}
	return run, nil
}

// readRepeats reads what was measured of a target.
func readRepeats(ctx context.Context, tx *sql.Tx, id int64, t *result.Target) error {
	err := all(ctx, tx, "loads", "repeat", id, loadColumns, func(repeat int, l result.Load) {
		t.RepeatOf(repeat).Load = &l
	})
	if err != nil {
		return fmt.Errorf("its loads: %w", err)
	}
	err = all(ctx, tx, "load_rates", "repeat, position", id, rateColumns, func(repeat int, p result.RatePoint) {
		l := t.RepeatOf(repeat).Load
		l.Rates = append(l.Rates, p)
	})
	if err != nil {
		return fmt.Errorf("its load rates: %w", err)
	}
	err = all(ctx, tx, "census", "repeat, position", id, censusColumns, func(repeat int, c result.CensusResult) {
		l := t.RepeatOf(repeat).Load
		l.Census = append(l.Census, c)
	})
	if err != nil {
		return fmt.Errorf("its census: %w", err)
	}
	err = all(ctx, tx, "query_types", "id", id, queriesColumns, func(repeat int, q result.Queries) {
		r := t.RepeatOf(repeat)
		r.Queries = append(r.Queries, q)
	})
	if err != nil {
		return fmt.Errorf("its queries: %w", err)
	}
	return nil
}

// all hands on the rows that a target has in a table, in the given order, each
// with the number of its repeat.
func all[T any](ctx context.Context, tx *sql.Tx, table, order string, targetID int64, columns func(*T) []column, found func(repeat int, v T)) error {
	query := fmt.Sprintf("SELECT repeat, %s FROM %s WHERE target_id = ? ORDER BY %s", names(columns(new(T))), table, order)
	return each(ctx, tx, query, []any{targetID}, func(rows *sql.Rows) error {
		var v T
		var repeat int
		if err := rows.Scan(append([]any{&repeat}, values(columns(&v))...)...); err != nil {
			return err
		}
		found(repeat, v)
		return nil
	})
}

// each calls row for each row of a query.
func each(ctx context.Context, tx *sql.Tx, query string, args []any, row func(*sql.Rows) error) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// LastLoad returns the id of the newest run that loaded a target of the name
// and kind, or "" where none did. Databases are not imported with runs.
func (s *Store) LastLoad(ctx context.Context, target, kind string) (string, error) {
	var id string
	err := s.db.QueryRowContext(ctx, `
		SELECT run_id FROM targets
		JOIN runs ON runs.id = run_id
		JOIN loads ON loads.target_id = targets.id
		WHERE targets.name = ? AND kind = ? AND imported IS NULL
		ORDER BY started DESC, run_id DESC LIMIT 1`, target, kind).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("looking for the last load of target %s: %w", target, err)
	}
	return id, nil
}
