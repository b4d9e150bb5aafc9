package clickhouse

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// EffectiveOptions implements driver.DB for the settings sent with each statement, which a proxy may
// drop and a user's profile may override. The option fsync is part of the statement that creates a
// table.
func (d *database) EffectiveOptions(ctx context.Context) ([]driver.EffectiveOption, error) {
	wanted := d.options[optionAsync]
	if wanted != on {
		return nil, nil
	}
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT toString(getSetting('async_insert')), toString(getSetting('wait_for_async_insert'))")
	if err != nil {
		return nil, err
	}
	var list []driver.EffectiveOption
	for i, name := range []string{"async_insert", "wait_for_async_insert"} {
		found := row[i].String()
		if found == "1" || found == "true" {
			found = on
		}
		list = append(list, driver.EffectiveOption{
			Option: optionAsync, Wanted: on, Setting: name, Found: found,
			Remedy: fmt.Sprintf("a proxy may drop it, or the user's profile overrule it: connect to the server itself, or set %s for the user", name),
		})
	}
	return list, nil
}
