package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/result"
)

// Latest names the newest run to Run, Unfinished the newest that did not
// complete.
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
	Failed      int      // targets that gave up
	Types       int      // query types with figures or a reason why there are none, over all targets
	Withheld    int      // loads and query types whose figures are withheld, those of mixed phases included
}

// Runs lists all runs, newest first.
func (s *Store) Runs(ctx context.Context) ([]Summary, error) {
	var list []Summary
	err := s.transaction(ctx, &sql.TxOptions{ReadOnly: true}, func(tx *sql.Tx) error {
		at := map[string]int{}
		err := each(ctx, tx, `
			SELECT id, name, command, started, finished, status, reason, workload, fingerprint,
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
				&r.Workload, &r.Fingerprint, &r.Failed, &r.Types, &r.Withheld); err != nil {
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
// ID, the beginning or end of its ID where no other run has it too, Latest or
// Unfinished.
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

// resolve finds the ID that a reference means.
func resolve(ctx context.Context, tx *sql.Tx, reference string) (string, error) {
	var ids, matches []string
	unfinished := ""
	err := each(ctx, tx, "SELECT id, status FROM runs ORDER BY started DESC, id DESC", nil, func(rows *sql.Rows) error {
		var id string
		var status result.Status
		if err := rows.Scan(&id, &status); err != nil {
			return err
		}
		ids = append(ids, id)
		if status != result.Complete && unfinished == "" {
			unfinished = id
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case reference == Latest && len(ids) > 0:
		return ids[0], nil
	case reference == Unfinished && unfinished != "":
		return unfinished, nil
	case reference == Unfinished:
		return "", fmt.Errorf("%w: every run is complete", ErrNotFound)
	}
	for _, id := range ids {
		if id == reference {
			return id, nil
		}
		if reference != "" && (strings.HasPrefix(id, reference) || strings.HasSuffix(id, reference)) {
			matches = append(matches, id)
		}
	}
	const shown = 5
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > shown:
		return "", fmt.Errorf("%w alone: it matches %d runs, the newest of them %s", ErrNotFound, len(matches), strings.Join(matches[:shown], ", "))
	case len(matches) > 1:
		return "", fmt.Errorf("%w alone: it matches %s", ErrNotFound, strings.Join(matches, ", "))
	case len(ids) == 0:
		return "", fmt.Errorf("%w: there are none yet; run tsmark run first", ErrNotFound)
	}
	// Old runs are of no help in a message, and there may be thousands.
	return "", fmt.Errorf("%w%s", ErrNotFound, suggest.Among(reference, ids[:min(len(ids), 20)]))
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
// and kind, or "" where none did.
func (s *Store) LastLoad(ctx context.Context, target, kind string) (string, error) {
	var id string
	err := s.db.QueryRowContext(ctx, `
		SELECT run_id FROM targets
		JOIN runs ON runs.id = run_id
		JOIN loads ON loads.target_id = targets.id
		WHERE targets.name = ? AND kind = ?
		ORDER BY started DESC, run_id DESC LIMIT 1`, target, kind).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("looking for the last load of target %s: %w", target, err)
	}
	return id, nil
}
