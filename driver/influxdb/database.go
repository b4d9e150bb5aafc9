package influxdb

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/limit"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// database is a database of an InfluxDB server; it implements driver.DB.
type database struct {
	settings *settings
	// What the last Settle and Footprint found; nil before.
	idleSince atomic.Pointer[time.Time]
	leftOut   atomic.Pointer[string]

	mu      sync.Mutex // guards what follows
	admin   *querier   // for everything but writers and queriers
	schema  *series.Schema
	encoder encode.Encoder // of the schema given to Create; nil before
}

// open connects, and finds out whether an InfluxDB answers that takes the
// credentials.
func open(ctx context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("opening InfluxDB: %w", err)
	}
	own := *s // tsmark's own statements look at all of the server, in one part
	own.chunk, own.retention = 0, ""
	d := &database{settings: s, admin: newQuerier(&own)}
	greeting, cancel := d.admin.client.Bounded(ctx)
	defer cancel()
	if err := d.greet(greeting, !env.Create); err != nil {
		d.admin.client.Close()
		return nil, fmt.Errorf("opening InfluxDB: %w", err)
	}
	return d, nil
}

// greet asks for the version, and for the database where it must be there.
func (d *database) greet(ctx context.Context, existing bool) error {
	if _, _, err := d.version(ctx); err != nil {
		return err
	}
	there, err := d.exists(ctx)
	if err == nil && existing && !there {
		err = fmt.Errorf("there is no database %s at %s; load it first, or give another database: %w", d.settings.database, d.Address(), driver.ErrUnreachable)
	}
	return err
}

// version returns what the server says of itself to everybody.
func (d *database) version(ctx context.Context) (version, build string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	client := d.admin.client
	ctx, cancel := client.Bounded(ctx)
	defer cancel()
	request, err := client.Request(ctx, http.MethodGet, "/ping", nil, nil)
	if err != nil {
		return "", "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close()
	version, build = response.Header.Get("X-Influxdb-Version"), response.Header.Get("X-Influxdb-Build")
	switch {
	case version == "":
		return "", "", fmt.Errorf("%s %w: what answers there is not InfluxDB", d.Address(), driver.ErrUnreachable)
	case !strings.HasPrefix(strings.TrimPrefix(version, "v"), "1."):
		return "", "", fmt.Errorf("%s %w: what answers there is InfluxDB %s, and tsmark speaks to 1.x", d.Address(), driver.ErrUnreachable, version)
	}
	return version, build, nil
}

// exists reports whether the server has the database.
func (d *database) exists(ctx context.Context) (bool, error) {
	rows, err := d.ask(ctx, "SHOW DATABASES")
	for _, row := range rows {
		if row[0].String() == d.settings.database {
			return true, nil
		}
	}
	return false, err
}

// Address implements driver.Server.
func (d *database) Address() string { return d.settings.wire.Address() }

// where names the database.
func (d *database) where() string {
	return fmt.Sprintf("database %s of InfluxDB at %s", d.settings.database, d.Address())
}

// ask returns the rows that a statement of tsmark's own gives.
func (d *database) ask(ctx context.Context, text string) ([][]query.Value, error) {
	var kept query.Answer
	err := d.run(ctx, http.MethodGet, text, limit.Own(&kept))
	return kept.Rows, err
}

// change runs statements of tsmark's own that change something, one by one.
func (d *database) change(ctx context.Context, statements ...string) error {
	for _, text := range statements {
		if err := d.run(ctx, http.MethodPost, text, nil); err != nil {
			return err
		}
	}
	return nil
}

// run runs a statement of tsmark's own.
func (d *database) run(ctx context.Context, method, text string, sink query.Sink) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	patient, cancel := d.admin.client.Patient(ctx)
	defer cancel()
	if _, err := d.admin.do(patient, method, text, sink); err != nil {
		if ctx.Err() == nil && patient.Err() != nil {
			err = fmt.Errorf("%s %w: no whole answer within %v; look at its log, or give a longer timeout", d.Address(), driver.ErrUnreachable, d.settings.wire.Timeout)
		}
		first, _, _ := strings.Cut(text, "\n")
		return fmt.Errorf("%s: %w", first, err)
	}
	return nil
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	return newQuerier(d.settings), nil
}

// Close implements driver.DB.
func (d *database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.admin.Close()
}
