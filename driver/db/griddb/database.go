package griddb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/series"
)

// database implements driver.DB.
type database struct {
	*link
	layout *layout
	system *system
	create bool

	mu         sync.Mutex // guards the following fields
	registries map[*series.Table]*registry

	made atomic.Int64 // when the note was written, or containers made, in nanoseconds since 1970
}

// open connects. Create creates a missing database.
func open(ctx context.Context, env driver.Env, o driver.Options) (*database, error) {
	d := &database{link: newLink(o), layout: newLayout(o), system: newSystem(o), create: env.Create}
	err := check(o, &series.Schema{})
	if err == nil {
		err = d.withSession(ctx, func(*client.Session) error { return nil })
		if errors.Is(err, errRefused) && !strings.EqualFold(d.Database, client.PublicDatabase) || errors.Is(err, errNoDatabase) {
			err = d.createMissing(ctx, env.Create, err)
		}
	}
	if err != nil {
		_ = d.Close() // return the first error
		return nil, err
	}
	return d, nil
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	return driver.DB{Required: d, Optional: driver.Optional{
		Address:     d.Address(),
		ReadClock:   d.ReadClock,
		FreeSpace:   d.FreeSpace,
		Advise:      d.Advise,
		Join:        d.Join,
		CountRows:   d.CountRows,
		ListSeries:  d.ListSeries,
		ReadMetrics: d.ReadMetrics,
	}}
}

// createMissing checks in a session of the public database whether the database is missing, and creates it
// if that is wanted. It returns the remaining error.
func (d *database) createMissing(ctx context.Context, create bool, refused error) error {
	c, err := d.config()
	if err != nil {
		return err
	}
	c.Database = client.PublicDatabase
	cluster, err := client.Open(ctx, c)
	if err != nil {
		return refused
	}
	s, err := cluster.Session(ctx)
	if err != nil {
		return refused
	}
	defer func() { _ = s.Close() }() // nothing waits to be written
	if !create {
		return fmt.Errorf("there is no database %s at %s, or the user may not enter it; %w", d.Database, d.location(), errNoDatabase)
	}
	if err := s.CreateDatabase(ctx, d.Database); err != nil {
		return fmt.Errorf("making database %s at %s: %w; make it as an administrator, or give another database", d.Database, d.location(), err)
	}
	return d.withSession(ctx, func(*client.Session) error { return nil })
}

func (d *database) place() string {
	return fmt.Sprintf("database %s of GridDB at %s", d.Database, d.location())
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{Location: d.location() + "/" + d.Database, Elsewhere: connection.Database, Settings: map[string]string{}}
	err := d.withSession(ctx, func(*client.Session) error {
		d.link.mu.Lock()
		defer d.link.mu.Unlock()
		if d.cluster != nil {
			out.Settings["partitions"], out.Settings["nodes"] = fmt.Sprint(d.cluster.Partitions()), fmt.Sprint(d.cluster.Nodes())
		}
		return nil
	})
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing GridDB: %w", err)
	}
	if err := d.system.describe(ctx, &out); err != nil {
		return driver.Description{}, fmt.Errorf("describing GridDB: querying the system service of %s: %w", d.location(), err)
	}
	return out, nil
}

// preparedRegistries returns the registries of the schema that was given to Create or Join.
func (d *database) preparedRegistries() (map[*series.Table]*registry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.registries == nil {
		return nil, errUnprepared
	}
	return d.registries, nil
}

// logInterval is a little longer than the time between two writes of the server's log, as
// shipped.
const logInterval = 1200 * time.Millisecond

// awaitLog waits until the objects created by Create and SetNote are in the server's log: a kill before
// that could leave rows without the mark that identifies their creator.
func (d *database) awaitLog(ctx context.Context) error {
	timer := time.NewTimer(time.Until(time.Unix(0, d.made.Load()).Add(logInterval)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Settle implements driver.DB: acknowledged rows are visible, and nothing is left to be
// done for them but checkpoints, which go on at their own times.
func (d *database) Settle(ctx context.Context) error {
	if err := d.withSession(ctx, func(s *client.Session) error {
		_, err := s.Containers(ctx, noteContainer) // the server answers
		return err
	}); err != nil {
		return fmt.Errorf("settling %s: %w", d.place(), err)
	}
	return nil
}

// Footprint implements driver.DB: the node reports only the size of all its data.
func (d *database) Footprint(context.Context) (driver.Footprint, error) {
	return driver.Footprint{Bytes: -1}, nil
}

// ReadMetrics implements driver.DB.
func (d *database) ReadMetrics(ctx context.Context) (map[string]float64, error) {
	return d.system.metrics(ctx)
}
