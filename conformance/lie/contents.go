package lie

import (
	"context"
	"errors"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// errClosed is the error of a writer whose connection was cut.
var errClosed = errors.New("the server closed the connection")

// Contents lists lies about what a database stores, told about a table that has this number
// of rows, at least 15, of at least two series.
func Contents(rows int64) []Lie {
	some := rows * 25 / 72
	return []Lie{
		{Name: "drops-rows", Copies: func(row int64) int { return times(row%1000 != 7) }},
		{Name: "drops-one-row", Copies: func(row int64) int { return times(row != rows*7/10) }},
		{Name: "loses-last-row", Copies: func(row int64) int { return times(row != rows-1) }}, // which few answers show
		{Name: "stops-storing", Copies: func(row int64) int { return times(row < some) }},
		{Name: "empty", Copies: func(int64) int { return 0 }},
		{Name: "duplicates", Copies: func(row int64) int { return 1 + times(row == rows*7/10) }},
		{Name: "duplicates-for-lost-rows", Copies: func(row int64) int { // keeps the number of rows
			return times(row != rows*3/10) + times(row == rows*6/10)
		}},
		{Name: "stores-zeroes", Change: func(_ int64, run *series.Run) {
			for f := range run.Columns {
				clear(run.Columns[f].Ints)
				clear(run.Columns[f].Floats)
			}
		}},
		{Name: "doubles-a-field", Change: func(_ int64, run *series.Run) {
			for row := range run.Rows() {
				add(run, row, func(x int64) int64 { return x })
			}
		}},
		{Name: "lowers-the-minimum", Change: func(first int64, run *series.Run) { // and keeps the sum
			for row := range run.Rows() {
				switch first + int64(row) {
				case 10:
					add(run, row, func(int64) int64 { return -500 })
				case 11:
					add(run, row, func(int64) int64 { return 500 })
				}
			}
		}},
		{Name: "shifts-times", Change: func(_ int64, run *series.Run) {
			for row := range run.Times {
				run.Times[row] += int64(time.Hour)
			}
		}},
		{Name: "shifts-a-row", Change: func(first int64, run *series.Run) { // the first and the last time stay the same
			if row := rows/2 - first; row >= 0 && row < int64(run.Rows()) {
				run.Times[row] += int64(time.Millisecond)
			}
		}},
		{Name: "swaps-values", Change: func(_ int64, run *series.Run) { // count, sum, minimum and maximum stay the same
			for row := 0; row+1 < run.Rows(); row += 2 {
				for f := range run.Columns {
					swap(run.Columns[f].Ints, row)
					swap(run.Columns[f].Floats, row)
				}
			}
		}},
		{Name: "loses-a-tag", List: func(tags []query.Value) bool { tags[1] = query.Value{}; return true }},
		{Name: "loses-a-series", List: func(tags []query.Value) bool { return string(tags[0].Text) != "host_1" }}, // and keeps its rows
	}
}

// GivesUp returns a lie that cuts the connection before it stores more than this number of rows.
func GivesUp(rows int64) Lie {
	return Lie{Name: "gives-up", Write: func(ctx context.Context, w Write) (driver.Receipt, error) {
		if w.First+int64(w.Batch.Rows()) > rows {
			return driver.Receipt{}, errClosed
		}
		return w.Store(ctx, w.Batch)
	}}
}

// times is how often a row is stored that is stored only if kept.
func times(kept bool) int {
	if kept {
		return 1
	}
	return 0
}

// add changes the value of the first field in a row.
func add(run *series.Run, row int, difference func(int64) int64) {
	if c := &run.Columns[0]; c.Ints != nil {
		c.Ints[row] += difference(c.Ints[row])
	} else {
		c.Floats[row] += float64(difference(int64(c.Floats[row])))
	}
}

// swap exchanges two values, if the column has values of the type.
func swap[T any](values []T, row int) {
	if values != nil {
		values[row], values[row+1] = values[row+1], values[row]
	}
}

// Stutters stores each third batch of four, and cuts the connection before it acknowledges it.
// A client that sends it again stores its rows twice, unless the database merges them.
func Stutters() Lie {
	return Lie{Name: "stutters", Write: func(ctx context.Context, w Write) (driver.Receipt, error) {
		receipt, err := w.Store(ctx, w.Batch)
		if err == nil && w.Nth%4 == 3 {
			return driver.Receipt{}, &driver.Temporary{Err: errClosed}
		}
		return receipt, err
	}}
}

// Masks stores the third batch without acknowledging it, so that it is sent again, and
// acknowledges the sixth one without storing it. The number of rows stays the same.
func Masks() Lie {
	return Lie{Name: "masks", Write: func(ctx context.Context, w Write) (driver.Receipt, error) {
		switch w.Nth {
		case 3:
			if receipt, err := w.Store(ctx, w.Batch); err != nil {
				return receipt, err
			}
			return driver.Receipt{}, &driver.Temporary{Err: errClosed}
		case 6:
			now := time.Now()
			return driver.Receipt{Sent: now, Acked: now}, nil
		}
		return w.Store(ctx, w.Batch)
	}}
}
