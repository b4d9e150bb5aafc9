package questdb

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/series"
)

// check returns an error for a batch that is not of the layout's schema, or that
// QuestDB would not hold as it is.
func (l *layout) check(b *series.Batch) error {
	for i := range b.Runs {
		if !slices.Contains(l.tables, b.Runs[i].Table) {
			return fmt.Errorf("table %s is not of the schema that the database was prepared for", b.Runs[i].Table.Name)
		}
	}
	return check(b)
}

// check returns an error for the first value that QuestDB would hold as another
// one, or not at all.
func check(b *series.Batch) error {
	for i := range b.Runs {
		if err := checkRun(&b.Runs[i]); err != nil {
			return fmt.Errorf("table %s: %w", b.Runs[i].Table.Name, err)
		}
	}
	return nil
}

func checkRun(run *series.Run) error {
	for row, t := range run.Times {
		switch {
		case t < 0:
			return fmt.Errorf("a row's time %s is before 1970, and QuestDB has no such rows; choose a later --timestamp-start", shown(t))
		case t%int64(precision) != 0:
			return fmt.Errorf("a row's time %s is no multiple of 1 µs, which is as fine as QuestDB's TIMESTAMP goes; choose a coarser --log-interval or start", shown(run.Times[row]))
		}
	}
	for f, field := range run.Table.Fields {
		column := &run.Columns[f]
		switch field.Type {
		case series.Int, series.Int32:
			bits, smallest := 64, int64(math.MinInt64)
			if field.Type == series.Int32 {
				bits, smallest = 32, math.MinInt32
			}
			for row, v := range column.Ints {
				if v == smallest && !run.Lacks(f, row) {
					return refused(run, f, row, fmt.Sprintf("the smallest integer of %d bits, which QuestDB holds as NULL", bits))
				}
			}
		case series.Timestamp:
			for row, v := range column.Ints {
				if v%int64(precision) != 0 && !run.Lacks(f, row) {
					return refused(run, f, row, shown(v)+", no multiple of 1 µs, which is as fine as QuestDB's TIMESTAMP goes")
				}
			}
		}
		for row, v := range column.Floats {
			if v-v != 0 && !run.Lacks(f, row) { // not finite
				return refused(run, f, row, fmt.Sprintf("%v, which QuestDB holds as NULL", v))
			}
		}
	}
	return nil
}

func refused(run *series.Run, field, row int, what string) error {
	return fmt.Errorf("field %s of series %d at %s is %s; leave it out of the data",
		run.Table.Fields[field].Name, run.Series[row], shown(run.Times[row]), what)
}

func shown(t int64) string { return time.Unix(0, t).UTC().Format(time.RFC3339Nano) }
