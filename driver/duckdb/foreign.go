//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

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

// Clear implements driver.Clearer. A table that others refer to can be dropped
// only after them, so each is tried again as long as any goes; where one
// remains the error says what hinders it.
func (d *database) Clear(ctx context.Context, schema *series.Schema, named []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := d.foreign(ctx, schema)
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.path, err)
	}
	found = slices.DeleteFunc(found, func(o other) bool { return !slices.Contains(named, o.String()) })
	for len(found) > 0 {
		before := len(found)
		found = slices.DeleteFunc(found, func(o other) bool {
			dropErr := d.admin.exec(ctx, "DROP "+strings.ToUpper(o.kind)+" IF EXISTS "+o.ident())
			if dropErr != nil {
				err = fmt.Errorf("clearing %s: dropping %s: %w", d.path, o, dropErr)
			}
			return dropErr == nil
		})
		if len(found) == before {
			return err
		}
	}
	return nil
}

// other is a table or view that somebody else made.
type other struct{ kind, schema, name string }

func (o other) String() string { return o.kind + " " + o.ident() }

func (o other) ident() string {
	sql := newDialect()
	return sql.Ident(o.schema) + "." + sql.Ident(o.name)
}

// foreign lists what Prepare refuses to touch: in a file without a mark all
// tables and views, in a marked one those with a name that the schema needs.
// The caller holds mu.
func (d *database) foreign(ctx context.Context, schema *series.Schema) ([]other, error) {
	old, _, err := d.readStamp(ctx)
	marked := err == nil
	if errors.Is(err, driver.ErrNoMark) {
		return nil, nil
	}
	if err != nil && !errors.Is(err, driver.ErrForeign) {
		return nil, err
	}
	var needed []string
	if marked {
		next, err := newLayout(schema)
		if err != nil {
			return nil, err
		}
		needed = next.names
	}
	var answer query.Answer
	if _, err := d.admin.query(ctx, `
		SELECT 'view', schema_name, view_name, '' FROM duckdb_views() WHERE NOT internal
		UNION ALL
		`+tables+`
		ORDER BY 1 DESC, 2, 3`, &answer); err != nil {
		return nil, err
	}
	var found []other
	for _, row := range answer.Rows {
		o := other{row[0].String(), row[1].String(), row[2].String()}
		if !marked || sqlkit.InTheWay(old, driver.Object{Name: o.name, Identity: driver.Described(row[3].String())}, needed, true) {
			found = append(found, o)
		}
	}
	return found, nil
}
