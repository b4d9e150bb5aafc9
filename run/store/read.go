package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/result"
)

// Latest selects the newest run in Run and Find; Unfinished selects in Find the newest run that did
// not complete and was not imported.
const (
	Latest     = "latest"
	Unfinished = "unfinished"
)

// Runs lists all runs, newest first.
func (s *Store) Runs(ctx context.Context) ([]Summary, error) {
	var list []Summary
	err := s.forEachRow(ctx, func(rows *sql.Rows) error {
		list = append(list, Summary{})
		return list[len(list)-1].scan(rows)
	}, "SELECT id, "+indexed+", imported, figures FROM documents ORDER BY started DESC, id DESC")
	if err != nil {
		return nil, fmt.Errorf("listing the runs: %w", err)
	}
	return list, nil
}

// Run reads a run with all saved pieces, pooled. The reference is its ID, a unique beginning or end
// of its ID, or Latest. The error wraps ErrNotFound if the reference matches no run, and suggests
// similar IDs, or if it matches several.
func (s *Store) Run(ctx context.Context, reference string) (*result.Run, error) {
	run, _, err := s.read(ctx, reference)
	if err == nil {
		run, err = run.Pool()
	}
	if err != nil {
		return nil, fmt.Errorf("reading run %q: %w", reference, err)
	}
	return run, nil
}

// Document is Run, and also returns the stored document.
func (s *Store) Document(ctx context.Context, reference string) (*result.Run, []byte, error) {
	run, document, err := s.read(ctx, reference)
	if err != nil {
		return nil, nil, fmt.Errorf("reading run %q: %w", reference, err)
	}
	return run, document, nil
}

// read returns a run and its document. If pieces were appended since the document was stored, the
// document is the one that will be stored.
func (s *Store) read(ctx context.Context, reference string) (*result.Run, []byte, error) {
	id, err := s.resolve(ctx, reference)
	if err != nil {
		return nil, nil, err
	}
	var run *result.Run
	var document []byte
	pieces := 0
	size := int64(0)
	// A single statement reads one consistent state of the database.
	err = s.forEachRow(ctx, func(rows *sql.Rows) error {
		var number int
		var length int64
		var text []byte
		var imported sql.NullString
		if err := rows.Scan(&number, &length, &text, &imported); err != nil {
			return err
		}
		if size += length; size > s.mostBytes() {
			return tooLarge(s.mostBytes())
		}
		if number > 0 {
			if run == nil {
				return ErrNotFound // pieces without a document are not a run
			}
			var p result.Piece
			if err := json.Unmarshal(text, &p); err != nil {
				return err
			}
			run.Add(&p)
			pieces++
			return nil
		}
		var err error
		if run, err = result.Decode(text); err == nil && imported.Valid {
			var when string
			when, run.Unchecked, _ = strings.Cut(imported.String, " ")
			run.Imported, err = time.Parse(timeLayout, when)
		}
		document = text
		return err
	}, "SELECT 0 AS number, octet_length(document), "+bounded+", imported FROM documents WHERE id = ? UNION ALL SELECT number, octet_length(document), "+bounded+", NULL FROM pieces WHERE run = ? ORDER BY number",
		s.mostBytes(), id, s.mostBytes(), id)
	if err == nil && run == nil {
		err = ErrNotFound // it was removed in the meantime
	}
	if err == nil {
		err = checkStored(run, id)
	}
	if err == nil && pieces > 0 {
		document, err = result.Encode(run)
	}
	return run, document, err
}

// bounded is an SQL expression for a document, or NULL if it has more bytes than the parameter: the
// size is checked before any data is sent.
const bounded = "CASE WHEN octet_length(document) <= ? THEN document END"

// mostBytes is the maximum size of a stored run or sweep for reading.
func (s *Store) mostBytes() int64 { return cmp.Or(s.most, result.MaxDocument) }

// tooLarge is the error for exceeding it.
func tooLarge(most int64) error {
	return fmt.Errorf("more than %s is stored of it, which tsmark does not read: it is damaged, or others wrote it", humanize.IBytes(uint64(most)))
}

// checkStored returns why tsmark cannot have stored a run under the ID: others may write to a
// shared database, and a folder may come from elsewhere.
func checkStored(run *result.Run, id string) error {
	switch {
	case !result.ProperID(id):
		return fmt.Errorf("its id %q names no folder", id)
	case run.ID != id:
		return fmt.Errorf("its document is of run %q", run.ID)
	}
	if err := result.Check(run); err != nil {
		return fmt.Errorf("its document is damaged: %w", err)
	}
	return nil
}

// resolve finds the ID of the run that a reference selects.
func (s *Store) resolve(ctx context.Context, reference string) (string, error) {
	var ids []string
	err := s.forEachRow(ctx, func(rows *sql.Rows) error {
		ids = append(ids, "")
		return rows.Scan(&ids[len(ids)-1])
	}, "SELECT id FROM documents ORDER BY started DESC, id DESC")
	switch {
	case err != nil:
		return "", err
	case reference == Latest && len(ids) > 0:
		return ids[0], nil
	}
	at, err := match(reference, ids)
	if err != nil {
		return "", s.sweepInstead(ctx, reference, err)
	}
	return ids[at], nil
}

// sweepInstead returns the error for a reference to a run that matches the ID of a sweep; otherwise
// err.
func (s *Store) sweepInstead(ctx context.Context, reference string, err error) error {
	var id string
	found := s.forEachRow(ctx, func(rows *sql.Rows) error { return rows.Scan(&id) }, "SELECT DISTINCT sweep FROM documents WHERE sweep <> '' AND sweep LIKE ?", "%"+reference)
	switch {
	case found != nil:
		return found
	case id == "" || reference == "" || !strings.HasSuffix(id, reference):
		return err
	}
	return fmt.Errorf("%w: %s is a sweep; name one of its runs, as tsmark runs lists them", ErrNotFound, id)
}

// RunsThatLoaded returns the IDs of the runs that loaded a target of the name and driver, newest first.
// Imports do not include databases.
func (s *Store) RunsThatLoaded(ctx context.Context, target, driver string) ([]string, error) {
	runs, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range runs {
		if !r.Imported && slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Name == target && t.Driver == driver && t.Loaded }) {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}
