package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// ReadMark implements driver.DB.
func (d *database) ReadMark(ctx context.Context) (driver.Mark, error) {
	var stamp driver.Stamp
	err := d.admin.Do(ctx, func(c *pgwire.Conn) (err error) {
		stamp, _, err = d.readStamp(ctx, c)
		return err
	})
	if err != nil {
		return driver.Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return stamp.Mark, nil
}

// WriteMark implements driver.DB.
func (d *database) WriteMark(ctx context.Context, m driver.Mark) error {
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		s, _, err := d.readStamp(ctx, c)
		if err != nil {
			return err
		}
		s.Mark = m
		return d.transaction(ctx, c, []string{sqlkit.MarkTable}, func() error { return writeStamp(ctx, c, s) })
	})
	if err != nil {
		return fmt.Errorf("writing the mark: %w", err)
	}
	return nil
}

// Prepare implements driver.DB. Tables that tsmark did not make stay, even
// in a marked database.
func (d *database) Prepare(ctx context.Context, schema *series.Schema, m driver.Mark) error {
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

// Inspect implements driver.Inspector.
func (d *database) Inspect(ctx context.Context, schema *series.Schema) error {
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		row, err := c.Row(ctx, "SELECT has_schema_privilege(current_schema(), 'CREATE')::int, current_user, current_schema()")
		if err == nil && row[0].Int == 0 {
			err = fmt.Errorf("user %s may not make tables in schema %s; grant it CREATE there", row[1], row[2])
		}
		if err != nil || schema == nil {
			return err
		}
		next, err := newLayout(schema, d.options)
		if err != nil {
			return err
		}
		_, err = d.replaceable(ctx, c, next)
		return err
	})
	if err != nil {
		return fmt.Errorf("looking at %s: %w", d.config.Location(), err)
	}
	return nil
}

// replaceable returns the names of the tables that are dropped before those of a
// layout are made, or an error that wraps driver.ErrForeign.
func (d *database) replaceable(ctx context.Context, c *pgwire.Conn, next *layout) ([]string, error) {
	old, present, err := d.readStamp(ctx, c)
	if err != nil && !errors.Is(err, driver.ErrNoMark) {
		return nil, err
	}
	return old.Own(present), d.place.Foreign(old, present, next.names(), false)
}

func (d *database) prepare(ctx context.Context, c *pgwire.Conn, next *layout, m driver.Mark) error {
	old, err := d.replaceable(ctx, c, next)
	if err != nil {
		return err
	}
	return d.transaction(ctx, c, slices.Concat(old, next.names(), []string{sqlkit.MarkTable}), func() error {
		for _, name := range old {
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
		stamp := driver.Stamp{Mark: m, Tables: next.names()}
		present, err := objects(ctx, c)
		if err != nil {
			return err
		}
		stamp.Identify(present)
		return writeStamp(ctx, c, stamp)
	})
}

// ofTheSchema is the condition that keeps tables and views of the schema in which
// tsmark makes its own. Those of extensions are none of anybody's.
const ofTheSchema = `relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
		AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`

// objects returns all tables and views of the schema in which tsmark makes its
// own. Their OIDs stay what they are when rows are written anew, as by TRUNCATE,
// VACUUM FULL and CLUSTER.
func objects(ctx context.Context, c *pgwire.Conn) ([]driver.Object, error) {
	var answer query.Answer
	_, err := c.Query(ctx, "SELECT relname, oid::bigint FROM pg_class WHERE "+ofTheSchema+" ORDER BY 1", &answer)
	present := make([]driver.Object, len(answer.Rows))
	for i, row := range answer.Rows {
		present[i] = driver.Object{Name: row[0].String(), Identity: row[1].String()}
	}
	return present, err
}

// readStamp returns what the mark's table holds, and all tables and views of the
// schema.
func (d *database) readStamp(ctx context.Context, c *pgwire.Conn) (driver.Stamp, []driver.Object, error) {
	present, err := objects(ctx, c)
	if err != nil {
		return driver.Stamp{}, nil, err
	}
	stamp, err := d.place.ReadStamp(present, func() (string, error) {
		row, err := c.Row(ctx, fmt.Sprintf("SELECT %s::text FROM %s", sqlkit.ContentColumn, sqlkit.MarkTable))
		if err != nil {
			return "", err
		}
		return row[0].String(), nil
	})
	return stamp, present, err
}

// writeStamp replaces what the mark's table holds, in a transaction.
func writeStamp(ctx context.Context, c *pgwire.Conn, s driver.Stamp) error {
	content, err := s.Text()
	if err != nil {
		return err
	}
	return c.Exec(ctx,
		"DROP TABLE IF EXISTS "+sqlkit.MarkTable,
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s::text AS %s", sqlkit.MarkTable, Literal(content), sqlkit.ContentColumn))
}
