package griddb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/series"
)

// registry is a database's knowledge of a table that it writes to: the existing containers of its
// series. All workers share it.
type registry struct {
	table     *series.Table
	container client.Container // the registry itself
	rows      client.Container // any of the rows'
	schema    *client.Schema   // of the rows'
	unit      int64            // of times, in nanoseconds
	ids       []atomic.Int64   // of the containers of series, and 1; 0: it was not made

	mu sync.Mutex // held while containers are made
}

// newRegistry returns the registry of a table that was created.
func newRegistry(l *layout, t *series.Table, count uint32, container, rows client.Container) *registry {
	return &registry{table: t, container: container, rows: rows, schema: client.NewSchema(&rows), unit: int64(l.precision.unit), ids: make([]atomic.Int64, count)}
}

// id returns the number of a series' container; false: it does not exist yet.
func (r *registry) id(of uint32) (int64, bool) {
	id := r.ids[of].Load()
	return id - 1, id != 0
}

// ensure creates the missing containers of series. The registry lists a container as tsmark's before it
// is created, and its number afterwards, so a kill in between never leaves a container of unknown origin.
func (r *registry) ensure(ctx context.Context, d *database, s *client.Session, all []uint32) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []uint32
	for _, of := range all {
		if _, made := r.id(of); !made {
			missing = append(missing, of)
		}
	}
	const atOnce = 1000
	for len(missing) > 0 {
		n := min(atOnce, len(missing))
		if err := r.make(ctx, d, s, missing[:n]); err != nil {
			return fmt.Errorf("making the containers of %d series of table %s: %w", n, r.table.Name, err)
		}
		missing = missing[n:]
	}
	return nil
}

// forget makes ensure create the containers of all series again, which has no effect on existing ones:
// a kill of the server loses the most recent ones, and there is no way to know which.
func (r *registry) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.ids {
		r.ids[i].Store(0)
	}
}

func (r *registry) make(ctx context.Context, d *database, s *client.Session, missing []uint32) error {
	made := make([]client.Container, len(missing))
	for i, of := range missing {
		made[i] = r.rows
		made[i].Name = d.layout.containerName(r.table, of)
	}
	if !d.layout.table {
		if err := r.checkExisting(ctx, s, missing, made); err != nil {
			return err
		}
		if err := r.register(ctx, s, missing, func(int) int64 { return -1 }, made); err != nil {
			return err
		}
		p := s.Pipeline()
		for i := range made {
			p.Create(&made[i])
		}
		if err := p.Run(ctx, func(_ int, a *client.Answer) error { return a.Err }); err != nil {
			return err
		}
	}
	if err := r.register(ctx, s, missing, func(i int) int64 { return made[i].ID }, made); err != nil {
		return err
	}
	for i, of := range missing {
		r.ids[of].Store(made[i].ID + 1)
	}
	return nil
}

// checkExisting returns an error if one of the containers to create exists and was not created by tsmark.
func (r *registry) checkExisting(ctx context.Context, s *client.Session, missing []uint32, wanted []client.Container) error {
	names := make([]string, len(wanted))
	for i := range wanted {
		names[i] = wanted[i].Name
	}
	there, err := s.Containers(ctx, names...)
	if err != nil {
		return err
	}
	p := s.Pipeline()
	var queried []int
	for i, c := range there {
		if c != nil {
			queried = append(queried, i)
			p.Query(&r.container, fmt.Sprintf("SELECT COUNT(*) WHERE %s = %d", ident(numberColumn), missing[i]), 0)
		}
	}
	return p.Run(ctx, func(n int, a *client.Answer) error {
		if a.Err == nil && (a.Value == nil || a.Value.Int == 0) {
			return fmt.Errorf("container %s %w; drop it, or give another database", names[queried[n]], driver.ErrExisting)
		}
		return a.Err
	})
}

// register writes series into the registry.
func (r *registry) register(ctx context.Context, s *client.Session, all []uint32, id func(i int) int64, containers []client.Container) error {
	rows := make([][]any, len(all))
	for i, of := range all {
		row := []any{"", int64(of), containers[i].Name, id(i)}
		for t := range r.table.Tags {
			tag := &r.table.Tags[t]
			value, ok := tag.Values.Append(nil, of)
			switch {
			case !ok:
				row = append(row, nil)
			case tag.Numeric():
				number, err := strconv.ParseFloat(string(value), 64)
				if err != nil {
					return fmt.Errorf("tag %s of series %d: %w", tag.Key, of, err)
				}
				row = append(row, number)
			default:
				row = append(row, string(value))
				if t == 0 {
					row[0] = string(value)
				}
			}
		}
		rows[i] = row
	}
	p := s.Pipeline()
	p.Put(&r.container, rows...)
	return p.Run(ctx, func(_ int, a *client.Answer) error { return a.Err })
}

// registered is a series as its registry has it.
type registered struct {
	series    int64
	container string
	id        int64
}

// readRegistry reads a registry's own columns.
func readRegistry(ctx context.Context, s *client.Session, c *client.Container, take func(registered) error) error {
	p := s.Pipeline()
	p.Query(c, "SELECT *", registryPage)
	return p.Run(ctx, func(_ int, a *client.Answer) error {
		if a.Err != nil || a.Rows == nil {
			return a.Err
		}
		for a.Rows.Next() {
			if err := take(registered{a.Rows.Int(1), string(a.Rows.Text(2)), a.Rows.Int(3)}); err != nil {
				return err
			}
		}
		return a.Rows.Err()
	})
}

// registryPage is the number of rows per page of a registry.
const registryPage = 10_000

// isRegistry reports whether a container looks like a registry.
func isRegistry(c *client.Container) bool {
	if c == nil || len(c.Columns) < tagColumns || c.Keys != 2 || c.Type != client.Collection {
		return false
	}
	for i, want := range []client.Column{
		{Name: keyColumn, Type: client.String}, {Name: numberColumn, Type: client.Integer}, {Name: containerColumn, Type: client.String}, {Name: idColumn, Type: client.Long},
	} {
		if got := c.Columns[i]; got.Name != want.Name || got.Type != want.Type {
			return false
		}
	}
	return true
}

var errUnprepared = errors.New("nothing was created through this connection: prepare the database first")
