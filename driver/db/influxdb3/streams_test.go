package influxdb3

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/query"
)

// TestStreams checks results of many rows that arrive while the server computes them: a failure in the
// middle of one, on either side, is an error, and the connection remains usable.
func TestStreams(t *testing.T) {
	d := Driver()
	options, err := d.Resolve(server(t, connection.Database, "tsmark_streams"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(t.Context(), driver.Env{Create: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, db)
	conformance.Prepare(t, db, 3, conformance.Table("usage"))
	testStreams(t, db)
}

// streamed is how many rows a long answer has. The server sends some thousands at once.
const streamed = 200_000

func testStreams(t *testing.T, db driver.DB) {
	q, err := db.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, q)
	run := func(ctx context.Context, text string, each func(row []query.Value) error) (int64, error) {
		cost, err := q.Do(ctx, driver.Request{Text: text}, query.SinkFunc(each))
		return cost.Rows, err
	}
	const long = "SELECT value AS n FROM range(0, 200000)"
	whole := func() {
		t.Helper()
		next := int64(0)
		rows, err := run(t.Context(), long, func(row []query.Value) error {
			if row[0].Int == next {
				next++
			}
			return nil
		})
		if err != nil || rows != streamed || next != streamed {
			t.Fatalf("%d rows of %d, %d of them in order, error %v", rows, streamed, next, err)
		}
	}
	whole()

	var emitted int64
	_, err = run(t.Context(), "SELECT 100 / (value - 150000) AS n FROM range(0, 200000)", func([]query.Value) error {
		emitted++
		return nil
	})
	stub.Says(t, err, "ivide by zero")
	// The server divides a dear projection among its cores: later rows may come first.
	if emitted == 0 || emitted >= streamed {
		t.Errorf("%d rows were given before the one that fails", emitted)
	}
	whole()

	ctx, cancel := context.WithCancelCause(t.Context())
	tired := errors.New("enough of it")
	emitted = 0
	begin := time.Now()
	_, err = run(ctx, "SELECT value AS n FROM range(0, 1000000000)", func([]query.Value) error {
		if emitted++; emitted == 10_000 {
			cancel(tired)
		}
		return nil
	})
	if !errors.Is(err, tired) || time.Since(begin) > 30*time.Second {
		t.Errorf("canceled after %d rows: error %v after %v", emitted, err, time.Since(begin))
	}
	whole()

	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	begin = time.Now()
	_, err = run(ctx, "SELECT sum(sin(value)) AS n FROM range(0, 30000000)", func([]query.Value) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 10*time.Second {
		t.Errorf("with 100 ms to answer: error %v after %v", err, time.Since(begin))
	}
	whole()
}
