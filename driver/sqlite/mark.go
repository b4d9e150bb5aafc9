package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// ReadMark implements driver.DB.
func (d *database) ReadMark(ctx context.Context) (driver.Mark, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, _, err := d.readStamp(ctx)
	if err != nil {
		return driver.Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return s.Mark, nil
}

// WriteMark implements driver.DB.
func (d *database) WriteMark(ctx context.Context, m driver.Mark) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, _, err := d.readStamp(ctx)
	if err == nil {
		s.Mark = m
		err = d.change(ctx, func() error { return d.writeStamp(ctx, s) })
	}
	if err != nil {
		return fmt.Errorf("writing the mark: %w", err)
	}
	return nil
}

// Prepare implements driver.DB. Tables that tsmark did not make stay,
// even in a marked database.
func (d *database) Prepare(ctx context.Context, schema *series.Schema, m driver.Mark) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.prepare(ctx, schema, m); err != nil {
		return fmt.Errorf("preparing %s: %w", d.path, err)
	}
	return nil
}

// Inspect implements driver.Inspector.
func (d *database) Inspect(ctx context.Context, schema *series.Schema) error {
	if schema == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, _, err := d.replaceable(ctx, schema); err != nil {
		return fmt.Errorf("looking at %s: %w", d.path, err)
	}
	return nil
}

// replaced is what a new layout takes the place of.
type replaced struct {
	tables []string // of tsmark's, which are dropped
	others bool     // there is something that tsmark did not make
}

// replaceable returns the layout of a schema, and what it takes the place of, or
// an error that wraps driver.ErrForeign. The caller holds mu.
func (d *database) replaceable(ctx context.Context, schema *series.Schema) (*layout, replaced, error) {
	next, err := newLayout(schema, d.index)
	if err != nil {
		return nil, replaced{}, err
	}
	old, present, err := d.readStamp(ctx)
	if err != nil && !errors.Is(err, driver.ErrNoMark) {
		return nil, replaced{}, err
	}
	own := old.Own(plain(present))
	others := plain(slices.DeleteFunc(present, func(o object) bool { return o.table == sqlkit.MarkTable || slices.Contains(own, o.table) }))
	return next, replaced{own, len(others) > 0}, d.place().Foreign(old, others, next.names, true)
}

func (d *database) prepare(ctx context.Context, schema *series.Schema, m driver.Mark) error {
	next, old, err := d.replaceable(ctx, schema)
	if err != nil {
		return err
	}
	err = d.change(ctx, func() error {
		for _, name := range old.tables {
			if err := exec(ctx, d.admin, "DROP TABLE IF EXISTS "+quoted(name)); err != nil {
				return err
			}
		}
		if err := exec(ctx, d.admin, next.ddl...); err != nil {
			return err
		}
		stamp := driver.Stamp{Mark: m, Tables: next.tables}
		present, err := d.objects(ctx)
		if err != nil {
			return err
		}
		stamp.Identify(plain(present))
		return d.writeStamp(ctx, stamp)
	})
	if err != nil {
		return err
	}
	d.layout = next
	if len(old.tables) == 0 || old.others {
		return nil
	}
	// The file of an earlier load shrinks only so, and would count for this
	// one. Others' tables would be written anew, and might number their rows
	// otherwise.
	return exec(ctx, d.admin, "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
}

// change runs do in a transaction, which an error undoes. The caller holds mu.
func (d *database) change(ctx context.Context, do func() error) error {
	if err := d.lock(ctx); err != nil {
		return err
	}
	defer d.unlock()
	if err := exec(ctx, d.admin, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = exec(context.WithoutCancel(ctx), d.admin, "COMMIT")
	}
	if err != nil {
		d.admin.rollback()
	}
	return err
}

// object is a table, view or index of the database, or a trigger.
type object struct {
	driver.Object
	table string // that it belongs to; its own name where it is one
}

// objects returns all that is in the database. The identity of a table is the
// statement that made it, which VACUUM leaves as it is. The caller holds mu.
func (d *database) objects(ctx context.Context) ([]object, error) {
	var answer query.Answer
	_, err := d.admin.query(ctx, `SELECT name, tbl_name, type IN ('table', 'view'), coalesce(sql, '') FROM sqlite_schema
		WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY 1`, &answer)
	present := make([]object, len(answer.Rows))
	for i, row := range answer.Rows {
		present[i] = object{driver.Object{Name: row[0].String()}, row[1].String()}
		if row[2].Int != 0 {
			present[i].Identity = driver.Described(row[3].String())
		}
	}
	return present, err
}

// plain is the objects without what they belong to.
func plain(objects []object) []driver.Object {
	list := make([]driver.Object, len(objects))
	for i, o := range objects {
		list[i] = o.Object
	}
	return list
}

// readStamp returns what the mark's table holds, and all that is in the
// database. The caller holds mu.
func (d *database) readStamp(ctx context.Context) (driver.Stamp, []object, error) {
	present, err := d.objects(ctx)
	if err != nil {
		return driver.Stamp{}, nil, fmt.Errorf("%s %w", d.path, err)
	}
	stamp, err := d.place().ReadStamp(plain(present), func() (string, error) {
		row, err := d.row(ctx, fmt.Sprintf("SELECT %s FROM %s", sqlkit.ContentColumn, sqlkit.MarkTable))
		if err != nil {
			return "", err
		}
		return row[0].String(), nil
	})
	return stamp, present, err
}

// place is the database as messages name it.
func (d *database) place() sqlkit.Place {
	return sqlkit.Place{Name: d.path, Instead: "give another path"}
}

// writeStamp replaces what the mark's table holds. The caller holds mu, in a
// transaction.
func (d *database) writeStamp(ctx context.Context, s driver.Stamp) error {
	content, err := s.Text()
	if err != nil {
		return err
	}
	return exec(ctx, d.admin,
		"DROP TABLE IF EXISTS "+sqlkit.MarkTable,
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s AS %s", sqlkit.MarkTable, newDialect().Text(content), sqlkit.ContentColumn))
}
