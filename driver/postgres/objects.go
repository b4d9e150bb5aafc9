package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

const kindTable = "table"

// Objects implements driver.DB: the tables and views of the schema in which tsmark
// makes its own, but those of extensions. Their OIDs stay what they are when rows
// are written anew, as by TRUNCATE, VACUUM FULL and CLUSTER.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	var answer query.Answer
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		answer = query.Answer{} // of a connection that was cut
		_, err := c.Query(ctx, `SELECT CASE relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'table' END, relname, oid::bigint
			FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
				AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
			ORDER BY 1, 2`, &answer)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing what is in %s: %w", d.config.Location(), err)
	}
	objects := make([]driver.Object, len(answer.Rows))
	for i, row := range answer.Rows {
		o := driver.Object{Kind: row[0].String(), Name: row[1].String(), Identity: row[2].String(), Data: true}
		o.Note = o.Kind == kindTable && o.Name == sqlkit.NoteTable
		objects[i] = o
	}
	return objects, nil
}

// Plan implements driver.DB.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	l, err := newLayout(schema, d.options)
	if err != nil {
		return nil, err
	}
	return l.objects(), nil
}

// Inspect implements driver.Inspector.
func (d *database) Inspect(ctx context.Context) error {
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		row, err := c.Row(ctx, "SELECT has_schema_privilege(current_schema(), 'CREATE')::int, current_user, current_schema()")
		if err == nil && row[0].Int == 0 {
			err = fmt.Errorf("user %s may not make tables in schema %s; grant it CREATE there", row[1], row[2])
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("looking at %s: %w", d.config.Location(), err)
	}
	return nil
}

// Create implements driver.DB.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	l, err := newLayout(schema, d.options)
	if err == nil {
		err = d.change(ctx, sqlkit.Names(l.objects()), func(c *pgwire.Conn) error { return d.create(ctx, c, l) })
	}
	if err != nil {
		return fmt.Errorf("creating tables in %s: %w", d.config.Location(), err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.layout = l
	return nil
}

func (d *database) create(ctx context.Context, c *pgwire.Conn, l *layout) error {
	for i, t := range l.tables {
		err := c.Exec(ctx, l.ddl[i])
		if err == nil && t.Rows && d.variant.MakeTable != nil {
			err = d.variant.MakeTable(ctx, c, d.options, t)
		}
		if err != nil {
			return fmt.Errorf("making table %s: %w", t.Name, err)
		}
	}
	return nil
}

// made returns the tables that Create has made.
func (d *database) made() ([]Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.layout == nil {
		return nil, errors.New("nothing was created through this connection")
	}
	return d.layout.tables, nil
}

// Drop implements driver.DB. Views come before what they look at.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	err := d.change(ctx, sqlkit.Names(objects), func(c *pgwire.Conn) error {
		for _, kind := range [...]string{"view", "materialized view", "foreign table", kindTable} {
			var names []string
			for _, o := range objects {
				if o.Kind == kind {
					names = append(names, Quoted(o.Name))
				}
			}
			if err := drop(ctx, c, "DROP "+strings.ToUpper(kind)+" IF EXISTS ", names); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.config.Location(), err)
	}
	return nil
}

// drop drops all in one statement, since they may refer to each other, or each in
// its own where that is refused, as TimescaleDB does.
func drop(ctx context.Context, c *pgwire.Conn, statement string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if err := c.Exec(ctx, "SAVEPOINT together"); err != nil {
		return err
	}
	err := c.Exec(ctx, statement+strings.Join(names, ", "))
	var refused *pgwire.Error
	if len(names) == 1 || !errors.As(err, &refused) || refused.SQLState() == pgwire.StateLocked {
		return err
	}
	if err := c.Exec(ctx, "ROLLBACK TO together"); err != nil {
		return err
	}
	for _, name := range names {
		if err := c.Exec(ctx, statement+name); err != nil {
			return err
		}
	}
	return nil
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (text string, err error) {
	err = d.admin.Do(ctx, func(c *pgwire.Conn) error {
		row, err := c.Row(ctx, fmt.Sprintf("SELECT %s::text FROM %s", sqlkit.NoteColumn, sqlkit.NoteTable))
		if err == nil {
			text = row[0].String()
		}
		return err
	})
	return text, err
}

// SetNote implements driver.DB.
func (d *database) SetNote(ctx context.Context, text string) error {
	return d.change(ctx, []string{sqlkit.NoteTable}, func(c *pgwire.Conn) error {
		return c.Exec(ctx,
			"DROP TABLE IF EXISTS "+sqlkit.NoteTable,
			fmt.Sprintf("CREATE TABLE %s AS SELECT %s::text AS %s", sqlkit.NoteTable, Literal(text), sqlkit.NoteColumn))
	})
}

// change runs do in a transaction on the administering connection.
func (d *database) change(ctx context.Context, tables []string, do func(*pgwire.Conn) error) error {
	return d.admin.Do(ctx, func(c *pgwire.Conn) error {
		return d.transaction(ctx, c, tables, func() error { return do(c) })
	})
}
