package questdb

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
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
	mode := tlsOff
	switch {
	case s.tls != nil && s.tls.InsecureSkipVerify:
		mode = tlsInsecure
	case s.tls != nil:
		mode = tlsOn
	}
	return pgwire.NewConfig(driver.Options{
		pgwire.OptionHost: s.host, pgwire.OptionPort: s.pgPort, pgwire.OptionDatabase: "qdb",
		pgwire.OptionUser: s.pgUser, pgwire.OptionPassword: s.pgPassword,
		pgwire.OptionTLS: mode, pgwire.OptionTimeout: s.timeout.String(),
	})
}
