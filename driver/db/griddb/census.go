package griddb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Census implements driver.DB. TQL has an aggregate a statement, which goes through all
// rows: so each row is read once, and tsmark adds up.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	out := driver.Census{Fields: make([]driver.Content, len(t.Fields)), Times: driver.Content{Min: &query.Value{}, Max: &query.Value{}}}
	for i, f := range t.Fields {
		sum := &query.Value{Kind: query.Int}
		if !f.Type.UsesInts() {
			sum = &query.Value{Kind: query.Float}
		}
		out.Fields[i] = driver.Content{Min: &query.Value{}, Max: &query.Value{}, Sum: sum}
	}
	err := d.withSession(ctx, func(s *client.Session) error {
		all, err := d.census(ctx, s, t)
		if err != nil {
			return err
		}
		out.Rows = 0
		return d.readRows(ctx, s, t, all, "SELECT *", func(_ registered, rows *client.Rows) error {
			return d.add(t, rows, &out)
		})
	})
	if err != nil {
		return driver.Census{}, fmt.Errorf("taking the census of table %s: %w", t.Name, err)
	}
	for i, f := range t.Fields {
		if c := &out.Fields[i]; c.Count == 0 && !f.Type.UsesInts() {
			c.Sum = &query.Value{}
		}
	}
	return out, nil
}

// census returns the containers of a table's rows.
func (d *database) census(ctx context.Context, s *client.Session, t *series.Table) (all []registered, err error) {
	there, err := s.Containers(ctx, registryName(t))
	if err != nil {
		return nil, err
	}
	if !isRegistry(there[0]) {
		return nil, fmt.Errorf("there is no registry %s", registryName(t))
	}
	seen := map[string]bool{}
	err = readRegistry(ctx, s, there[0], func(r registered) error {
		if r.id >= 0 && !seen[r.container] {
			all = append(all, r)
			seen[r.container] = true
		}
		return nil
	})
	return all, err
}

// CountRows implements driver.DB: each container counts its rows.
func (d *database) CountRows(ctx context.Context, t *series.Table) (n int64, err error) {
	err = d.withSession(ctx, func(s *client.Session) error {
		n = 0
		all, err := d.census(ctx, s, t)
		if err != nil {
			return err
		}
		return d.inParts(ctx, s, all, func(_ []registered, of []client.Container) error {
			rows, err := s.CountRows(ctx, of, int(d.options.Int(optionInFlight)))
			n += rows
			return err
		})
	})
	if err != nil {
		return 0, fmt.Errorf("counting the rows of table %s: %w", t.Name, err)
	}
	return n, nil
}

// inParts calls do with the containers of a table, some at a time.
func (d *database) inParts(ctx context.Context, s *client.Session, all []registered, do func(part []registered, of []client.Container) error) error {
	if len(all) == 0 {
		return nil
	}
	there, err := s.Containers(ctx, all[0].container)
	if err != nil {
		return err
	}
	if there[0] == nil {
		return fmt.Errorf("container %s, which the registry names, is not there", all[0].container)
	}
	for part := range slices.Chunk(all, statementsAtOnce) {
		of := make([]client.Container, len(part))
		for i, r := range part {
			of[i] = *there[0]
			of[i].Name, of[i].ID, of[i].Version, of[i].Partition = r.container, r.id, client.AnyVersion, client.Partition(r.container, d.partitionCount())
		}
		if err := do(part, of); err != nil {
			return err
		}
	}
	return nil
}

// readRows reads the rows of containers of a table.
func (d *database) readRows(ctx context.Context, s *client.Session, t *series.Table, all []registered, tql string, take func(registered, *client.Rows) error) error {
	return d.inParts(ctx, s, all, func(part []registered, of []client.Container) error {
		page := pageOf(&of[0], t.FreeRoom(), int64(d.options.Int(optionPageSize)))
		p := s.Pipeline()
		p.Window = int(d.options.Int(optionInFlight))
		for i := range of {
			p.Query(&of[i], tql, page)
		}
		return p.Run(ctx, func(i int, a *client.Answer) error {
			if a.Err != nil || a.Rows == nil {
				return a.Err
			}
			return take(part[i], a.Rows)
		})
	})
}

// add adds rows to a census.
func (d *database) add(t *series.Table, rows *client.Rows, out *driver.Census) error {
	before := 0
	if d.layout.table {
		before = 1
	}
	if len(rows.Columns) != before+1+len(t.Fields) {
		return errors.New("the container has not the columns of the table")
	}
	for rows.Next() {
		out.Rows++
		at := value(rows, before)
		extend(&out.Times, at)
		for i := range t.Fields {
			v := value(rows, before+1+i)
			c := &out.Fields[i]
			switch v.Kind {
			case query.Null:
				continue
			case query.Text:
				c.Sum.Int += oracle.TextSum(v.Text)
			case query.Float:
				c.Sum.Float += v.Float
			default:
				c.Sum.Int += v.Int
			}
			c.Count++
			extend(c, v)
		}
	}
	return rows.Err()
}

// extend widens the bounds of values. Texts that stay are copied.
func extend(c *driver.Content, v query.Value) {
	lower, higher := c.Min.Kind == query.Null, c.Max.Kind == query.Null
	switch v.Kind {
	case query.Float:
		lower, higher = lower || v.Float < c.Min.Float, higher || v.Float > c.Max.Float
	case query.Text:
		lower, higher = lower || string(v.Text) < string(c.Min.Text), higher || string(v.Text) > string(c.Max.Text)
	default:
		lower, higher = lower || v.Int < c.Min.Int, higher || v.Int > c.Max.Int
	}
	if lower {
		*c.Min = v
		c.Min.Text = append([]byte(nil), v.Text...)
	}
	if higher {
		*c.Max = v
		c.Max.Text = append([]byte(nil), v.Text...)
	}
}

// ListSeries implements driver.DB: the tags of the series that have rows.
func (d *database) ListSeries(ctx context.Context, _ *series.Schema, t *series.Table, sink query.Sink) error {
	return d.withSession(ctx, func(s *client.Session) error {
		all, err := d.census(ctx, s, t)
		if err != nil {
			return err
		}
		present, err := d.present(ctx, s, t, all)
		if err != nil {
			return err
		}
		there, err := s.Containers(ctx, registryName(t))
		if err != nil {
			return err
		}
		p := s.Pipeline()
		p.Query(there[0], "SELECT *", registryPage)
		return p.Run(ctx, func(_ int, a *client.Answer) error {
			if a.Err != nil || a.Rows == nil {
				return a.Err
			}
			var row []query.Value
			for a.Rows.Next() {
				if !present[a.Rows.Int(1)] {
					continue
				}
				row = row[:0]
				for i := range t.Tags {
					row = append(row, value(a.Rows, tagColumns+i))
				}
				if err := sink.Row(row); err != nil {
					return &limit.Refused{Err: err}
				}
			}
			return a.Rows.Err()
		})
	})
}

// present returns which series have rows.
func (d *database) present(ctx context.Context, s *client.Session, t *series.Table, all []registered) (map[int64]bool, error) {
	present := map[int64]bool{}
	if d.layout.table {
		return present, d.readRows(ctx, s, t, all, "SELECT *", func(_ registered, rows *client.Rows) error {
			for rows.Next() {
				present[rows.Int(0)] = true
			}
			return rows.Err()
		})
	}
	return present, d.readRows(ctx, s, t, all, "SELECT * LIMIT 1", func(r registered, rows *client.Rows) error {
		if rows.Next() {
			present[r.series] = true
		}
		return rows.Err()
	})
}
