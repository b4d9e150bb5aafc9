package tdengine

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// changes are the Changes of TDengine. KEEP of a database counts back from now.
func changes() driver.Changes {
	const space = "by compactions in the background, or COMPACT DATABASE"
	return driver.Changes{
		Delete:  driver.Way{By: "DELETE from the super table", Space: space},
		Drop:    driver.Way{By: "DELETE from the super table", Space: space},
		Correct: driver.Way{By: "writing the rows again", Space: space},
		Again:   driver.Replaces,
	}
}

// DeleteSeries implements driver.DB. Its statement has not been tried on a server.
func (d *database) DeleteSeries(ctx context.Context, s *series.Schema, t *series.Table, tag, value string) error {
	return d.delete(ctx, t, d.design.OfTag(s, t, tag, value))
}

// DropBefore implements driver.DB. Its statement has not been tried on a server.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	before = before.UTC().Truncate(d.design.unit)
	for _, t := range s.Tables {
		if err := d.delete(ctx, t, d.design.time()+" < "+d.design.timeLiteral(before)); err != nil {
			return time.Time{}, err
		}
	}
	return before, nil
}

// delete deletes the rows of a table that satisfy a condition.
func (d *database) delete(ctx context.Context, t *series.Table, condition string) error {
	if err := d.admin.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s", d.qualify(t.Name), condition)); err != nil {
		return fmt.Errorf("deleting rows of table %s: %w", t.Name, err)
	}
	return nil
}
