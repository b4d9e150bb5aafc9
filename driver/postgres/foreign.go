package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Foreign implements driver.Clearer.
func (d *database) Foreign(ctx context.Context, schema *series.Schema) ([]string, error) {
	var names []string
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		found, err := d.foreign(ctx, c, schema)
		for _, f := range found {
			names = append(names, f.String())
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing what is in %s: %w", d.config.Location(), err)
	}
	return names, nil
}

// Clear implements driver.Clearer. It drops all or nothing, and nothing that
// others refer to.
func (d *database) Clear(ctx context.Context, schema *series.Schema, named []string) error {
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		return d.transaction(ctx, c, nil, func() error {
			found, err := d.foreign(ctx, c, schema)
			if err != nil {
				return err
			}
			var statements []string
			kinds := make(map[string][]string)
			for _, f := range found {
				if slices.Contains(named, f.String()) {
					kinds[f.kind] = append(kinds[f.kind], Quoted(f.name))
				}
			}
			for _, kind := range dropOrder {
				if names := kinds[kind]; len(names) > 0 {
					statements = append(statements, "DROP "+strings.ToUpper(kind)+" "+strings.Join(names, ", "))
				}
			}
			return c.Exec(ctx, statements...)
		})
	})
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.config.Location(), err)
	}
	return nil
}

// other is what somebody else made.
type other struct{ kind, name string }

func (o other) String() string { return o.kind + " " + Quoted(o.name) }

// dropOrder is the kinds of what can be in the way: views come before what they
// look at.
var dropOrder = [...]string{"view", "materialized view", "foreign table", "table"}

// foreign lists what Prepare refuses to touch: in a schema without a mark all
// tables and views, in a marked one what has a name that is needed.
func (d *database) foreign(ctx context.Context, c *pgwire.Conn, schema *series.Schema) ([]other, error) {
	old, _, err := d.readStamp(ctx, c)
	marked := err == nil
	switch {
	case errors.Is(err, driver.ErrNoMark):
		return nil, nil
	case err != nil && !errors.Is(err, driver.ErrForeign):
		return nil, err
	}
	var needed []string
	if marked {
		next, err := newLayout(schema, d.options)
		if err != nil {
			return nil, err
		}
		needed = next.names()
	}
	var answer query.Answer
	if _, err := c.Query(ctx, `SELECT CASE relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'table' END, relname, oid::bigint
		FROM pg_class WHERE `+ofTheSchema+` ORDER BY 1, 2`, &answer); err != nil {
		return nil, err
	}
	var found []other
	for _, row := range answer.Rows {
		o := other{row[0].String(), row[1].String()}
		if !marked || sqlkit.InTheWay(old, driver.Object{Name: o.name, Identity: row[2].String()}, needed, false) {
			found = append(found, o)
		}
	}
	return found, nil
}
