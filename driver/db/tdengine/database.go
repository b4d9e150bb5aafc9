package tdengine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// database implements driver.DB.
type database struct {
	options driver.Options
	config  *config
	design  *design
	name    string
	admin   *sqlkit.Link[*conn] // without a database, for everything but writers and queriers
	version string

	mu     sync.Mutex     // guards the following fields
	schema *series.Schema // passed to Create or Join; nil before
}

// open connects, and checks that the server supports the options.
func open(ctx context.Context, env driver.Env, o driver.Options) (*database, error) {
	c := &config{connection.NewSettings(o)}
	d := &database{options: o, config: c, design: newDesign(o), name: o[connection.Database]}
	d.admin = sqlkit.NewLink(func(ctx context.Context) (*conn, error) { return c.connect(ctx, "") }, false)
	if err := d.fits(ctx, env.Create); err != nil {
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
		CountRows:          d.CountRows,
		ListSeries:         d.ListSeries,
		PlanAggregate:      d.PlanAggregate,
		Materialize:        d.Materialize,
		CountCovered:       d.CountCovered,
		AggregateFootprint: d.AggregateFootprint,
		DeleteSeries:       d.DeleteSeries,
		DropBefore:         d.DropBefore,
	}}
}

// Address implements driver.DB.
func (d *database) Address() string { return d.config.Address() }

// ListProcesses implements driver.DB: the data nodes, which do the work that taosAdapter forwards.
func (d *database) ListProcesses(ctx context.Context) ([]string, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SELECT endpoint FROM information_schema.ins_dnodes")
	addresses := make([]string, len(rows))
	for i, row := range rows {
		addresses[i] = row[0].String()
	}
	return addresses, err
}

func (d *database) place() string {
	return fmt.Sprintf("database %s of TDengine at %s", d.name, d.Address())
}

// qualify is the qualified name of a table, in SQL.
func (d *database) qualify(table string) string { return "`" + d.name + "`." + d.design.Ident(table) }

// nameable matches valid names of databases.
var nameable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// fits checks the server's version and abilities, and whether the database exists.
func (d *database) fits(ctx context.Context, create bool) error {
	if !nameable.MatchString(d.name) {
		return fmt.Errorf("%q is not a valid name of a TDengine database: the option %s takes letters, digits and underscores", d.name, connection.Database)
	}
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT server_version()")
	if err != nil {
		return err
	}
	if d.version = row[0].String(); !strings.HasPrefix(d.version, "3.") {
		return fmt.Errorf("%s has TDengine %s; tsmark needs version 3", d.Address(), d.version)
	}
	if create {
		return nil
	}
	set, err := d.settings(ctx)
	if err == nil && set == nil {
		return fmt.Errorf("there is no database %s at %s; load it first, or give another database: %w", d.name, d.Address(), driver.ErrUnreachable)
	}
	if err == nil && set[optionPrecision] != d.options[optionPrecision] {
		return fmt.Errorf("the times of %s are in %s: give %s=%[2]s", d.place(), set[optionPrecision], optionPrecision)
	}
	return err
}

// settingNames are the columns in the list of databases that Describe shows.
var settingNames = []string{
	optionPrecision, optionVgroups, "replica", optionKeep, "duration", optionBuffer, "pagesize", optionPages, "minrows", "maxrows", "comp",
	optionCacheModel, "cachesize", optionWALLevel, optionWALFsync, optionSTTTrigger,
}

// settings returns the settings of the database; nil: it does not exist.
func (d *database) settings(ctx context.Context) (map[string]string, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT `%s` FROM information_schema.ins_databases WHERE name = %s",
		strings.Join(settingNames, "`, `"), d.design.Text(d.name)))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	set := make(map[string]string, len(settingNames))
	for i, name := range settingNames {
		set[name] = rows[0][i].String()
	}
	return set, nil
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	set, err := d.settings(ctx)
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing %s: %w", d.place(), err)
	}
	out := driver.Description{Version: d.version, Location: d.Address() + "/" + d.name, Elsewhere: connection.Database, Settings: set}
	level, fsync := set[optionWALLevel], set[optionWALFsync]
	if set == nil { // the load creates it
		level, fsync = d.options[optionWALLevel], d.options[optionWALFsync]
	}
	out.Safety = driver.InFiles
	switch {
	case level == "2" && fsync == "0":
		out.Safety = driver.OnDisk
		out.Durability = "wal_level 2, wal_fsync_period 0: an acknowledged row is in the write-ahead log and forced to disk"
	case level == "2":
		out.Durability = "wal_level 2: an acknowledged row is in the write-ahead log, which is forced to disk every " + fsync + " ms"
	default:
		out.Durability = "wal_level 1: an acknowledged row is in the write-ahead log, which is not forced to disk: it survives the server, and not the machine"
	}
	return out, nil
}

// The kinds of objects.
const (
	kindStable = "super table"
	kindTable  = "table"
	kindStream = "stream"
)

// Objects implements driver.DB.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	objects, _, err := d.objects(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the objects in %s: %w", d.place(), err)
	}
	return objects, nil
}

// madeWhole is the comment of the note's table in a database that tsmark created and may drop as a
// whole.
const madeWhole = "tsmark made this database"

// objects lists the objects in the database; whole means that tsmark created the database itself. The
// tables of super tables are not listed, as they are dropped with these.
func (d *database) objects(ctx context.Context) (objects []driver.Object, whole bool, err error) {
	set, err := d.settings(ctx)
	if err != nil || set == nil {
		return nil, false, err
	}
	of := d.design.Text(d.name)
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SELECT stable_name, create_time, `columns`, `tags` FROM information_schema.ins_stables WHERE db_name = "+of)
	if err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		objects = append(objects, driver.Object{Kind: kindStable, Name: row[0].String(), Data: true, Identity: fmt.Sprintf("%v, %v columns, %v tags", row[1], row[2], row[3])})
	}
	rows, err = sqlkit.QueryRows(ctx, d.admin, "SELECT table_name, uid, table_comment FROM information_schema.ins_tables WHERE type = 'NORMAL_TABLE' AND db_name = "+of)
	for _, row := range rows {
		o := driver.Object{Kind: kindTable, Name: row[0].String(), Data: true, Identity: row[1].String(), Note: row[0].String() == note}
		objects = append(objects, o)
		whole = whole || o.Note && row[2].String() == madeWhole
	}
	if err != nil {
		return nil, false, err
	}
	rows, err = sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT stream_name, create_time, stream_id FROM information_schema.ins_streams WHERE source_db = %s OR target_db = %[1]s", of))
	for _, row := range rows {
		objects = append(objects, driver.Object{Kind: kindStream, Name: row[0].String(), Identity: fmt.Sprintf("%v, %v", row[2], row[1])})
	}
	slices.SortFunc(objects, func(a, b driver.Object) int { return strings.Compare(a.Name, b.Name) })
	return objects, whole, err
}

// Plan implements driver.DB.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	if err := d.design.check(schema); err != nil {
		return nil, err
	}
	var objects []driver.Object
	for _, t := range schema.Tables {
		objects = append(objects, driver.Object{Kind: kindStable, Name: t.Name})
	}
	return objects, nil
}

// ensure creates the database if it is missing, and reports whether it did.
func (d *database) ensure(ctx context.Context) (made bool, err error) {
	set, err := d.settings(ctx)
	if err != nil || set != nil {
		return false, err
	}
	text := fmt.Sprintf("CREATE DATABASE `%s` PRECISION '%s' KEEP %sd", d.name, d.options[optionPrecision], d.options[optionKeep])
	for _, name := range []string{optionVgroups, optionWALLevel, optionWALFsync, optionBuffer, optionPages, optionSTTTrigger} {
		if v := d.options[name]; v != "" {
			text += " " + strings.ToUpper(name) + " " + v
		}
	}
	if v := d.options[optionCacheModel]; v != "" {
		text += " CACHEMODEL '" + v + "'"
	}
	return true, d.patiently(ctx, text)
}

// patiently retries a statement while the server still executes another one on the same object.
func (d *database) patiently(ctx context.Context, text string) error {
	begin := time.Now()
	return poll.Wait(ctx, 20*time.Millisecond, time.Second, func() (bool, error) {
		err := d.admin.Exec(ctx, text)
		again := code(err) == 0x03d3 || code(err) == 0x0396 || code(err) == 0x03d8
		if again && time.Since(begin) < d.config.Timeout {
			return false, nil
		}
		return true, err
	})
}

// Create implements driver.DB.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	if err := d.create(ctx, schema); err != nil {
		return fmt.Errorf("creating tables in %s: %w", d.place(), err)
	}
	return d.Join(ctx, schema)
}

// Join implements driver.DB. The table of a series is made by each writer of its rows.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.schema = schema
	return nil
}

func (d *database) create(ctx context.Context, schema *series.Schema) error {
	if err := d.design.check(schema); err != nil {
		return err
	}
	if _, err := d.ensure(ctx); err != nil {
		return err
	}
	set, err := d.settings(ctx)
	if err != nil {
		return err
	}
	for _, name := range settingNames {
		want, has := d.options[name], set[name]
		if name == optionKeep || want == "" || want == has {
			continue
		}
		return fmt.Errorf("the database, which tsmark did not make, has %s %s, and the options say %s: drop it, or give %[1]s=%[2]s", name, has, want)
	}
	var made []driver.Object
	for _, t := range schema.Tables {
		err := d.patiently(ctx, d.createIn(t))
		if err != nil {
			longer, cancel := limit.Outlive(ctx)
			defer cancel()
			_ = d.drop(longer, made) // the caller returns the earlier error
			return fmt.Errorf("making table %s: %w", t.Name, err)
		}
		made = append(made, driver.Object{Kind: kindStable, Name: t.Name})
	}
	return nil
}

// createIn returns the statement that creates the super table of a table, with the qualified name.
func (d *database) createIn(t *series.Table) string {
	return strings.Replace(d.design.create(t), "CREATE STABLE "+d.design.Ident(t.Name), "CREATE STABLE "+d.qualify(t.Name), 1)
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

// Drop implements driver.DB. If nothing but the note would be left in a database that tsmark created,
// it drops the database and creates it again with the note, so that the settings of the options take
// effect.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	present, whole, err := d.objects(ctx)
	for _, o := range present {
		whole = whole && (o.Note || slices.ContainsFunc(objects, o.Clashes))
	}
	if err == nil && whole {
		err = d.dropWhole(ctx, !slices.ContainsFunc(objects, func(o driver.Object) bool { return o.Name == note }))
	} else if err == nil {
		err = d.drop(ctx, objects)
	}
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.place(), err)
	}
	return nil
}

func (d *database) dropWhole(ctx context.Context, keepNote bool) error {
	text, err := "", error(nil)
	if keepNote {
		if text, err = d.Note(ctx); err != nil {
			return err
		}
	}
	if err := d.patiently(ctx, fmt.Sprintf("DROP DATABASE IF EXISTS `%s`", d.name)); err != nil || !keepNote {
		return err
	}
	return d.SetNote(ctx, text)
}

// drop drops streams and then the tables that they use, one after the other: the server has no
// transactional DDL.
func (d *database) drop(ctx context.Context, objects []driver.Object) error {
	objects = slices.Clone(objects)
	slices.SortStableFunc(objects, func(a, b driver.Object) int { return isStream(b) - isStream(a) })
	for _, o := range objects {
		what := "TABLE IF EXISTS " + d.qualify(o.Name)
		switch o.Kind {
		case kindStable:
			what = "STABLE IF EXISTS " + d.qualify(o.Name)
		case kindStream:
			what = "STREAM IF EXISTS `" + o.Name + "`"
		}
		if err := d.patiently(ctx, "DROP "+what); err != nil {
			return fmt.Errorf("%s: %w", o, err)
		}
	}
	return nil
}

func isStream(o driver.Object) int {
	if o.Kind == kindStream {
		return 1
	}
	return 0
}

// noteLength is the largest size of a note in bytes.
const noteLength = 60_000

// noteRow returns the time and the text of the note's only row.
func (d *database) noteRow(ctx context.Context) (row []query.Value, err error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SELECT CAST(ts AS BIGINT), content FROM "+d.qualify(note)+" ORDER BY ts DESC LIMIT 1")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	row, err := d.noteRow(ctx)
	if err != nil || row == nil {
		return "", err
	}
	return row[1].String(), nil
}

// SetNote implements driver.DB: a row replaces the one with the same time.
func (d *database) SetNote(ctx context.Context, text string) error {
	if err := d.setNote(ctx, text); err != nil {
		return fmt.Errorf("writing the note of %s: %w", d.place(), err)
	}
	return nil
}

func (d *database) setNote(ctx context.Context, text string) error {
	if len(text) > noteLength {
		return fmt.Errorf("it has %d bytes, and TDengine takes %d; use fewer tables", len(text), noteLength)
	}
	made, err := d.ensure(ctx)
	if err != nil {
		return err
	}
	comment := ""
	if made {
		comment = " COMMENT '" + madeWhole + "'"
	}
	err = d.patiently(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (ts TIMESTAMP, content VARCHAR(%d))%s", d.qualify(note), noteLength, comment))
	if err != nil {
		return err
	}
	row, err := d.noteRow(ctx)
	if err != nil {
		return err
	}
	at := "NOW"
	if row != nil {
		at = row[0].String()
	}
	return d.admin.Exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%s, %s)", d.qualify(note), at, d.design.Text(text)))
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	if d.options[optionRead] == overREST {
		return d.reader(ctx)
	}
	return sqlkit.NewQuerier(ctx, func(ctx context.Context) (*conn, error) {
		c, err := d.config.connect(ctx, d.name)
		if code(err) != errNoDatabase {
			return c, err
		}
		if c, err = d.config.connect(ctx, ""); err == nil { // the database may be created before the first query
			c.use = "USE `" + d.name + "`"
		}
		return c, err
	})
}

// Settle implements driver.DB. It writes the data in memory to files, and waits until no rows are left
// in memory. Acknowledged rows are visible before that. The server does not report whether it merges
// files afterwards.
func (d *database) Settle(ctx context.Context) error {
	const again = 50 // checks before it flushes again: a commit in progress may have missed rows
	looks := 0
	err := poll.Wait(ctx, 10*time.Millisecond, 200*time.Millisecond, func() (bool, error) {
		if looks%again == 0 {
			if err := d.admin.Exec(ctx, fmt.Sprintf("FLUSH DATABASE `%s`", d.name)); err != nil {
				return code(err) == errNoDatabase, ignoring(err, errNoDatabase)
			}
		}
		looks++
		sum, err := d.readDistribution(ctx, "")
		return sum.memory == 0, err
	})
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.place(), err)
	}
	return nil
}

// ignoring returns an error unless it is the server's error with that number.
func ignoring(err error, number int) error {
	if code(err) == number {
		return nil
	}
	return err
}

// Close implements driver.DB.
func (d *database) Close() error { return d.admin.Close() }
