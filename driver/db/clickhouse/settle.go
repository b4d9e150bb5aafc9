package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// The interval of Settle's checks, and how long no merge may have begun or ended: after the end of a
// merge the server looks for the next one immediately.
const (
	look    = 20 * time.Millisecond
	idleFor = 500 * time.Millisecond
)

// Settle implements driver.DB. Acknowledged rows are visible. Settle waits for the merges of their
// parts, which continue until the server finds no merge worthwhile.
func (d *database) Settle(ctx context.Context) error {
	own, err := d.ownTables()
	var since time.Time
	if err == nil {
		parts := int64(-1)
		since, err = poll.Idle(ctx, look, idleFor, func() (bool, error) {
			var row []query.Value
			row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT (SELECT count() FROM system.merges WHERE "+own+"), (SELECT count() FROM system.parts WHERE active AND "+own+")")
			if err != nil {
				return false, err
			}
			changed := parts >= 0 && parts != row[1].Int
			parts = row[1].Int
			return row[0].Int > 0 || changed, nil
		})
	}
	if err != nil {
		return fmt.Errorf("settling ClickHouse: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.idleSince = since
	return nil
}

// IdleSince implements driver.DB.
func (d *database) IdleSince() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.idleSince
}
