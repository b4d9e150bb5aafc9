package influxdb2

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/series"
)

// database is a bucket of an InfluxDB server; it implements driver.DB.
type database struct {
	lineproto.Loader
	settings  *settings
	api       httpwire.API
	own       console // for everything but writers and queriers
	version   string
	idleSince atomic.Pointer[time.Time] // as the last Settle found it; nil before
}

// open connects, and checks that an InfluxDB 2 answers and accepts the token.
func open(ctx context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options, os.Getenv)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening InfluxDB 2: %w", err)
	}
	d := newDatabase(s)
	greeting, cancel := s.wire.WithTimeout(ctx)
	defer cancel()
	if err := d.greet(greeting, !env.Create); err != nil {
		d.Close()
		return driver.DB{}, fmt.Errorf("opening InfluxDB 2: %w", err)
	}
	return d.db(), nil
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	return driver.DB{Required: d, Optional: driver.Optional{
		Address:            d.Address(),
		ReadClock:          d.ReadClock,
		FreeSpace:          d.FreeSpace,
		Advise:             d.Advise,
		EffectiveOptions:   d.EffectiveOptions,
		TakesLines:         d.TakesLines,
		Join:               d.Join,
		Grow:               d.Grow,
		IdleSince:          d.IdleSince,
		FlushMemory:        d.FlushMemory,
		CountRows:          d.CountRows,
		ListSeries:         d.ListSeries,
		PlanAggregate:      d.PlanAggregate,
		Materialize:        d.Materialize,
		CountCovered:       d.CountCovered,
		AggregateFootprint: d.AggregateFootprint,
		DeleteSeries:       d.DeleteSeries,
		DropBefore:         d.DropBefore,
		ProfileCPU:         httpwire.CPUProfile(&d.settings.wire, ""),
	}}
}

// newDatabase returns a database that has not connected yet.
func newDatabase(s *settings) *database {
	return &database{
		Loader:   lineproto.Loader{System: "InfluxDB 2", Open: s.writes().Open},
		settings: s,
		api:      httpwire.API{Client: httpwire.New(&s.wire), System: "InfluxDB 2", Explain: responseError},
		own:      console{querier: newQuerier(s)},
	}
}

// Close implements driver.DB.
func (d *database) Close() error {
	d.api.Client.Close()
	return d.own.querier.Close()
}

// greet reads the version. If the options request it, greet initializes a server that was never set up.
// It then looks up the organisation, and the bucket if it must exist.
func (d *database) greet(ctx context.Context, existing bool) error {
	if err := d.health(ctx); err != nil {
		return err
	}
	if d.settings.setup {
		if err := d.setUp(ctx); err != nil {
			return fmt.Errorf("setting %s up: %w", d.Address(), err)
		}
	}
	ids, err := d.organisations(ctx)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(ids))
	switch {
	case d.settings.org == "" && len(names) == 1:
		d.settings.org = names[0]
		d.Open = d.settings.writes().Open
	case d.settings.org == "":
		return fmt.Errorf("the token shows %d organisations (%s); give one by the option %s", len(names), strings.Join(names, ", "), optionOrg)
	case ids[d.settings.org] == "":
		return fmt.Errorf("the token shows no organisation %s at %s; give another %s, or another token: %w", d.settings.org, d.Address(), optionOrg, driver.ErrUnreachable)
	}
	if !existing {
		return nil
	}
	found, err := d.find(ctx)
	if err == nil && found == nil {
		err = fmt.Errorf("there is no bucket %s at %s; load it first, or give another bucket: %w", d.settings.bucket, d.Address(), driver.ErrUnreachable)
	}
	return err
}

// health reads the information that the server gives without credentials.
func (d *database) health(ctx context.Context) error {
	var health struct{ Name, Version string }
	err := d.api.Call(ctx, http.MethodGet, "/health", nil, nil, &health)
	switch {
	case err != nil && ctx.Err() == nil && !strings.Contains(err.Error(), driver.ErrUnreachable.Error()):
		return fmt.Errorf("%s %w: what answers there is not InfluxDB 2 (%w)", d.Address(), driver.ErrUnreachable, err)
	case err != nil:
		return err
	case health.Name != "influxdb" || !strings.HasPrefix(strings.TrimPrefix(health.Version, "v"), "2."):
		return fmt.Errorf("%s %w: what answers there is %s, and tsmark speaks to InfluxDB 2.x", d.Address(), driver.ErrUnreachable,
			httpwire.OneLine(health.Name+" "+health.Version))
	}
	d.version = health.Version
	return nil
}

// setUp initializes a server with its first user, organisation and token. It then deletes the bucket
// that a set-up creates.
func (d *database) setUp(ctx context.Context) error {
	var state struct{ Allowed bool }
	if err := d.api.Call(ctx, http.MethodGet, "/api/v2/setup", nil, nil, &state); err != nil || !state.Allowed {
		return err
	}
	s := d.settings
	var made struct{ Bucket bucket }
	err := d.api.Call(ctx, http.MethodPost, "/api/v2/setup", nil,
		map[string]string{"username": s.user, "password": s.password, "org": s.org, "bucket": s.bucket, "token": s.token}, &made)
	if err != nil {
		return err
	}
	return d.api.Call(ctx, http.MethodDelete, "/api/v2/buckets/"+made.Bucket.ID, nil, nil, nil)
}

// Address implements driver.DB.
func (d *database) Address() string { return d.settings.wire.Address() }

// location names the bucket in errors.
func (d *database) location() string {
	return fmt.Sprintf("bucket %s of InfluxDB at %s", d.settings.bucket, d.Address())
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	if d.settings.language == languageInfluxQL {
		return influx.NewQuerier(d.settings.endpoint()), nil
	}
	return newQuerier(d.settings), nil
}

// TakesLines implements driver.DB.
func (d *database) TakesLines(format string, _ *series.Schema) bool {
	return format == "influx"
}
