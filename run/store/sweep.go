package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/result"
)

// sweepMark is the prefix of the random part of a sweep's ID.
const sweepMark = "s"

// BeginSweep adds a sweep. Its ID, which must be empty, is set from the time Started and a random
// part: 20260131-154500-s3f2a.
func (s *Store) BeginSweep(ctx context.Context, w *result.Sweep) error {
	for {
		w.ID = newID(w.Started, sweepMark)
		document, err := json.Marshal(w)
		if err != nil {
			return fmt.Errorf("saving sweep %s: %w", w.ID, err)
		}
		done, err := s.exec(ctx, "INSERT INTO sweeps (id, started, points, document) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING", w.ID, timeText(w.Started), w.Points, string(document))
		if err != nil {
			return fmt.Errorf("saving sweep %s: %w", w.ID, err)
		}
		if n, err := done.RowsAffected(); n == 1 || err != nil {
			return err
		}
	}
}

// Sweep reads the sweep with the ID. The error wraps ErrNotFound if it does not exist, for example
// because its runs were imported.
func (s *Store) Sweep(ctx context.Context, id string) (*result.Sweep, error) {
	list, err := s.sweeps(ctx, "WHERE id = ?", id)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: only its runs are stored here, not its experiment", ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("reading sweep %s: %w", id, err)
	}
	return &list[0], nil
}

// SweepWithRuns reads a sweep that Find has found, and its runs. If only its runs were imported,
// the sweep is derived from them.
func (s *Store) SweepWithRuns(ctx context.Context, found Found) (*result.Sweep, []*result.Run, error) {
	var runs []*result.Run
	for _, id := range found.Runs {
		run, err := s.Run(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		runs = append(runs, run)
	}
	record, err := s.Sweep(ctx, found.Sweep)
	if errors.Is(err, ErrNotFound) && len(runs) > 0 {
		first := runs[0]
		return &result.Sweep{ID: found.Sweep, Name: first.Name, Command: first.Command, Started: first.Started, Points: first.Points}, runs, nil
	}
	return record, runs, err
}

// Sweeps lists all sweeps, newest first.
func (s *Store) Sweeps(ctx context.Context) ([]result.Sweep, error) {
	list, err := s.sweeps(ctx, "ORDER BY started DESC, id DESC")
	if err != nil {
		return nil, fmt.Errorf("listing sweeps: %w", err)
	}
	return list, nil
}

func (s *Store) sweeps(ctx context.Context, which string, args ...any) (list []result.Sweep, err error) {
	err = s.forEachRow(ctx, func(rows *sql.Rows) error {
		var length int64
		var document []byte
		if err := rows.Scan(&length, &document); err != nil {
			return err
		}
		if length > s.mostBytes() {
			return tooLarge(s.mostBytes())
		}
		list = append(list, result.Sweep{})
		return json.Unmarshal(document, &list[len(list)-1])
	}, "SELECT octet_length(document), "+bounded+" FROM sweeps "+which, append([]any{s.mostBytes()}, args...)...)
	return list, err
}

// DiscardSweep removes a sweep without stored runs.
func (s *Store) DiscardSweep(ctx context.Context, id string) error {
	if _, err := s.exec(ctx, "DELETE FROM sweeps WHERE id = ?", id); err != nil {
		return fmt.Errorf("removing sweep %s: %w", id, err)
	}
	return nil
}

// Found is the run or sweep that a reference selects.
type Found struct {
	Sweep string   // ID; empty: a single run
	Runs  []string // IDs, in the order of the points; empty: none was begun
}

// entry is a run or a sweep in the store.
type entry struct {
	Found
	points, complete int
	imported         bool // the run, or some run of the sweep
}

func (t *entry) id() string {
	if t.Sweep != "" {
		return t.Sweep
	}
	return t.Runs[0]
}

// Find finds the run or sweep that a reference selects; see Run. Latest and Unfinished select
// sweeps rather than their runs; a sweep is also unfinished if some of its runs were never begun.
func (s *Store) Find(ctx context.Context, reference string) (Found, error) {
	found, err := s.find(ctx, reference)
	if err != nil {
		return found, fmt.Errorf("reading run %q: %w", reference, err)
	}
	return found, nil
}

func (s *Store) find(ctx context.Context, reference string) (Found, error) {
	whole, points, err := s.listEntries(ctx)
	if err != nil {
		return Found{}, err
	}
	for _, t := range whole {
		if reference == Latest {
			return t.Found, nil
		}
		if reference == Unfinished && t.complete < t.points && !t.imported {
			// Another process, possibly on another machine, may execute it.
			if !s.GoingOn(ctx, t.id()) {
				return t.Found, nil
			}
		}
	}
	if reference == Unfinished {
		return Found{}, ErrAllComplete
	}
	var ids []string
	all := append(whole, points...)
	for i := range all {
		ids = append(ids, all[i].id())
	}
	at, err := match(reference, ids)
	if err != nil {
		return Found{}, err
	}
	return all[at].Found, nil
}

// listEntries lists sweeps and single runs, newest first, and separately the runs of sweeps.
func (s *Store) listEntries(ctx context.Context) (whole, points []entry, err error) {
	at, pointOf := make(map[string]int), make(map[string]int)
	err = s.forEachRow(ctx, func(rows *sql.Rows) error {
		var run, sweep, started string
		var n, point int
		var status result.Status
		var imported bool
		if err := rows.Scan(&run, &sweep, &n, &started, &point, &status, &imported); err != nil {
			return err
		}
		complete := 0
		if status == result.Complete {
			complete = 1
		}
		if sweep == "" {
			whole = append(whole, entry{Found{Runs: []string{run}}, 1, complete, imported})
			return nil
		}
		i, ok := at[sweep]
		if !ok {
			i = len(whole)
			at[sweep] = i
			whole = append(whole, entry{Found: Found{Sweep: sweep}})
		}
		whole[i].points += n
		whole[i].complete += complete
		whole[i].imported = whole[i].imported || imported
		if run != "" {
			pointOf[run] = point
			whole[i].Runs = append([]string{run}, whole[i].Runs...)
			points = append(points, entry{Found: Found{Runs: []string{run}}})
		}
		return nil
	}, `SELECT '' AS run, id, points, started, 0 AS point, '', FALSE FROM sweeps
		UNION ALL
		SELECT id, sweep, 0, started, point, status, imported IS NOT NULL FROM documents
		ORDER BY started DESC, point DESC, run DESC`)
	for i := range whole { // a resumed sweep may have begun a point after later ones
		slices.SortStableFunc(whole[i].Runs, func(a, b string) int { return cmp.Compare(pointOf[a], pointOf[b]) })
	}
	return whole, points, err
}

// match returns the position of the ID that a reference selects: an equal one, or the only one that
// starts or ends with it.
func match(reference string, ids []string) (int, error) {
	var matches []string
	at := -1
	for i, id := range ids {
		if id == reference {
			return i, nil
		}
		if reference != "" && (strings.HasPrefix(id, reference) || strings.HasSuffix(id, reference)) {
			matches, at = append(matches, id), i
		}
	}
	const shown = 5
	switch {
	case len(matches) == 1:
		return at, nil
	case len(matches) > shown:
		return -1, fmt.Errorf("%w alone: it matches %d runs, the newest of them %s", ErrNotFound, len(matches), strings.Join(matches[:shown], ", "))
	case len(matches) > 1:
		return -1, fmt.Errorf("%w alone: it matches %s", ErrNotFound, strings.Join(matches, ", "))
	case len(ids) == 0:
		return -1, fmt.Errorf("%w: no run is stored yet; start one with tsmark run", ErrNotFound)
	}
	return -1, fmt.Errorf("%w%s tsmark runs lists them", ErrNotFound, suggest.Nearest(reference, ids))
}
