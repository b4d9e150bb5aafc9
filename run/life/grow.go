package life

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
)

// grownField is the field that rows have after the event grow.
const grownField = "grown"

// growth adds a field to tables of a schema. Rows of the dataset have it from one place on.
type growth struct {
	schema *series.Schema
	tables map[*series.Table]*series.Table // with the field, by those without it
	from   int64                           // number of the first row with the field
}

// newGrowth returns the growth of a schema. Tables of one field are metrics, which get no second one, and
// in ragged tables a field of all series would have another place in each row.
func newGrowth(s *series.Schema, from int64) *growth {
	grown := *s
	g := &growth{schema: &grown, tables: map[*series.Table]*series.Table{}, from: from}
	grown.Tables = nil
	for _, t := range s.Tables {
		if len(t.Fields) > 1 && t.Metric == nil && t.Widths == nil && t.FieldIndex(grownField) < 0 && t.Tag(grownField) == nil {
			table := *t
			table.Fields = append(t.Fields[:len(t.Fields):len(t.Fields)], series.Field{Name: grownField, Type: series.Float})
			table.Dense = false
			g.tables[t], t = &table, &table
		}
		grown.Tables = append(grown.Tables, t)
	}
	return g
}

// add adds an empty run to a batch for rows of a run of the dataset. A nil growth adds no field.
func (g *growth) add(to *series.Batch, from *series.Run) *series.Run {
	if g != nil && g.tables[from.Table] != nil {
		return to.Add(g.tables[from.Table])
	}
	return to.Add(from.Table)
}

// fill fills in the field of a copied row with a number in the dataset, if its table has the field.
func (g *growth) fill(run *series.Run, row int, n int64) {
	last := len(run.Columns) - 1
	switch {
	case !g.has(run):
	case n < g.from:
		run.SetNull(last, row)
	default:
		bits := splitmix.Mix(uint64(run.Series[row])<<32 ^ uint64(run.Times[row]))
		run.Columns[last].Floats[row] = float64(1+bits%1000) / 8 // which every system stores exactly
	}
}

// has reports whether the table of a copied run has the field.
func (g *growth) has(run *series.Run) bool {
	return g != nil && run.Table.Fields[len(run.Table.Fields)-1].Name == grownField
}

// grow has the base write rows with a further field from now on. It ends when the first of these rows is
// visible with the field.
func (l *life) grow(ctx context.Context, e *result.LifeEvent) error {
	switch {
	case !l.cfg.Caps.MakesColumns:
		return newUnsupported("the system adds no columns for new fields of rows")
	case l.cfg.DB.Grow == nil:
		return newUnsupported("tsmark's driver writes to columns that exist, and tries no others")
	}
	resume, err := l.pause(ctx)
	if err != nil {
		return err
	}
	defer resume()
	g := newGrowth(l.schema, l.next) // the base reads nothing meanwhile
	if len(g.tables) == 0 {
		return newUnsupported("no table of the dataset can have a further field")
	}
	e.What = fmt.Sprintf("rows have a new field, %s", grownField)
	further, err := l.furtherObjects(g.schema)
	if err != nil {
		return err
	}
	seen := false
	err = l.measure(ctx, e, func(ctx context.Context) error {
		do := func(ctx context.Context) (err error) {
			if err := l.cfg.DB.Grow(g.schema); err != nil {
				return err
			}
			l.mu.Lock()
			l.growth = g
			l.mu.Unlock()
			l.generation.Add(1)
			l.growing.Store(true)
			resume()
			seen, err = l.awaitField(ctx)
			return err
		}
		if len(further) == 0 {
			return do(ctx)
		}
		return l.cfg.Extend(ctx, further, do)
	})
	if err == nil && !seen {
		return newUnsupported("the life ended before a row with the new field was written")
	}
	return err
}

// furtherObjects returns the objects that exist once a schema has grown, such as metrics, and did not
// before.
func (l *life) furtherObjects(grown *series.Schema) ([]driver.Object, error) {
	before, err := l.cfg.DB.Plan(l.schema)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, o := range before {
		known[o.Name] = true
	}
	var further []driver.Object
	after, err := l.cfg.DB.Plan(grown)
	for _, o := range after {
		if !known[o.Name] {
			further = append(further, o)
		}
	}
	return further, err
}

// awaitField waits until a row with the new field is written, and visible with it. False: the base ended without one.
func (l *life) awaitField(ctx context.Context) (seen bool, err error) {
	var row oracle.Row
	select {
	case row = <-l.grown:
	case <-l.phase.Written:
		select {
		case row = <-l.grown: // in the last batch
		default:
			return false, nil
		}
	case <-ctx.Done():
		return false, ctx.Err()
	}
	k := looker{life: l, schema: l.growth.schema}
	defer k.close()
	return true, k.awaitWritten(ctx, row, time.Minute)
}

// noteGrown passes on the first written row with the new field.
func (l *life) noteGrown(b *series.Batch) {
	for i := range b.Runs {
		run := &b.Runs[i]
		if last := len(run.Columns) - 1; l.growth.has(run) && run.Rows() > 0 && l.growing.CompareAndSwap(true, false) {
			l.grown <- oracle.Row{Table: run.Table, Series: run.Series[0], Time: run.Times[0], Fields: []int{last}}
		}
	}
}
