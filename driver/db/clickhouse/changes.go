package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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

// correctedAtOnce is the number of rows that a mutation corrects. Its text has a limit (max_query_size).
const correctedAtOnce = 100

// Correct implements driver.DB.
func (d *database) Correct(ctx context.Context, b *series.Batch) error {
	for i := range b.Runs {
		run := &b.Runs[i]
		rows := make([]int, run.Rows())
		for row := range rows {
			rows[row] = row
		}
		for part := range slices.Chunk(rows, correctedAtOnce) {
			if err := d.admin.Exec(ctx, d.mutation(run, part)); err != nil {
				return fmt.Errorf("correcting rows of table %s: %w", run.Table.Name, err)
			}
		}
	}
	return nil
}

// mutation returns the statement that gives stored rows the values of rows of a run. It finds the place of a row in
// them by a text of its series and its time.
func (d *database) mutation(run *series.Run, rows []int) string {
	table, design := run.Table, newDesign(d.options)
	times, columns := quoteIdent(timeColumn(d.options)), []string{sql.TagsIDColumn}
	if design.wide {
		columns = nil
		for i := range table.Tags {
			columns = append(columns, quoteIdent(table.Tags[i].Key))
		}
	}
	// A NULL differs from each text.
	for i, name := range columns {
		columns[i] = fmt.Sprintf("ifNull('=' || toString(%s), '')", name)
	}
	key := strings.Join(append(columns, "toString(toUnixTimestamp64Nano(toDateTime64("+times+", 9, 'UTC')))"), " || '\\n' || ")
	keys, places := make([]string, len(rows)), make([]string, len(rows))
	first, last := run.Times[rows[0]], run.Times[rows[0]]
	for i, row := range rows {
		first, last = min(first, run.Times[row]), max(last, run.Times[row])
		parts := []string{fmt.Sprintf("=%d", run.Series[row])}
		if design.wide {
			parts = nil
			for t := range table.Tags {
				value, ok := table.Tags[t].Values.Append(nil, run.Series[row])
				if number, err := strconv.ParseFloat(string(value), 64); ok && table.Tags[t].Numeric() && err == nil {
					value = strconv.AppendFloat(value[:0], number, 'f', -1, 64) // as toString has it
				}
				if ok {
					value = append([]byte("="), value...)
				}
				parts = append(parts, string(value))
			}
		}
		keys[i] = literal(strings.Join(append(parts, fmt.Sprint(run.Times[row])), "\n"))
		places[i] = fmt.Sprint(i + 1)
	}
	place := fmt.Sprintf("transform(%s, [%s], [%s], 0)", key, strings.Join(keys, ", "), strings.Join(places, ", "))
	set := make([]string, len(table.Fields))
	for f := range table.Fields {
		values := make([]string, len(rows))
		for i, row := range rows {
			values[i] = d.Literal(run, f, row)
		}
		set[f] = fmt.Sprintf("%s = CAST([%s] AS Array(%s))[%s]", quoteIdent(table.Fields[f].Name), strings.Join(values, ", "), design.columnType(table, &table.Fields[f]), place)
	}
	bound := func(t int64) string { return d.Dialect.Time(time.Unix(0, t).UTC()) }
	return fmt.Sprintf("ALTER TABLE %s UPDATE %s WHERE %s BETWEEN %s AND %s AND %s > 0 SETTINGS mutations_sync = 2",
		quoteIdent(table.Name), strings.Join(set, ", "), times, bound(first), bound(last), place)
}
