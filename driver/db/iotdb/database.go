package iotdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// database implements driver.DB.
type database struct {
	model
	options driver.Options
	config  *config
	admin   *sqlkit.Link[*conn] // for everything but writers and queriers
	version string

	mu     sync.Mutex     // guards the following fields
	schema *series.Schema // passed to Create or Join; nil before

	idleSince atomic.Pointer[time.Time] // as the last Settle found it; nil before
}

// open connects, and checks that the server supports the options.
func open(ctx context.Context, env driver.Env, o driver.Options) (*database, error) {
	d := &database{model: newModel(o), options: o, config: newConfig(o)}
	d.admin = sqlkit.NewLink(d.config.connect, false)
	err := d.fits(ctx, env.Create)
	if err != nil {
		_ = d.Close() // return the first error
		return nil, err
	}
	return d, nil
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	return driver.DB{Required: d, Optional: driver.Optional{
		Address:            d.Address(),
		ListProcesses:      d.ListProcesses,
		ReadClock:          d.ReadClock,
		FreeSpace:          d.FreeSpace,
		Advise:             d.Advise,
		Join:               d.Join,
		IdleSince:          d.IdleSince,
		CountRows:          d.CountRows,
		ListSeries:         d.ListSeries,
		PlanAggregate:      d.PlanAggregate,
		Materialize:        d.Materialize,
		CountCovered:       d.CountCovered,
		AggregateFootprint: d.AggregateFootprint,
		DeleteSeries:       d.DeleteSeries,
		DropBefore:         d.DropBefore,
		Explain:            d.explain,
	}}
}

// root is the database's name in the server's list.
func (d *database) root() string {
	listed, _ := d.names()
	return listed
}

func (d *database) place() string { return fmt.Sprintf("%s of IoTDB at %s", d.root(), d.Address()) }

// Address implements driver.DB.
func (d *database) Address() string { return d.config.Address() }

// fits checks the server's version and abilities.
func (d *database) fits(ctx context.Context, create bool) error {
	row, err := sqlkit.QueryRow(ctx, d.admin, "SHOW VERSION")
	if err != nil {
		return err
	}
	if d.version = row[0].String(); !strings.HasPrefix(d.version, "2.") && !strings.HasPrefix(d.version, "1.3.") {
		return fmt.Errorf("%s has IoTDB %s; tsmark needs 1.3 or newer", d.Address(), d.version)
	}
	if d.options[optionModel] == modelTable && strings.HasPrefix(d.version, "1.") {
		return fmt.Errorf("%s has IoTDB %s, and the table model needs 2.0: give %s=%s", d.Address(), d.version, optionModel, modelTree)
	}
	var unit time.Duration
	if err := d.admin.Do(ctx, func(c *conn) error { unit = c.unit; return nil }); err != nil {
		return err
	}
	if want := units[d.options[optionPrecision]]; want != unit {
		for name, of := range units {
			if of == unit {
				return fmt.Errorf("the timestamp_precision of IoTDB at %s is %s: give %s=%[2]s", d.Address(), name, optionPrecision)
			}
		}
	}
	if err := d.checkOtherModel(ctx); err != nil {
		return err
	}
	there, err := d.exists(ctx)
	if err == nil && !there && !create {
		err = fmt.Errorf("there is no database %s at %s; load it first, or give another database: %w", d.root(), d.Address(), driver.ErrUnreachable)
	}
	return err
}

// exists reports whether the server has the database.
func (d *database) exists(ctx context.Context) (bool, error) { return has(ctx, d.admin, d.root()) }

func has(ctx context.Context, c sqlkit.Conn, database string) (bool, error) {
	rows, err := sqlkit.QueryRows(ctx, c, "SHOW DATABASES")
	return slices.ContainsFunc(rows, func(row []query.Value) bool { return row[0].String() == database }), err
}

// checkOtherModel returns an error if the other model has a database of the same name: when 2.0.1-beta deletes a
// database of the tree model, it no longer finds the tables of that one.
func (d *database) checkOtherModel(ctx context.Context) error {
	if strings.HasPrefix(d.version, "1.") {
		return nil
	}
	o := maps.Clone(d.options)
	if o[optionModel] = modelTable; d.options[optionModel] == modelTable {
		o[optionModel] = modelTree
	}
	c, err := newConfig(o).connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close() // no data can be lost
	name, _ := newModel(o).names()
	there, err := has(ctx, c, name)
	if err == nil && there {
		err = fmt.Errorf("%s has a database %s in the %s model: IoTDB 2.0 loses sight of a table model's database when the tree model's of that name is deleted; give another database", d.Address(), name, o[optionModel])
	}
	return err
}

// ListProcesses implements driver.DB. It lists the nodes of the cluster; tsmark connects to one.
func (d *database) ListProcesses(ctx context.Context) ([]string, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SHOW CLUSTER")
	var addresses []string
	for _, row := range rows { // its number, its type, its status, address and port within the cluster
		if len(row) < 5 {
			return nil, fmt.Errorf("SHOW CLUSTER has %d columns, and not at least 5", len(row))
		}
		addresses = append(addresses, net.JoinHostPort(row[3].String(), row[4].String()))
	}
	return addresses, err
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{
		Version: d.version, Location: d.Address() + "/" + d.root(), Elsewhere: connection.Database, Settings: map[string]string{},
		Durability: "an acknowledged batch is in the memtable and, unless the server's wal_mode is DISABLE, on its way to the write-ahead log (ASYNC, its default) or forced to disk (SYNC); the server does not report which",
	}
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SHOW VARIABLES")
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing IoTDB: %w", err)
	}
	for _, row := range rows {
		out.Settings[row[0].String()] = row[1].String()
	}
	out.Settings["timestamp_precision"] = d.options[optionPrecision]
	return out, nil
}

// preparedSchema returns the schema passed to Create or Join.
func (d *database) preparedSchema() (*series.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.schema == nil {
		return nil, errors.New("nothing was created through this connection: prepare the database first")
	}
	return d.schema, nil
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	of := &querier{}
	var err error
	of.Querier, err = sqlkit.NewQuerier(ctx, func(ctx context.Context) (*planConn, error) {
		c, err := d.config.connect(ctx)
		if err != nil {
			return nil, err
		}
		return &planConn{conn: c, querier: of}, nil
	})
	if err != nil {
		return nil, err
	}
	return of, nil
}

// querier runs requests, one after the other, and reconnects if necessary.
type querier struct {
	driver.Querier
	plan   *plan // of the current request; nil: its text is a statement
	reader planned
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	q.plan, _ = r.Plan.(*plan)
	return q.Querier.Do(ctx, r, sink)
}

// planConn is a connection of a querier.
type planConn struct {
	*conn
	querier *querier
}

// Query implements sqlkit.Conn.
func (c *planConn) Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	p := c.querier.plan
	if p == nil {
		return c.conn.Query(ctx, text, sink)
	}
	statement := p.Statement
	if p.Range != "" {
		var bounds query.Answer
		cost, err := c.conn.Query(ctx, p.Range, &bounds)
		if err != nil || len(bounds.Rows) == 0 || bounds.Rows[0][0].Kind == query.Null {
			return driver.Cost{Bytes: cost.Bytes}, err
		}
		// A query of several paths has bounds for each.
		first, last := bounds.Rows[0][0].Int, bounds.Rows[0][0].Int
		for _, v := range bounds.Rows[0] {
			if v.Kind == query.Int {
				first, last = min(first, v.Int), max(last, v.Int)
			}
		}
		statement = strings.Replace(statement, rangeMark, p.bucketRange(first, last), 1)
	}
	r := &c.querier.reader
	r.begin(p, sink, int64(c.unit))
	return c.query(ctx, statement, r)
}

// bucketRange is the range of the buckets that have rows, with times from first to last.
func (p *plan) bucketRange(first, last int64) string {
	if p.Start != nil {
		first = max(first, *p.Start)
	}
	if p.End != nil {
		last = min(last, *p.End-1)
	}
	last = max(last, first)
	return fmt.Sprintf("[%d, %d)", bucket(first, p.Width), bucket(last, p.Width)+p.Width)
}

// bucket is query.BucketOf in the server's unit.
func bucket(at, width int64) int64 { return query.BucketOf(at, time.Duration(width)) }

// look is the interval of checks of the regions' sizes, which nodes report every second.
const look = 200 * time.Millisecond

// Settle implements driver.DB. It writes the data in memory to files. Rows that arrived out of order
// are in files of their own, which the server merges by compactions; these have ended when the sizes of
// the files no longer change.
func (d *database) Settle(ctx context.Context) error {
	err := d.flush(ctx)
	since := time.Now()
	if quiet := d.options.Duration(optionQuiet); err == nil && quiet > 0 {
		before := "unknown"
		since, err = poll.Idle(ctx, look, quiet, func() (bool, error) {
			sizes, err := d.sizes(ctx)
			now := strings.Join(sizes, " ")
			changed := now != before
			before = now
			return changed, err
		})
	}
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.place(), err)
	}
	d.idleSince.Store(&since)
	return nil
}

// IdleSince implements driver.DB.
func (d *database) IdleSince() time.Time { return *d.idleSince.Load() }

// flush makes the server write the data in memory to files.
func (d *database) flush(ctx context.Context) error {
	_, named := d.names()
	return d.run(ctx, "FLUSH "+named)
}

// sizes returns the sizes of the files of the database's regions in the server's format.
func (d *database) sizes(ctx context.Context) ([]string, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SHOW REGIONS")
	var sizes []string
	for _, row := range rows {
		if len(row) < 13 {
			return nil, fmt.Errorf("SHOW REGIONS has %d columns, and not its 13", len(row))
		}
		if row[1].String() == "DataRegion" && row[3].String() == d.root() {
			sizes = append(sizes, row[12].String())
		}
	}
	return sizes, err
}

// Footprint implements driver.DB: the files of rows, as nodes reported them last.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	size := driver.Footprint{Bytes: -1, Without: "the write-ahead log, the schema and the indexes beside the files, whose size the server does not report"}
	var total int64
	sizes, err := d.sizes(ctx)
	for _, text := range sizes {
		bytes, known := bytesOf(text)
		if !known {
			return size, err
		}
		total += bytes
	}
	if err != nil {
		return size, fmt.Errorf("measuring %s: %w", d.place(), err)
	}
	size.Bytes = total
	return size, nil
}

// bytesOf parses a size such as 1.50 GB.
func bytesOf(text string) (int64, bool) {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	var n float64
	if _, err := fmt.Sscan(number, &n); err != nil {
		return 0, false
	}
	for i, name := range []string{"B", "KB", "MB", "GB", "TB", "PB"} {
		if strings.EqualFold(unit, name) {
			return int64(n * float64(int64(1)<<(10*i))), true
		}
	}
	return 0, false
}

// Close implements driver.DB.
func (d *database) Close() error { return d.admin.Close() }

// explain implements driver.DB. A statement whose range a query looks up first has no plan before.
func (d *database) explain(ctx context.Context, q driver.Request) (string, error) {
	statement := q.Text
	if p, ok := q.Plan.(*plan); ok {
		statement = p.Statement
	}
	if strings.Contains(statement, rangeMark) {
		return "", nil
	}
	return sqlkit.Explain(d.admin, "EXPLAIN")(ctx, driver.Request{Text: statement})
}
