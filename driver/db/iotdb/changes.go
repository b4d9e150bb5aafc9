package iotdb

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// changes are the Changes of IoTDB. A TTL counts back from now.
func changes() driver.Changes {
	const space = "by compactions in the background"
	return driver.Changes{
		Delete:  driver.Way{By: "DELETE FROM", Space: space},
		Drop:    driver.Way{By: "DELETE FROM … WHERE time < …", Space: space},
		Correct: driver.Way{By: "writing the rows again", Space: space},
		Again:   driver.Replaces,
	}
}

// DeleteSeries implements driver.DB.
func (d *database) DeleteSeries(ctx context.Context, _ *series.Schema, t *series.Table, tag, value string) error {
	if err := driver.RefuseNumericTag(t, tag); err != nil {
		return err
	}
	return d.delete(ctx, t, d.deletion(t, tag, value, ""))
}

// DropBefore implements driver.DB.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	unit := units[d.options[optionPrecision]]
	before = before.UTC().Truncate(unit)
	for _, t := range s.Tables {
		if err := d.delete(ctx, t, d.deletion(t, "", "", fmt.Sprintf("time < %d", before.UnixNano()/int64(unit)))); err != nil {
			return time.Time{}, err
		}
	}
	return before, nil
}

func (d *database) delete(ctx context.Context, t *series.Table, statement string) error {
	if err := d.admin.Exec(ctx, statement); err != nil {
		return fmt.Errorf("deleting rows of %s: %w", d.objectName(t.Name), err)
	}
	return nil
}

// deletion implements model.
func (l *table) deletion(t *series.Table, tag, value, condition string) string {
	if tag != "" {
		condition = l.sql.OfTag(nil, t, tag, value)
	}
	return fmt.Sprintf("DELETE FROM %s WHERE %s", l.path(l.objectName(t.Name)), condition)
}

// deletion implements model.
func (l *tree) deletion(t *series.Table, tag, value, condition string) string {
	path := l.path(t.Name)
	texts, _ := split(t)
	for _, of := range texts {
		if of.Key == tag {
			path += "." + tagNode(value)
		} else {
			path += ".*"
		}
	}
	if condition != "" {
		condition = " WHERE " + condition
	}
	return "DELETE FROM " + path + ".*" + condition
}
