package questdb

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/pgwire"
)

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	if d.settings.rest {
		return newExec(d.settings), nil
	}
	config, err := d.settings.pgwire()
	if err == nil {
		var q *pgwire.Querier
		if q, err = pgwire.NewQuerier(ctx, config, pgwire.Extended); err == nil {
			return q, nil
		}
	}
	return nil, fmt.Errorf("opening a connection to QuestDB for reading: %w", err)
}

// pgwire returns where the PostgreSQL protocol is spoken. QuestDB has one
// database, whatever name is given; its own clients say qdb.
func (s *settings) pgwire() (*pgwire.Config, error) {
	mode := connection.Off
	switch {
	case s.tls != nil && s.tls.InsecureSkipVerify:
		mode = connection.Insecure
	case s.tls != nil:
		mode = connection.On
	}
	return pgwire.NewConfig(connection.Settings{
		Host: s.host, Port: s.pgPort, Database: "qdb", User: s.pgUser, Password: s.pgPassword, TLS: mode, Timeout: s.timeout,
	})
}
