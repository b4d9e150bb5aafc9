package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Begin adds the run and sets its status to Running. It replaces an empty ID by a new one, made of
// the time Started, which must be set, and a random part: 20260131-154500-3f2a. An existing ID is
// an error: runs are never overwritten.
func (s *Store) Begin(ctx context.Context, r *result.Run) error {
	if r.Started.IsZero() {
		return errors.New("saving a run: the time at which it started is not set")
	}
	r.Status = result.Running
	hasID := r.ID != ""
	for {
		if !hasID {
			r.ID = newID(r.Started, "")
		}
		added, err := s.encodeAndInsert(ctx, r)
		switch {
		case err != nil:
			return fmt.Errorf("saving run %s: %w", r.ID, err)
		case added:
			return nil
		case hasID:
			return fmt.Errorf("saving run %s: a run with this id exists already", r.ID)
		}
	}
}

// Add saves a complete run that was recorded elsewhere. An existing ID is an error.
func (s *Store) Add(ctx context.Context, r *result.Run) error {
	added, err := s.encodeAndInsert(ctx, r)
	if err == nil && !added {
		err = errors.New("a run with this id exists already")
	}
	if err != nil {
		return fmt.Errorf("adding run %s: %w", r.ID, err)
	}
	return nil
}

func (s *Store) encodeAndInsert(ctx context.Context, r *result.Run) (added bool, err error) {
	document, err := result.Encode(r)
	if err != nil {
		return false, err
	}
	return s.insert(ctx, r, document)
}

// insert adds a run with its document; added is false if the ID already exists.
func (s *Store) insert(ctx context.Context, r *result.Run, document []byte) (added bool, err error) {
	values, err := s.row(r, document)
	if err != nil {
		return false, err
	}
	values = append(values, r.ID, importedText(r))
	done, err := s.exec(ctx, "INSERT INTO documents ("+indexed+", document, figures, id, imported) VALUES ("+marks(len(values))+") ON CONFLICT (id) DO NOTHING", values...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 1, err
}

// importedText is the import time of a run, followed by the reason why its figures were not
// checked; nil: it was not imported.
func importedText(r *result.Run) any {
	text, ok := timeText(r.Imported).(string)
	if !ok || r.Unchecked == "" {
		return timeText(r.Imported)
	}
	return text + " " + r.Unchecked
}

// row returns the columns indexed, the document and the figures of a run.
func (s *Store) row(r *result.Run, document []byte) ([]any, error) {
	summary := summarize(r)
	values, err := summary.values()
	if err != nil {
		return nil, err
	}
	figures, err := s.figuresOf(r)
	return append(values, string(document), figures), err
}

// newID returns an ID that sorts by time, with the random part after the mark.
func newID(started time.Time, mark string) string {
	var random [2]byte
	rand.Read(random[:])
	return fmt.Sprintf("%s-%s%x", started.UTC().Format("20060102-150405"), mark, random)
}

// Append saves a piece of a run that was begun; the run already contains it. Of pieces with the
// same content the last one counts.
func (s *Store) Append(ctx context.Context, r *result.Run, p *result.Piece) error {
	err := s.append(ctx, r, p)
	if err != nil {
		return fmt.Errorf("saving the measurements of target %s in run %s: %w", p.Target.Name, r.ID, err)
	}
	return nil
}

func (s *Store) append(ctx context.Context, r *result.Run, p *result.Piece) error {
	piece, err := json.Marshal(p)
	if err != nil {
		return err
	}
	summary := summarize(r)
	values, err := summary.values()
	if err != nil {
		return err
	}
	return s.transaction(ctx, func(exec func(string, ...any) (int64, error)) error {
		known, err := exec("UPDATE documents SET ("+indexed+") = ("+marks(len(values))+") WHERE id = ?", append(values, r.ID)...)
		if err == nil && known == 0 {
			err = fmt.Errorf("%w: it was not begun", ErrNotFound)
		}
		if err != nil {
			return err
		}
		_, err = exec("INSERT INTO pieces (run, number, document) VALUES (?, (SELECT coalesce(max(number), 0) + 1 FROM pieces WHERE run = ?), ?)", r.ID, r.ID, string(piece))
		return err
	})
}

// Save replaces everything saved for a run that was begun by the run itself.
func (s *Store) Save(ctx context.Context, r *result.Run) error {
	err := s.save(ctx, r)
	if err != nil {
		return fmt.Errorf("saving run %s: %w", r.ID, err)
	}
	return nil
}

func (s *Store) save(ctx context.Context, r *result.Run) error {
	document, err := result.Encode(r)
	if err != nil {
		return err
	}
	values, err := s.row(r, document)
	if err != nil {
		return err
	}
	return s.transaction(ctx, func(exec func(string, ...any) (int64, error)) error {
		known, err := exec("UPDATE documents SET ("+indexed+", document, figures) = ("+marks(len(values))+") WHERE id = ?", append(values, r.ID)...)
		if err == nil && known == 0 {
			err = fmt.Errorf("%w: it was not begun", ErrNotFound)
		}
		if err != nil {
			return err
		}
		_, err = exec("DELETE FROM pieces WHERE run = ?", r.ID)
		return err
	})
}

// Discard removes a run with everything saved for it.
func (s *Store) Discard(ctx context.Context, runID string) error {
	if _, err := s.exec(ctx, "DELETE FROM documents WHERE id = ?", runID); err != nil {
		return fmt.Errorf("removing run %s: %w", runID, err)
	}
	return nil
}
