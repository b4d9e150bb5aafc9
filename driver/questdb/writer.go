package questdb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/lineproto"
	"github.com/tsmark/tsmark/series"
)

// TakesLines implements driver.LineTaker.
func (d *database) TakesLines(format string, s *series.Schema) bool {
	return format == "influx" && (s == nil || !slices.ContainsFunc(s.Tables, differs))
}

// differs reports whether lines of TSBS's format do not say all of a table as
// QuestDB has it: their times are integers, and their booleans no integers.
func differs(t *series.Table) bool {
	return slices.ContainsFunc(t.Fields, func(f series.Field) bool {
		return f.Type == series.Timestamp || f.Type == series.Date || f.Type == series.Bool && nullable(t)
	})
}

// NewWriter implements driver.DB. The database must have been prepared
// since it was opened.
func (d *database) NewWriter(ctx context.Context, _ int) (driver.Writer, error) {
	d.mu.Lock()
	layout := d.layout
	d.mu.Unlock()
	if layout == nil {
		return nil, errors.New("opening a connection to QuestDB for writing: prepare the database first")
	}
	lines := lineproto.Endpoint{Wire: d.settings.wire(), Path: "/write", Explain: explained}.Open
	if d.settings.tcp {
		lines = func() (lineproto.Sender, error) { return lineproto.DialTCP(ctx, d.settings.wire(), d.settings.ilpPort) }
	}
	to, err := lines()
	if err != nil {
		return nil, fmt.Errorf("opening a connection to QuestDB for writing: %w", err)
	}
	return &lineproto.Writer{System: "QuestDB", Encoder: layout.encoder, Tables: layout.tables, To: to, Unacknowledged: &d.sent}, nil
}
