package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Foreign implements driver.Clearer.
func (d *database) Foreign(ctx context.Context, schema *series.Schema) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := d.foreign(ctx, schema)
	if err != nil {
		return nil, fmt.Errorf("listing what is in %s: %w", d.path, err)
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.String()
	}
	return names, nil
}

// Clear implements driver.Clearer. It drops all or nothing.
func (d *database) Clear(ctx context.Context, schema *series.Schema, named []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.change(ctx, func() error {
		found, err := d.foreign(ctx, schema)
		if err != nil {
			return err
		}
		for _, f := range found {
			if !slices.Contains(named, f.String()) {
				continue
			}
			if err := exec(ctx, d.admin, "DROP "+strings.ToUpper(f.kind)+" IF EXISTS "+quoted(f.name)); err != nil {
				return fmt.Errorf("dropping %s: %w", f, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.path, err)
	}
	return nil
}

// other is what somebody else made: a table, a view or an index.
type other struct{ kind, name string }

func (o other) String() string { return o.kind + " " + quoted(o.name) }

// foreign lists what Prepare refuses to touch: in a file without a mark all
// tables and views, whose indexes and triggers go with them; in a marked one
// what has a name that the schema needs. The caller holds mu.
func (d *database) foreign(ctx context.Context, schema *series.Schema) ([]other, error) {
	old, present, err := d.readStamp(ctx)
	marked := err == nil
	if errors.Is(err, driver.ErrNoMark) {
		return nil, nil
	}
	if err != nil && !errors.Is(err, driver.ErrForeign) {
		return nil, err
	}
	var needed, own []string
	if marked {
		next, err := newLayout(schema, d.index)
		if err != nil {
			return nil, err
		}
		needed, own = next.names, append(old.Own(plain(present)), sqlkit.MarkTable)
	}
	// Virtual tables first: they take the tables behind them along.
	var answer query.Answer
	if _, err := d.admin.query(ctx, `SELECT type, name, tbl_name FROM sqlite_schema
		WHERE type IN ('table', 'view', 'index') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC, type, name`, &answer); err != nil {
		return nil, err
	}
	var found []other
	for _, row := range answer.Rows {
		o, table := other{row[0].String(), row[1].String()}, row[2].String()
		inTheWay := o.kind != "index"
		if marked {
			inTheWay = !slices.Contains(own, table) && slices.ContainsFunc(needed, func(n string) bool { return strings.EqualFold(n, o.name) })
		}
		if inTheWay {
			found = append(found, o)
		}
	}
	return found, nil
}
