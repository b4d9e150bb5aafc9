package questdb

import (
	"context"
	"slices"

	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/series"
)

// TakesLines implements driver.DB.
func (d *database) TakesLines(format string, s *series.Schema) bool {
	return format == "influx" && !slices.ContainsFunc(s.Tables, differs)
}

// differs reports whether lines in TSBS's format do not contain a table's data as QuestDB stores it:
// their times are integers, and their booleans are not.
func differs(t *series.Table) bool {
	return slices.ContainsFunc(t.Fields, func(f series.Field) bool {
		return f.Type == series.Timestamp || f.Type == series.Date || f.Type == series.Bool && nullable(t)
	})
}

// sender connects for writing.
func (s *settings) sender(ctx context.Context) (lineproto.Sender, error) {
	if s.tcp {
		return lineproto.DialTCP(ctx, &s.wire, s.ilpPort)
	}
	return lineproto.Endpoint{Wire: &s.wire, Path: "/write", Explain: responseError}.Open(ctx)
}
