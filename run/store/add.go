package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/tsmark/tsmark/result"
)

// Add saves a whole run as it was recorded elsewhere: all of it or nothing. A
// run whose ID exists already is an error.
func (s *Store) Add(ctx context.Context, r *result.Run) error {
	err := s.transaction(ctx, nil, func(tx *sql.Tx) error {
		columns := runColumns(r)
		if _, err := tx.ExecContext(ctx, insert("runs", columns), values(columns)...); err != nil {
			return err
		}
		for i := range r.Targets {
			if err := addTarget(ctx, tx, r.ID, &r.Targets[i]); err != nil {
				return fmt.Errorf("target %s: %w", r.Targets[i].Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding run %s: %w", r.ID, err)
	}
	return nil
}

func addTarget(ctx context.Context, tx *sql.Tx, runID string, t *result.Target) error {
	columns := append(targetColumns(t), column{"run_id", runID})
	added, err := tx.ExecContext(ctx, insert("targets", columns), values(columns)...)
	if err != nil {
		return err
	}
	id, err := added.LastInsertId()
	if err != nil {
		return err
	}
	for _, repeat := range t.Repeats {
		if repeat.Load != nil {
			if err := saveLoad(ctx, tx, id, repeat.Number, repeat.Load); err != nil {
				return fmt.Errorf("its load: %w", err)
			}
		}
		for i := range repeat.Queries {
			if err := saveQueries(ctx, tx, id, repeat.Number, &repeat.Queries[i]); err != nil {
				return fmt.Errorf("%s: %w", repeat.Queries[i].Type, err)
			}
		}
	}
	return nil
}
