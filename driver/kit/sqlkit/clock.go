package sqlkit

import (
	"context"
	"errors"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// ReadClock reads a server's clock by a statement that returns one whole number: the units since 1970.
// The function run runs it over an open connection.
func ReadClock(ctx context.Context, unit time.Duration, statement string, run func(ctx context.Context, statement string) ([][]query.Value, error)) (driver.Reading, error) {
	sent := time.Now()
	rows, err := run(ctx, statement)
	answered := time.Now()
	switch {
	case err != nil:
		return driver.Reading{}, err
	case len(rows) != 1 || len(rows[0]) != 1 || rows[0][0].Kind != query.Int:
		return driver.Reading{}, errors.New("the response is not a time")
	}
	return driver.Reading{Sent: sent, Received: answered, Server: time.Unix(0, rows[0][0].Int*int64(unit)), Unit: unit}, nil
}

// ReadClockBy is ReadClock over a link, whose connection it opens beforehand.
func ReadClockBy[C Remote](ctx context.Context, l *Link[C], unit time.Duration, statement string) (read driver.Reading, err error) {
	err = l.Do(ctx, func(c C) error {
		read, err = ReadClock(ctx, unit, statement, func(ctx context.Context, text string) ([][]query.Value, error) { return QueryRows(ctx, c, text) })
		return err
	})
	return read, err
}
