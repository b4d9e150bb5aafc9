package questdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
)

// stamp is what the newest row of the mark's table holds, as JSON.
type stamp struct {
	Mark   target.Mark `json:"mark"`
	Tables []string    `json:"tables"` // that tsmark made and may drop
}

// ReadMark implements target.Target.
func (d *database) ReadMark(ctx context.Context) (target.Mark, error) {
	s, _, err := d.readStamp(ctx)
	if err != nil {
		return target.Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return s.Mark, nil
}

// WriteMark implements target.Target.
func (d *database) WriteMark(ctx context.Context, m target.Mark) error {
	s, _, err := d.readStamp(ctx)
	if err == nil {
		s.Mark = m
		err = d.writeStamp(ctx, s)
	}
	if err != nil {
		return fmt.Errorf("writing the mark: %w", err)
	}
	return nil
}

// Prepare implements target.Target. The mark names the tables before they are
// made: were tsmark to end in between, the next Prepare would know them as its
// own.
func (d *database) Prepare(ctx context.Context, schema *series.Schema, m target.Mark) error {
	if err := d.prepare(ctx, schema, m); err != nil {
		return fmt.Errorf("preparing QuestDB: %w", err)
	}
	return nil
}

func (d *database) prepare(ctx context.Context, schema *series.Schema, m target.Mark) error {
	next, err := newLayout(schema, &d.settings.tables)
	if err != nil {
		return err
	}
	old, present, err := d.readStamp(ctx)
	if err != nil && !errors.Is(err, target.ErrNoMark) {
		return err
	}
	for _, name := range present {
		if name == markTable || slices.Contains(old.Tables, name) {
			continue
		}
		if slices.ContainsFunc(next.names, func(own string) bool { return strings.EqualFold(own, name) }) {
			return fmt.Errorf("%w: a table %s; drop or rename it, or give another server", target.ErrForeign, name)
		}
	}
	for _, name := range old.Tables {
		if err := d.drop(ctx, name); err != nil {
			return err
		}
	}
	for _, statement := range []string{
		"DROP TABLE IF EXISTS " + markTable, // that its rows of old loads do not gather
		"CREATE TABLE " + markTable + " (content VARCHAR)",
	} {
		if err := d.exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := d.writeStamp(ctx, stamp{Mark: m, Tables: next.names}); err != nil {
		return err
	}
	for _, statement := range next.ddl {
		if err := d.exec(ctx, statement); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.layout = next
	d.sent.Store(0)
	return nil
}

// drop drops a table. One without a write-ahead log is held for a while by the
// connections that wrote to it.
func (d *database) drop(ctx context.Context, name string) error {
	bounded, cancel := d.settings.wire().Bounded(ctx)
	defer cancel()
	for wait := firstLook; ; wait = min(2*wait, longestLook) {
		err := d.exec(ctx, "DROP TABLE IF EXISTS "+quoted(name))
		if err == nil || !strings.Contains(err.Error(), "could not lock") {
			return err
		}
		select {
		case <-time.After(wait):
		case <-bounded.Done():
			return fmt.Errorf("%w; end what uses the table", err)
		}
	}
}

// readStamp returns what the mark's table holds, and the names of all tables.
func (d *database) readStamp(ctx context.Context) (stamp, []string, error) {
	rows, err := d.ask(ctx, "SELECT table_name FROM tables() WHERE table_name NOT LIKE 'sys.%' ORDER BY table_name")
	if err != nil {
		return stamp{}, nil, err
	}
	present := make([]string, len(rows))
	for i, row := range rows {
		present[i] = row[0].String()
	}
	where := "QuestDB at " + d.Address()
	switch {
	case len(present) == 0:
		return stamp{}, nil, fmt.Errorf("%s %w", where, target.ErrNoMark)
	case !slices.Contains(present, markTable):
		return stamp{}, present, fmt.Errorf("%s %w: %s; give another server", where, target.ErrForeign, some(present))
	}
	rows, err = d.ask(ctx, "SELECT content FROM "+markTable+" LIMIT -1")
	if err != nil {
		return stamp{}, present, err
	}
	var s stamp
	if len(rows) == 0 { // Prepare ended before it wrote one
		return stamp{}, present, fmt.Errorf("%s %w", where, target.ErrNoMark)
	}
	if err := json.Unmarshal([]byte(rows[0][0].String()), &s); err != nil {
		return stamp{}, present, fmt.Errorf("%s %w: its table %s is not as tsmark writes it (%w); give another server", where, target.ErrForeign, markTable, err)
	}
	return s, present, nil
}

// writeStamp adds a row to the mark's table: one statement, which a crash does
// not leave half done.
func (d *database) writeStamp(ctx context.Context, s stamp) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return d.exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%s)", markTable, newDialect().Text(string(content))))
}

// some lists the first names.
func some(present []string) string {
	const shown = 3
	text := "tables " + strings.Join(present[:min(len(present), shown)], ", ")
	if more := len(present) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
