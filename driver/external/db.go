//go:build !light

package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// database is an open database of a program.
type database struct {
	*program
	opener    *grpc.ClientConn // the connection by which it was opened
	handle    string
	quoted    []byte // the handle as JSON
	exchanges bool   // it has message.FunctionExchange
	endLog    func()
}

// connection returns the connection for actions.
func (p *program) connection() *grpc.ClientConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn
}

// errEnded is the error of a database after its program has ended. The next start may give another database the
// same handle.
var errEnded = fmt.Errorf("the program has ended, and its databases are closed: %w", driver.ErrUnreachable)

// connection returns the connection for actions; nil: the program has ended since the database was opened.
func (d *database) connection() *grpc.ClientConn {
	if conn := d.program.connection(); conn == d.opener {
		return conn
	}
	return nil
}

// connect makes another connection to the program.
func (d *database) connect() (*grpc.ClientConn, error) {
	d.mu.Lock()
	dial, conn := d.dial, d.conn // a start changes both
	d.mu.Unlock()
	if conn != d.opener {
		return nil, fmt.Errorf("%s: %w", d.title(), errEnded)
	}
	return dial.connect()
}

// open implements driver.Driver.
func (p *program) open(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
	if err := p.start(ctx, env.Waiting); err != nil {
		return driver.DB{}, fmt.Errorf("%w: %w", driver.ErrUnreachable, err)
	}
	db := &database{program: p, opener: p.connection(), endLog: func() {}}
	dir, err := filepath.Abs(env.Dir)
	if err != nil {
		return driver.DB{}, err
	}
	if env.Dir == "" {
		dir = ""
	}
	process := p.running()
	if process != nil && dir != "" {
		// Other folders, as of tsmark drop, are not the target's.
		if _, err := os.Stat(filepath.Join(dir, logName)); err == nil || env.Create {
			if db.endLog, err = process.output.openLog(dir); err != nil {
				return driver.DB{}, err
			}
		}
	}
	opened, err := call[message.Opened](ctx, db.opener, &p.dial, message.ActionOpen, &message.Request{Options: theirs(o), Dir: dir, Create: env.Create})
	if err != nil {
		err = p.explain(ctx, err)
		db.endLog()
		return driver.DB{}, err
	}
	p.mu.Lock()
	p.opened++
	p.mu.Unlock()
	db.handle = opened.DB
	db.quoted, _ = json.Marshal(opened.DB) // of a text this cannot fail
	can := p.can.Load()
	caps, _ := can.Caps.Driver()
	if own, err := inquire[message.Caps](p, message.ActionCaps, &message.Request{Options: theirs(o)}); err == nil {
		if c, err := own.Driver(); err == nil {
			caps = c
		}
	}
	functions := opened.Functions
	if functions == nil {
		functions = can.Functions
	}
	db.exchanges = slices.Contains(functions, message.FunctionExchange) && !p.all.Calls
	out := driver.DB{Required: db, Optional: db.optional(&caps, functions)}
	out.Address = opened.Address
	if process != nil {
		out.ProcessID = process.cmd.Process.Pid
	}
	return out, nil
}

// optional returns the optional functions of a database.
func (d *database) optional(caps *driver.Caps, functions []string) (o driver.Optional) {
	has := func(function string) bool { return slices.Contains(functions, function) }
	for _, s := range caps.Steps {
		s.Do = func(ctx context.Context) error {
			return d.do(ctx, message.ActionStep, &message.Request{Name: s.Name})
		}
		o.Steps = append(o.Steps, s)
	}
	if learns := has(message.ActionGrow); learns || caps.MakesColumns {
		o.Grow = func(s *series.Schema) error { return d.grow(s, learns) }
	}
	if has(message.ActionCountRows) {
		o.CountRows = d.countRows
	}
	if has(message.ActionClock) {
		o.ReadClock = d.readClock
	}
	if has(message.ActionExplain) {
		o.Explain = d.explainQuery
	}
	if has(message.ActionMetrics) {
		o.ReadMetrics = func(ctx context.Context) (map[string]float64, error) {
			m, err := act[message.Metrics](ctx, d, message.ActionMetrics, &message.Request{})
			if err != nil {
				return nil, err
			}
			return m.Metrics, nil
		}
	}
	if has(message.ActionFlushMemory) {
		o.FlushMemory = func(ctx context.Context) error {
			return d.do(ctx, message.ActionFlushMemory, &message.Request{})
		}
	}
	if has(message.ActionDistinctCensus) {
		o.DistinctCensus = func(ctx context.Context, t *series.Table) (driver.Census, error) {
			return d.census(ctx, message.ActionDistinctCensus, t)
		}
	}
	if has(message.ActionCheckText) {
		o.CheckText = func(ctx context.Context, text string) error {
			return d.do(ctx, message.ActionCheckText, &message.Request{Text: text})
		}
	}
	if has(message.ActionFreeSpace) {
		o.FreeSpace = d.freeSpace
	}
	if has(message.ActionProcesses) {
		o.ListProcesses = func(ctx context.Context) ([]string, error) {
			found, err := act[message.Processes](ctx, d, message.ActionProcesses, &message.Request{})
			if err != nil {
				return nil, err
			}
			return found.Addresses, nil
		}
	}
	if has(message.FunctionListSeries) {
		o.ListSeries = d.listSeries
	}
	return o
}

// act runs an action of the database and returns its result.
func act[T any](ctx context.Context, d *database, action string, body *message.Request) (*T, error) {
	out, err := request[T](ctx, d, action, body)
	return out, d.explain(ctx, err)
}

// request is act whose error is not explained.
func request[T any](ctx context.Context, d *database, action string, body *message.Request) (*T, error) {
	body.DB = d.handle
	conn := d.connection()
	if conn == nil {
		return nil, errEnded
	}
	return call[T](ctx, conn, &d.dial, action, body)
}

// do runs an action without a result.
func (d *database) do(ctx context.Context, action string, body *message.Request) error {
	_, err := act[struct{}](ctx, d, action, body)
	return err
}

// Describe implements driver.Required.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out, err := act[driver.Description](ctx, d, message.ActionDescribe, &message.Request{})
	if err != nil {
		return driver.Description{}, err
	}
	if out.Version == "" {
		out.Version = driver.UnknownVersion
	}
	if !slices.Contains([]driver.Safety{driver.OnDisk, driver.ByTimer, driver.InFiles, driver.InMemory, driver.Nowhere}, out.Safety) {
		out.Safety = "" // unknown
	}
	return *out, nil
}

// Objects implements driver.Required.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	out, err := act[message.Objects](ctx, d, message.ActionObjects, &message.Request{})
	if err != nil {
		return nil, err
	}
	return message.DriverObjects(out.Objects), nil
}

// Plan implements driver.Required.
func (d *database) Plan(s *series.Schema) ([]driver.Object, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), d.patience(), fmt.Errorf("no answer to action %s within %v", message.ActionPlan, d.patience()))
	defer cancel()
	text, err := json.Marshal(message.FromSchema(s))
	if err != nil {
		return nil, err
	}
	out, err := act[message.Objects](ctx, d, message.ActionPlan, &message.Request{Schema: text})
	if err != nil {
		return nil, err
	}
	return message.DriverObjects(out.Objects), nil
}

// Create implements driver.Required.
func (d *database) Create(ctx context.Context, s *series.Schema) error {
	text, err := json.Marshal(message.FromSchema(s))
	if err != nil {
		return err
	}
	return d.do(ctx, message.ActionCreate, &message.Request{Schema: text})
}

// grow implements driver.Optional. A program without the action takes the columns from the rows. One that lists it learns
// the numbers of the series, too: an earlier process may have stored them.
func (d *database) grow(s *series.Schema, learns bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.patience())
	defer cancel()
	schema := message.FromSchema(s)
	if learns {
		schema.AddSeries(s)
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	if err := d.do(ctx, message.ActionGrow, &message.Request{Schema: text}); !errors.Is(err, query.ErrUnsupported) {
		return err
	}
	return nil
}

// Drop implements driver.Required.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	return d.do(ctx, message.ActionDrop, &message.Request{Objects: message.FromObjects(objects)})
}

// Note implements driver.Required.
func (d *database) Note(ctx context.Context) (string, error) {
	out, err := act[message.Text](ctx, d, message.ActionNote, &message.Request{})
	if err != nil {
		return "", err
	}
	return out.Text, nil
}

// SetNote implements driver.Required.
func (d *database) SetNote(ctx context.Context, text string) error {
	return d.do(ctx, message.ActionSetNote, &message.Request{Text: text})
}

// Settle implements driver.Required.
func (d *database) Settle(ctx context.Context) error {
	return d.do(ctx, message.ActionSettle, &message.Request{})
}

// Census implements driver.Required.
func (d *database) Census(ctx context.Context, t *series.Table) (driver.Census, error) {
	return d.census(ctx, message.ActionCensus, t)
}

// onTable returns the body of an action on a table, whose description it has.
func onTable(t *series.Table) (*message.Request, error) {
	text, err := json.Marshal(message.FromSchema(&series.Schema{Tables: []*series.Table{t}}))
	return &message.Request{Table: t.Name, Schema: text}, err
}

func (d *database) census(ctx context.Context, action string, t *series.Table) (driver.Census, error) {
	body, err := onTable(t)
	if err != nil {
		return driver.Census{}, err
	}
	out, err := act[message.Census](ctx, d, action, body)
	if err != nil {
		return driver.Census{}, err
	}
	census, err := out.Driver(len(t.Fields))
	if err != nil {
		return census, fmt.Errorf("%s: census of table %s: %w", d.title(), t.Name, err)
	}
	return census, nil
}

func (d *database) countRows(ctx context.Context, t *series.Table) (int64, error) {
	body, err := onTable(t)
	if err != nil {
		return 0, err
	}
	out, err := act[message.Rows](ctx, d, message.ActionCountRows, body)
	if err != nil {
		return 0, err
	}
	return out.Rows, nil
}

// Footprint implements driver.Required.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	out, err := act[message.Footprint](ctx, d, message.ActionFootprint, &message.Request{})
	if err != nil {
		return driver.Footprint{Bytes: -1}, err
	}
	size := driver.Footprint{Bytes: -1, Without: out.Without, Pending: out.Pending, Parts: out.Parts}
	if out.Bytes != nil && *out.Bytes >= 0 {
		size.Bytes = *out.Bytes
	}
	return size, nil
}

func (d *database) freeSpace(ctx context.Context) (folder string, free int64, err error) {
	out, err := act[message.FreeSpace](ctx, d, message.ActionFreeSpace, &message.Request{})
	if err != nil {
		return "", -1, err
	}
	if free = -1; out.Free != nil {
		free = max(*out.Free, -1)
	}
	return oneLine(out.Folder), free, nil
}

func (d *database) readClock(ctx context.Context) (r driver.Reading, err error) {
	r.Sent = time.Now()
	out, err := act[message.Clock](ctx, d, message.ActionClock, &message.Request{})
	if r.Received = time.Now(); err != nil {
		return r, err
	}
	if r.Server, err = time.Parse(time.RFC3339Nano, out.Time); err == nil && out.Unit != "" {
		r.Unit, err = time.ParseDuration(out.Unit)
	}
	if err != nil {
		return r, fmt.Errorf("%s: action %s: %w", d.title(), message.ActionClock, err)
	}
	return r, nil
}

func (d *database) explainQuery(ctx context.Context, r driver.Request) (string, error) {
	body := &message.Request{Text: r.Text, UserText: r.UserText}
	if members, ok := r.Plan.(plan); ok {
		var t message.Ticket
		if err := json.Unmarshal(slices.Concat([]byte("{"), members, []byte("}")), &t); err != nil {
			return "", err
		}
		body.Plan = t.Plan
	}
	out, err := act[message.Plan](ctx, d, message.ActionExplain, body)
	if err != nil {
		return "", err
	}
	return out.Plan, nil
}

// Close implements driver.Required.
func (d *database) Close() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), d.patience(), fmt.Errorf("no answer to action %s within %v", message.ActionClose, d.patience()))
	defer cancel()
	err := d.do(ctx, message.ActionClose, &message.Request{})
	d.endLog()
	d.program.mu.Lock()
	d.opened--
	d.program.mu.Unlock()
	return err
}
