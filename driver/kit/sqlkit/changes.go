package sqlkit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Changes returns the Changes of a database whose rows are changed by the statements of Tables. step and space are
// those of driver.Way.
func Changes(d *sql.Dialect, step, space string) driver.Changes {
	way := func(by string) driver.Way { return driver.Way{By: by, Step: step, Space: space} }
	c := driver.Changes{Delete: way("DELETE"), Drop: way("DELETE"), Correct: way("UPDATE"), Again: driver.KeepsBoth}
	if d.Narrow {
		c.Correct = driver.Way{Reason: "tsmark does not write an UPDATE of narrow tables, which have a row for each value"}
	}
	return c
}

// DeleteSeries implements driver.DB.
func (t *Tables) DeleteSeries(ctx context.Context, s *series.Schema, table *series.Table, tag, value string) error {
	return t.changeRows(ctx, "deleting rows", []*series.Table{table}, func(c Conn) error {
		return c.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s", t.Dialect.Ident(table.Name), t.Dialect.OfTag(s, table, tag, value)))
	})
}

// DropBefore implements driver.DB for tables without partitions.
func (t *Tables) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	before = before.UTC().Truncate(t.Dialect.Precision)
	err := t.changeRows(ctx, "dropping old rows", s.Tables, func(c Conn) error {
		for _, table := range s.Tables {
			if err := c.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s < %s", t.Dialect.Ident(table.Name), t.Dialect.Ident(t.timeName()), t.Dialect.Time(before))); err != nil {
				return err
			}
		}
		return nil
	})
	return before, err
}

// Correct implements driver.DB.
func (t *Tables) Correct(ctx context.Context, b *series.Batch) error {
	var tables []*series.Table
	for i := range b.Runs {
		tables = append(tables, b.Runs[i].Table)
	}
	return t.changeRows(ctx, "correcting rows", tables, func(c Conn) error {
		for i := range b.Runs {
			for _, rows := range t.groupRows(&b.Runs[i]) {
				if err := c.Exec(ctx, t.update(&b.Runs[i], rows)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// changeRows runs do in a transaction. The error says what failed.
func (t *Tables) changeRows(ctx context.Context, doing string, of []*series.Table, do func(Conn) error) error {
	names := make([]string, len(of))
	for i, table := range of {
		names[i] = table.Name
	}
	change := t.Change
	if t.Atomically != nil {
		change = t.Atomically
	}
	if err := change(ctx, names, do); err != nil {
		return fmt.Errorf("%s of %s in %s: %w", doing, strings.Join(names, ", "), t.Place, err)
	}
	return nil
}

// correctedAtOnce is the number of rows of an UPDATE.
const correctedAtOnce = 500

// groupRows divides the rows of a run among statements: in wide tables, a statement is about one series.
func (t *Tables) groupRows(run *series.Run) (all [][]int) {
	open := make(map[uint32]int) // by series, the statement to which rows are added
	for row, id := range run.Series {
		if !t.Dialect.Wide {
			id = 0
		}
		at, ok := open[id]
		if !ok || len(all[at]) == correctedAtOnce {
			at, all = len(all), append(all, nil)
			open[id] = at
		}
		all[at] = append(all[at], row)
	}
	return all
}

// update returns the statement that gives stored rows the values of rows of a run.
func (t *Tables) update(run *series.Run, rows []int) string {
	d, name := t.Dialect, t.Dialect.Ident(run.Table.Name)
	first, last := run.Times[rows[0]], run.Times[rows[0]]
	values := make([][]string, len(rows))
	for i, row := range rows {
		first, last = min(first, run.Times[row]), max(last, run.Times[row])
		values[i] = []string{d.Time(time.Unix(0, run.Times[row]).UTC()), fmt.Sprint(run.Series[row])}
		for f := range run.Columns {
			values[i] = append(values[i], t.Literal(run, f, row))
		}
	}
	at := name + "." + d.Ident(t.timeName())
	where := []string{at + " = v.c0"}
	if d.Wide {
		where = append(where, d.OfSeries(run.Table, run.Series[rows[0]])...)
	} else {
		where = append(where, fmt.Sprintf("%s.%s = v.c1", name, d.Ident(sql.TagsIDColumn)))
	}
	// With constants the system finds the partitions without looking at the values.
	where = append(where, fmt.Sprintf("%s BETWEEN %s AND %s", at, d.Time(time.Unix(0, first).UTC()), d.Time(time.Unix(0, last).UTC())))
	var set []string
	for f := range run.Columns {
		value := fmt.Sprintf("v.c%d", f+2)
		if as := t.Types[run.Table.Fields[f].Type].As; as != "" {
			value = fmt.Sprintf(cmp.Or(t.Casts[as], "CAST(%s AS "+as+")"), value)
		}
		set = append(set, d.Ident(run.Table.Fields[f].Name)+" = "+value)
	}
	if t.UpdatesJoined {
		var list []string
		for i := range values {
			row := values[i]
			for c := range row {
				row[c] = fmt.Sprintf("%s AS c%d", row[c], c)
			}
			list = append(list, "SELECT "+strings.Join(row, ", "))
		}
		return fmt.Sprintf("UPDATE %s JOIN (%s) AS v ON %s\nSET %s", name, strings.Join(list, " UNION ALL "), strings.Join(where, " AND "), strings.Join(set, ", "))
	}
	columns, list := make([]string, len(values[0])), make([]string, len(values))
	for c := range columns {
		columns[c] = fmt.Sprintf("c%d", c)
	}
	for i := range values {
		list[i] = "(" + strings.Join(values[i], ", ") + ")"
	}
	return fmt.Sprintf("WITH v (%s) AS (VALUES %s)\nUPDATE %s SET %s FROM v\nWHERE %s",
		strings.Join(columns, ", "), strings.Join(list, ", "), name, strings.Join(set, ", "), strings.Join(where, " AND "))
}

// Literal returns the literal of a field's value in a row of a run.
func (t *Tables) Literal(run *series.Run, f, row int) string {
	d, field, column := t.Dialect, &run.Table.Fields[f], &run.Columns[f]
	switch {
	case run.Lacks(f, row):
		return "NULL"
	case field.Type.Textual():
		return d.Text(string(column.AppendText(nil, row, field.Length)))
	case field.Type == series.Timestamp:
		return d.Time(time.Unix(0, column.Ints[row]).UTC())
	case field.Type == series.Date && !t.DatesAsDays:
		return d.Text(time.Unix(column.Ints[row]*24*60*60, 0).UTC().Format(time.DateOnly))
	case field.Type.UsesInts():
		return strconv.FormatInt(column.Ints[row], 10)
	}
	switch v := column.Floats[row]; {
	case math.IsInf(v, 1):
		return d.Text("Infinity")
	case math.IsInf(v, -1):
		return d.Text("-Infinity")
	case math.IsNaN(v):
		return d.Text("NaN")
	default:
		return sql.Double(v)
	}
}
