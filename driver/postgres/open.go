package postgres

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/pgwire"
)

// open connects, and looks whether the server can do what the options ask for.
func open(ctx context.Context, v Variant, env driver.Env, o driver.Options) (*database, error) {
	config, err := pgwire.NewConfig(connection.Of(o))
	if err != nil {
		return nil, err
	}
	for option, setting := range map[string]string{optionCommit: "synchronous_commit", optionWorkMemory: "work_mem", optionCompilation: "jit"} {
		if o[option] != "" {
			config.Set(setting, o[option])
		}
	}
	d := &database{
		variant: v, options: o, config: config,
		admin: pgwire.NewLink(config, o[optionConnections] == connectionsOne), meter: pgwire.NewLink(config, o[optionConnections] == connectionsOne),
		locks: env.Locks,
	}
	d.Counter = d.counter()
	err = d.admin.Do(ctx, func(c *pgwire.Conn) error { return d.fits(ctx, c) })
	if err != nil {
		_ = d.Close() // the first error says what is wrong
		return nil, err
	}
	return d, nil
}

// minVersion is the first with date_bin, as server_version_num has it.
const minVersion = 140000

// fits returns an error where the server cannot do what the options ask for.
func (d *database) fits(ctx context.Context, c *pgwire.Conn) error {
	row, err := c.Row(ctx, `SELECT current_setting('server_version_num')::bigint, current_setting('server_version'),
		current_setting('fsync'), current_setting('full_page_writes'), coalesce(current_schema(), '')`)
	if err != nil {
		return err
	}
	switch {
	case row[0].Int < minVersion:
		return fmt.Errorf("%s has PostgreSQL %s; tsmark needs 14 or newer", d.config.Location(), row[1])
	case row[4].String() == "":
		return fmt.Errorf("%s: no schema of search_path exists; set search_path for the user", d.config.Location())
	case d.options[optionCommit] == on && (row[2].String() != on || row[3].String() != on):
		return fmt.Errorf("%s: its fsync is %s and its full_page_writes %s, so no commit is safe; switch them on, or choose durability=%s",
			d.config.Location(), row[2], row[3], driver.AsShipped)
	}
	if d.variant.Check != nil {
		return d.variant.Check(ctx, c, d.options)
	}
	return nil
}
