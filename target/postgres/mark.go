package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/pgwire"
	"github.com/tsmark/tsmark/target/sqltarget"
)

// ReadMark implements target.Target.
func (d *database) ReadMark(ctx context.Context) (target.Mark, error) {
	var stamp sqltarget.Stamp
	err := d.admin.Do(ctx, func(c *pgwire.Conn) (err error) {
		stamp, _, err = d.readStamp(ctx, c)
		return err
	})
	if err != nil {
		return target.Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return stamp.Mark, nil
}

// WriteMark implements target.Target.
func (d *database) WriteMark(ctx context.Context, m target.Mark) error {
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		s, _, err := d.readStamp(ctx, c)
		if err != nil {
			return err
		}
		s.Mark = m
		return transaction(ctx, c, func() error { return writeStamp(ctx, c, s) })
	})
	if err != nil {
		return fmt.Errorf("writing the mark: %w", err)
	}
	return nil
}

// Prepare implements target.Target. Tables that tsmark did not make stay, even
// in a marked database.
func (d *database) Prepare(ctx context.Context, schema *series.Schema, m target.Mark) error {
	next, err := newLayout(schema, d.options)
	if err == nil {
		err = d.admin.Do(ctx, func(c *pgwire.Conn) error { return d.prepare(ctx, c, next, m) })
	}
	if err != nil {
		return fmt.Errorf("preparing %s: %w", d.config.Location(), err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.layout = next
	return nil
}

func (d *database) prepare(ctx context.Context, c *pgwire.Conn, next *layout, m target.Mark) error {
	old, present, err := d.readStamp(ctx, c)
	if err != nil && !errors.Is(err, target.ErrNoMark) {
		return err
	}
	stamp := sqltarget.Stamp{Mark: m}
	for _, t := range next.tables {
		stamp.Tables = append(stamp.Tables, t.Name)
	}
	if err := d.place.Foreign(old, present, stamp.Tables, false); err != nil {
		return err
	}
	return transaction(ctx, c, func() error {
		for _, name := range old.Tables {
			if err := c.Exec(ctx, "DROP TABLE IF EXISTS "+Quoted(name)); err != nil {
				return err
			}
		}
		for i, t := range next.tables {
			if err := c.Exec(ctx, next.ddl[i]); err != nil {
				return fmt.Errorf("making table %s: %w", t.Name, err)
			}
			if !t.Rows || d.variant.MakeTable == nil {
				continue
			}
			if err := d.variant.MakeTable(ctx, c, d.options, t); err != nil {
				return fmt.Errorf("making table %s: %w", t.Name, err)
			}
		}
		return writeStamp(ctx, c, stamp)
	})
}

// transaction runs do in a transaction, which an error undoes.
func transaction(ctx context.Context, c *pgwire.Conn, do func() error) error {
	if err := c.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		// Interrupting a commit would leave open whether it happened.
		err = c.Exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil && !c.Closed() {
		_ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK") // the first error says what is wrong
	}
	return err
}

// ofTheSchema is the condition that keeps tables and views of the schema in which
// tsmark makes its own. Those of extensions are none of anybody's.
const ofTheSchema = `relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
		AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`

// readStamp returns what the mark's table holds, and the names of all tables and
// views of the schema in which tsmark makes its own.
func (d *database) readStamp(ctx context.Context, c *pgwire.Conn) (sqltarget.Stamp, []string, error) {
	var answer query.Answer
	_, err := c.Query(ctx, "SELECT relname FROM pg_class WHERE "+ofTheSchema+" ORDER BY 1", &answer)
	if err != nil {
		return sqltarget.Stamp{}, nil, err
	}
	present := make([]string, len(answer.Rows))
	for i, row := range answer.Rows {
		present[i] = row[0].String()
	}
	stamp, err := d.place.ReadStamp(present, func() (string, error) {
		row, err := c.Row(ctx, fmt.Sprintf("SELECT %s::text FROM %s", sqltarget.ContentColumn, sqltarget.MarkTable))
		if err != nil {
			return "", err
		}
		return row[0].String(), nil
	})
	return stamp, present, err
}

// writeStamp replaces what the mark's table holds, in a transaction.
func writeStamp(ctx context.Context, c *pgwire.Conn, s sqltarget.Stamp) error {
	content, err := s.Text()
	if err != nil {
		return err
	}
	return c.Exec(ctx,
		"DROP TABLE IF EXISTS "+sqltarget.MarkTable,
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s::text AS %s", sqltarget.MarkTable, Literal(content), sqltarget.ContentColumn))
}
