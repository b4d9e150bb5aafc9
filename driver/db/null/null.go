// Package null is a target that stores nothing, so a load measures the cost of tsmark itself. It
// answers no queries and has no census, so its figures are never verified.
package null

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// optionParse says whether files are parsed apart before they are discarded.
const optionParse = "parse"

// Driver describes it.
func Driver() driver.Driver {
	return driver.Driver{
		Name: "null",
		Help: "discards all rows: measures tsmark itself; never verified",
		Options: []driver.Option{{
			Name:    optionParse,
			Default: "no",
			Help:    "parse the lines of a --file before discarding them",
			Type:    option.Boolean("yes", "no"),
		}},
		Caps: func(driver.Options) driver.Caps {
			return driver.Caps{TimePrecision: time.Nanosecond, Embedded: true, Discards: true, Changes: driver.Unchangeable("it stores nothing")}
		},
		IoTDBBenchmark: driver.Tool{Databases: []string{"FakeDB"}},
		Render: func(*query.Query, *series.Schema, driver.Options) (driver.Request, error) {
			return driver.Request{}, fmt.Errorf("%w: the null target keeps nothing", query.ErrUnsupported)
		},
		Open: func(_ context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
			if !env.Create {
				return driver.DB{}, errors.New("the null target holds no dataset of tsmark's, whatever was loaded; load a database")
			}
			return null{parse: options.Bool(optionParse)}.db(), nil
		},
	}
}

type null struct{ parse bool }

// db returns the database with the optional functions of the system.
func (n null) db() driver.DB {
	return driver.DB{Required: n, Optional: driver.Optional{
		TakesLines: n.TakesLines,
		Join:       n.Join,
	}}
}

// TakesLines implements driver.DB.
func (n null) TakesLines(string, *series.Schema) bool { return !n.parse }

func (null) Describe(context.Context) (driver.Description, error) {
	return driver.Description{Version: "keeps nothing", Durability: "none"}, nil
}

// Objects, Plan, Create, Join, Drop, Note and SetNote implement driver.DB: there are never any objects.
func (null) Objects(context.Context) ([]driver.Object, error)      { return nil, nil }
func (null) Plan(*series.Schema) ([]driver.Object, error)          { return nil, nil }
func (null) Create(context.Context, *series.Schema) error          { return nil }
func (null) Join(context.Context, *series.Schema) error            { return nil }
func (null) Drop(context.Context, []driver.Object) error           { return nil }
func (null) Note(context.Context) (string, error)                  { return "", nil }
func (null) SetNote(context.Context, string) error                 { return nil }
func (null) NewWriter(context.Context, int) (driver.Writer, error) { return writer{}, nil }

// NewQuerier returns a querier of empty answers, which measures a boundary to the driver: no query can be
// rendered.
func (null) NewQuerier(context.Context, int) (driver.Querier, error) { return querier{}, nil }

type querier struct{}

func (querier) Do(context.Context, driver.Request, query.Sink) (driver.Cost, error) {
	return driver.Cost{}, nil
}
func (querier) Close() error { return nil }

func (null) Settle(context.Context) error { return nil }

// Census implements driver.DB: there are no rows.
func (null) Census(_ context.Context, t *series.Table) (driver.Census, error) {
	return driver.Census{Fields: make([]driver.Content, len(t.Fields))}, nil
}

func (null) Footprint(context.Context) (driver.Footprint, error) {
	return driver.Footprint{Bytes: -1}, nil
}
func (null) Close() error { return nil }

// writer is acknowledged by nobody: its receipts have no such time.
type writer struct{}

func (writer) Write(_ context.Context, b *series.Batch) (driver.Receipt, error) {
	return driver.Receipt{Sent: time.Now(), Rows: int64(b.Rows())}, nil
}

// WriteLines implements driver.LineWriter.
func (writer) WriteLines(_ context.Context, text [][]byte, rows int) (driver.Receipt, error) {
	bytes := int64(0)
	for _, t := range text {
		bytes += int64(len(t))
	}
	return driver.Receipt{Sent: time.Now(), Rows: int64(rows), WireBytes: bytes}, nil
}

func (writer) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }
func (writer) Close() error                                  { return nil }
