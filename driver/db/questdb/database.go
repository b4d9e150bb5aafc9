package questdb

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// database is a QuestDB server; it implements driver.DB.
type database struct {
	sqlkit.Counter
	lineproto.Loader
	settings *settings
	own      jsonrows.Console // for everything but writers and queriers
}

// open connects, and checks that QuestDB answers.
func open(ctx context.Context, _ driver.Env, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options, os.Getenv)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening QuestDB: %w", err)
	}
	d := newDatabase(s)
	greeting, cancel := s.wire.WithTimeout(ctx)
	defer cancel()
	if _, err := d.build(greeting); err != nil {
		d.Close()
		return driver.DB{}, fmt.Errorf("opening QuestDB: %w", err)
	}
	return d.db(), nil
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	o := driver.Optional{
		Address:            d.Address(),
		Inspect:            d.Inspect,
		ReadClock:          d.ReadClock,
		FreeSpace:          d.FreeSpace,
		Advise:             d.Advise,
		EffectiveOptions:   d.EffectiveOptions,
		CheckText:          d.CheckText,
		TakesLines:         d.TakesLines,
		Join:               d.Join,
		Grow:               d.Grow,
		CountRows:          d.CountRows,
		DistinctCensus:     d.DistinctCensus,
		ListSeries:         d.ListSeries,
		PlanAggregate:      d.PlanAggregate,
		Materialize:        d.Materialize,
		CountCovered:       d.CountCovered,
		AggregateFootprint: d.AggregateFootprint,
		ReadMetrics:        d.ReadMetrics,
		Backlog:            driver.Backlog{Metric: walPending, What: "transactions of the write-ahead log that are not applied yet"},
		Explain:            d.explain,
	}
	if changes(d.settings.tables).Drop.By != "" {
		o.DropBefore = d.DropBefore
	}
	return driver.DB{Required: d, Optional: o}
}

// newDatabase returns a database that has not connected yet.
func newDatabase(s *settings) *database {
	d := &database{settings: s, own: jsonrows.Console{Querier: newExec(s)}, Loader: lineproto.Loader{System: "QuestDB", Open: s.sender}}
	d.Counter = d.counter()
	return d
}

// Address implements driver.DB.
func (d *database) Address() string { return d.settings.wire.Address() }

// Close implements driver.DB.
func (d *database) Close() error { return d.own.Close() }

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	build, err := d.build(ctx)
	if err == nil {
		var rows [][]query.Value
		rows, err = d.own.Query(ctx, `SELECT property_path, value FROM (SHOW PARAMETERS)
			WHERE NOT sensitive AND (value_source <> 'default' OR property_path = 'cairo.commit.mode')`)
		if err == nil {
			return d.description(build, rows), nil
		}
	}
	return driver.Description{}, fmt.Errorf("describing QuestDB: %w", err)
}

// description parses the result of build(), and settings as names and values.
func (d *database) description(build string, parameters [][]query.Value) driver.Description {
	effective := make(map[string]string)
	for _, p := range parameters {
		effective[p[0].String()] = p[1].String()
	}
	out := driver.Description{Version: build, Edition: "open source", Location: d.Address(), Settings: effective, Elsewhere: "server"}
	if strings.Contains(build, "Enterprise") {
		out.Edition = "Enterprise"
	}
	// "Build Information: QuestDB 9.3.4, JDK 24.0.2, Commit Hash …"
	if _, rest, ok := strings.Cut(build, "QuestDB "); ok {
		version, _, _ := strings.Cut(rest, ",")
		out.Version = strings.TrimPrefix(version, "Enterprise ")
	}
	out.Durability = durability(effective["cairo.commit.mode"], &d.settings.tables)
	switch {
	case d.settings.tcp:
		out.Safety = driver.Nowhere
		out.Durability = "line protocol over TCP acknowledges nothing; " + out.Durability
	case effective["cairo.commit.mode"] == "sync":
		out.Safety = driver.OnDisk
	default:
		out.Safety = driver.InFiles
	}
	return out
}

// durability says when an acknowledged row is on disk.
func durability(mode string, s *tableSettings) string {
	where := "write-ahead log"
	if !s.wal {
		where = "table"
	}
	does := map[string]string{
		"nosync": " and left to the operating system to write (cairo.commit.mode=nosync): a crash of the machine may lose batches",
		"async":  ", and the server writes them to disk without waiting (cairo.commit.mode=async): a crash of the machine may lose the last batches",
		"sync":   ", and forced to disk, before it is acknowledged (cairo.commit.mode=sync)",
	}[mode]
	return fmt.Sprintf("a committed batch is in the %s's files%s", where, cmp.Or(does, " (cairo.commit.mode="+mode+")"))
}

// build returns the server's build information.
func (d *database) build(ctx context.Context) (string, error) {
	rows, err := d.own.Query(ctx, "SELECT build()")
	if err != nil {
		return "", err
	}
	if len(rows) != 1 || len(rows[0]) != 1 || !strings.Contains(rows[0][0].String(), "QuestDB") {
		return "", fmt.Errorf("%s %w: what answers there is not QuestDB", d.Address(), driver.ErrUnreachable)
	}
	return rows[0][0].String(), nil
}

// Footprint implements driver.DB: the files of the tables, including preallocated space.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	rows, err := d.own.Query(ctx, "SELECT coalesce(sum(diskSize), 0) FROM table_storage() WHERE tableName IN ("+d.createdTables()+")")
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring QuestDB's files: %w", err)
	}
	size := driver.Footprint{Bytes: rows[0][0].Int}
	if size.Parts, err = d.parts(ctx, size.Bytes); err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring QuestDB's partitions: %w", err)
	}
	return size, nil
}

// parts returns the sizes of the tables' partitions, and the rest. It is empty for a server that does
// not report partitions: the size is known without.
func (d *database) parts(ctx context.Context, size int64) ([]driver.FootprintPart, error) {
	var newest, older, count int64
	for _, t := range d.Tables() {
		rows, err := d.own.Query(ctx, "SELECT active, sum(diskSize), count() FROM table_partitions("+newDialect().Text(tableName(t.Name))+")")
		switch {
		case err == nil:
		case strings.Contains(err.Error(), "unknown function name"), strings.Contains(err.Error(), "Invalid column"):
			return nil, nil
		default:
			return nil, err
		}
		for _, row := range rows {
			if row[0].Int != 0 {
				newest += row[1].Int
			} else {
				older, count = older+row[1].Int, count+row[2].Int
			}
		}
	}
	rest := size - newest - older
	if newest+older == 0 || rest < 0 { // a partition was written in between
		return nil, nil
	}
	return []driver.FootprintPart{
		{Name: "newest partition of each table, in which QuestDB reserves room for further rows", Bytes: newest},
		{Name: fmt.Sprintf("%d older partitions", count), Bytes: older},
		{Name: "files outside of partitions: write-ahead log, symbols, metadata", Bytes: rest},
	}, nil
}

// explain implements driver.DB.
func (d *database) explain(ctx context.Context, q driver.Request) (string, error) {
	rows, err := d.own.Query(ctx, "EXPLAIN "+q.Text)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(sqlkit.PlanText(rows), "&nbsp;", " "), nil // it is made for the web console
}
