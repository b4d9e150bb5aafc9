package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// changes returns the Changes of tables laid out by the options.
func changes(o driver.Options) driver.Changes {
	merges := driver.Way{By: "DELETE (lightweight)", Step: stepOptimize, Space: "by merges in the background"}
	c := driver.Changes{
		Delete: merges, Drop: merges, Again: driver.KeepsBoth,
		Correct: driver.Way{By: "ALTER TABLE … UPDATE", Space: "the server deletes parts that a mutation has replaced some minutes later"},
	}
	if o[optionPartition] != partitionNone {
		c.Drop = driver.Way{By: "ALTER TABLE … DROP PARTITION", Space: "the server deletes the parts some minutes later"}
	}
	return c
}

// DropBefore implements driver.DB. It drops partitions, if there are any.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	var first string // partition that stays
	before = before.UTC()
	switch d.options[optionPartition] {
	case partitionMonth:
		before = time.Date(before.Year(), before.Month(), 1, 0, 0, 0, 0, time.UTC)
		first = before.Format("200601")
	case partitionDay:
		before = before.Truncate(24 * time.Hour)
		first = before.Format("20060102")
	default:
		return d.Tables.DropBefore(ctx, s, before)
	}
	for _, t := range s.Tables {
		if err := d.dropPartitions(ctx, t.Name, first); err != nil {
			return time.Time{}, fmt.Errorf("dropping partitions of table %s: %w", t.Name, err)
		}
	}
	return before, nil
}

// dropPartitions drops the partitions of a table before one.
func (d *database) dropPartitions(ctx context.Context, table, first string) error {
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT DISTINCT partition_id FROM system.parts WHERE active AND database = currentDatabase() AND table = %s AND partition_id < %s ORDER BY 1",
		literal(table), literal(first)))
	for _, row := range rows {
		if err == nil {
			err = d.admin.Exec(ctx, fmt.Sprintf("ALTER TABLE %s DROP PARTITION ID %s", quoteIdent(table), literal(row[0].String())))
		}
	}
	return err
}

// Tables that exist while rows are corrected.
const (
	correctedRows   = "tsmark_corrected_rows"
	correctedValues = "tsmark_corrected_values"
)

// Correct implements driver.DB. It needs a mutation for each table of a batch. Lightweight updates need no mutation, but
// they are a beta feature, and tables must store two further columns from their first row on.
func (d *database) Correct(ctx context.Context, b *series.Batch) error {
	var tables []*series.Table
	runs := make(map[*series.Table][]*series.Run)
	for i := range b.Runs {
		run := &b.Runs[i]
		if run.Rows() == 0 {
			continue
		}
		if runs[run.Table] == nil {
			tables = append(tables, run.Table)
		}
		runs[run.Table] = append(runs[run.Table], run)
	}
	first, last := b.Times()
	for _, t := range tables {
		if err := d.correctTable(ctx, t, runs[t], first, last); err != nil {
			return fmt.Errorf("correcting rows of table %s: %w", t.Name, err)
		}
	}
	return nil
}

// correctTable gives stored rows of a table the values of rows of runs, whose times are from first to last.
func (d *database) correctTable(ctx context.Context, t *series.Table, runs []*series.Run, first, last int64) (err error) {
	layout, err := d.Layout()
	if err != nil {
		return err
	}
	defer func() {
		later, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.config.Timeout)
		defer cancel()
		var texts []string
		if err != nil { // the server would try the mutation for ever, without the tables
			texts = append(texts, fmt.Sprintf("KILL MUTATION WHERE database = currentDatabase() AND table = %s SYNC", literal(t.Name)))
		}
		for _, name := range []string{correctedValues, correctedRows} {
			texts = append(texts, "DROP TABLE IF EXISTS "+quoteIdent(name)+" SYNC")
		}
		err = errors.Join(err, d.admin.Exec(later, texts...))
	}()
	return d.admin.Do(ctx, func(c conn) error {
		if err := c.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE %s AS %s ENGINE = Memory", quoteIdent(correctedRows), quoteIdent(t.Name))); err != nil {
			return err
		}
		l := &loader{d: d, conn: c, layout: layout, options: d.options}
		if _, err := l.rowWriter(t, correctedRows).Append(ctx, runs); err != nil {
			return err
		}
		return c.Exec(ctx, d.mutation(t, first, last)...)
	})
}

// mutation returns the statements that give stored rows the values of correctedRows. Mutations have no joins, but they
// can read values of a table of the engine Join by a key, whose parts must not be NULL: here, a text of tags and time.
func (d *database) mutation(t *series.Table, first, last int64) []string {
	times, parts := quoteIdent(timeColumn(d.options)), []string{sql.TagsIDColumn}
	if newDesign(d.options).wide {
		parts = nil
		for i := range t.Tags {
			parts = append(parts, quoteIdent(t.Tags[i].Key))
		}
	}
	key := fmt.Sprintf("toString(tuple(%s))", strings.Join(append(parts, "toUnixTimestamp64Nano(toDateTime64("+times+", 9, 'UTC'))"), ", "))
	value := func(column string) string {
		return fmt.Sprintf("joinGet(%s, %s, %s)", literal(d.config.Database+"."+correctedValues), literal(column), key)
	}
	const keyColumn, rowColumn = "tsmark_key", "tsmark_row"
	var columns, set []string
	for i := range t.Fields {
		name := quoteIdent(t.Fields[i].Name)
		columns = append(columns, name)
		set = append(set, name+" = "+value(t.Fields[i].Name))
	}
	bound := func(t int64) string { return d.Dialect.Time(time.Unix(0, t).UTC()) }
	return []string{
		fmt.Sprintf("CREATE OR REPLACE TABLE %s ENGINE = Join(ANY, LEFT, %s) AS SELECT %s AS %[2]s, toUInt8(1) AS %[4]s, %[5]s FROM %[6]s",
			quoteIdent(correctedValues), keyColumn, key, rowColumn, strings.Join(columns, ", "), quoteIdent(correctedRows)),
		fmt.Sprintf("ALTER TABLE %s UPDATE %s WHERE %s BETWEEN %s AND %s AND %s = 1 SETTINGS mutations_sync = 2",
			quoteIdent(t.Name), strings.Join(set, ", "), times, bound(first), bound(last), value(rowColumn)),
	}
}
