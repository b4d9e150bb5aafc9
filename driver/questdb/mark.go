package questdb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/lineproto"
	"github.com/tsmark/tsmark/driver/poll"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// ReadMark implements driver.DB.
func (d *database) ReadMark(ctx context.Context) (session.Mark, error) {
	s, _, err := d.readStamp(ctx)
	if err != nil {
		return session.Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return s.Mark, nil
}

// WriteMark implements driver.DB.
func (d *database) WriteMark(ctx context.Context, m session.Mark) error {
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

// Prepare implements driver.DB. The mark names the tables before they are
// made: were tsmark to end in between, the next Prepare would know them as its
// own.
func (d *database) Prepare(ctx context.Context, schema *series.Schema, m session.Mark) error {
	if err := d.prepare(ctx, schema, m); err != nil {
		return fmt.Errorf("preparing QuestDB: %w", err)
	}
	return nil
}

// InspectSchema implements session.Bridged. What goes over HTTP goes to the port and
// with the credentials that Open has tried.
func (d *database) InspectSchema(ctx context.Context, schema *series.Schema) error {
	var err error
	if d.settings.tcp {
		var lines lineproto.Sender
		if lines, err = lineproto.DialTCP(ctx, d.settings.wire(), d.settings.ilpPort); err == nil {
			err = lines.Close()
		}
	}
	if err == nil && schema != nil {
		_, _, err = d.replaceable(ctx, schema)
	}
	if err != nil {
		return fmt.Errorf("looking at QuestDB: %w", err)
	}
	return nil
}

// replaceable returns the layout of a schema, and the names of the tables that
// are dropped before it is made, or an error that wraps driver.ErrExisting.
func (d *database) replaceable(ctx context.Context, schema *series.Schema) (*layout, []string, error) {
	next, err := newLayout(schema, &d.settings.tables)
	if err != nil {
		return nil, nil, err
	}
	old, present, err := d.readStamp(ctx)
	if err != nil && !errors.Is(err, session.ErrNoMark) {
		return nil, nil, err
	}
	for _, o := range present {
		if sqlkit.InTheWay(old, o, next.names, true) {
			return nil, nil, fmt.Errorf("%w: a table %s%s; drop or rename it, or give another server", driver.ErrExisting, o.Name, old.Taken(o))
		}
	}
	return next, old.Own(present), nil
}

func (d *database) prepare(ctx context.Context, schema *series.Schema, m session.Mark) error {
	next, old, err := d.replaceable(ctx, schema)
	if err != nil {
		return err
	}
	for _, name := range old {
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
	s := session.Stamp{Mark: m, Tables: next.names}
	if err := d.writeStamp(ctx, s); err != nil {
		return err
	}
	for _, statement := range next.ddl {
		if err := d.exec(ctx, statement); err != nil {
			return err
		}
	}
	present, err := d.objects(ctx)
	if err != nil {
		return err
	}
	s.Identify(present)
	if err := d.writeStamp(ctx, s); err != nil {
		return err
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
	var held error
	err := poll.Until(bounded, firstLook, longestLook, func() (bool, error) {
		held = d.exec(ctx, "DROP TABLE IF EXISTS "+quoted(name))
		if held != nil && strings.Contains(held.Error(), "could not lock") {
			return false, nil
		}
		return true, held
	})
	if err != nil && err != held {
		return fmt.Errorf("%w; end what uses the table", held)
	}
	return err
}

// objects returns all tables, with the numbers that QuestDB gives to each when
// it is made.
func (d *database) objects(ctx context.Context) ([]driver.Object, error) {
	rows, err := d.ask(ctx, "SELECT table_name, id FROM tables() WHERE table_name NOT LIKE 'sys.%' ORDER BY table_name")
	present := make([]driver.Object, len(rows))
	for i, row := range rows {
		if len(row) != 2 {
			return nil, fmt.Errorf("a list of tables has %d columns; is this QuestDB?", len(row))
		}
		present[i] = driver.Object{Name: row[0].String(), Identity: row[1].String()}
	}
	return present, err
}

// readStamp returns what the mark's table holds, and all tables.
func (d *database) readStamp(ctx context.Context) (session.Stamp, []driver.Object, error) {
	present, err := d.objects(ctx)
	if err != nil {
		return session.Stamp{}, nil, err
	}
	place := sqlkit.Place{Name: "QuestDB at " + d.Address(), Instead: "give another server"}
	s, err := place.ReadStamp(present, func() (string, error) {
		rows, err := d.ask(ctx, "SELECT content FROM "+markTable+" LIMIT -1")
		if err == nil && len(rows) == 0 {
			err = session.ErrNoMark // Prepare ended before it wrote one
		}
		if err != nil {
			return "", err
		}
		return rows[0][0].String(), nil
	})
	return s, present, err
}

// writeStamp adds a row to the mark's table: one statement, which a crash does
// not leave half done.
func (d *database) writeStamp(ctx context.Context, s session.Stamp) error {
	content, err := s.Text()
	if err != nil {
		return err
	}
	return d.exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%s)", markTable, newDialect().Text(content)))
}
