package sqlkit

import (
	"context"
	"errors"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// ReadClock reads a server's clock by a statement whose answer is one whole number, the
// microseconds since 1970, over an open connection.
func ReadClock(ctx context.Context, c Conn, statement string) (driver.Reading, error) {
	asked := time.Now()
	row, err := QueryRow(ctx, c, statement)
	answered := time.Now()
	switch {
	case err != nil:
		return driver.Reading{}, err
	case len(row) != 1 || row[0].Kind != query.Int:
		return driver.Reading{}, errors.New("its answer is no time")
	}
	return driver.Reading{Asked: asked, Answered: answered, Server: time.UnixMicro(row[0].Int), Unit: time.Microsecond}, nil
}
