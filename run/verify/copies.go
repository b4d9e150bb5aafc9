package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// RunRow is a row of a run.
type RunRow struct {
	Run *series.Run
	Row int
}

// Empty reports whether the row has no value. Some systems do not store such rows.
func (r RunRow) Empty() bool {
	for f := range r.Run.Columns {
		if !r.Run.Lacks(f, r.Row) {
			return false
		}
	}
	return true
}

// String names the row by its table, its first tag and its time.
func (r RunRow) String() string {
	text := r.Run.Table.Name
	for i := range r.Run.Table.Tags {
		tag := &r.Run.Table.Tags[i]
		if value, ok := tag.Values.Append(nil, r.Run.Series[r.Row]); ok {
			text += fmt.Sprintf(" of %s=%s", tag.Key, value)
			break
		}
	}
	return text + " at " + query.Value{Kind: query.Time, Int: r.Run.Times[r.Row]}.String()
}

// Copies counts the rows that a target has with the series and the time of a row.
type Copies struct {
	Whole int // with its values
	Torn  int // that lack some of its values, and have no other ones
	Wrong int // with other values
}

// All returns the number of all copies.
func (c Copies) All() int { return c.Whole + c.Torn + c.Wrong }

const (
	// copiesAtOnce is about the number of rows that a query of CountCopies is for.
	copiesAtOnce = 20_000
	// copiedFields is the maximum number of fields that CountCopies compares: a statement cannot name as
	// many columns as a table may have.
	copiedFields = 200
)

// CountCopies counts for each of the rows, in their order, how often the target has it. It queries all
// rows of the times between the first and the last row, and ignores other rows among them. If the
// tags of queries do not tell two series apart, a stored row counts for the series whose values it
// matches best. Floats of a target that rounds are compared to the given number of digits; 0: exactly.
// The error is the first of a connection or a query.
func CountCopies(ctx context.Context, cfg Config, t driver.DB, render Renderer, schema *series.Schema, digits int, rows []RunRow) ([]Copies, error) {
	c := copyCounter{cfg: cfg, render: render, schema: schema, rounding: rounding(digits), rows: rows, copies: make([]Copies, len(rows))}
	queries := c.queries()
	var next atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	for worker := range min(cfg.Workers, len(queries)) {
		group.Go(func() error {
			querier, err := t.NewQuerier(groupCtx, worker)
			if err != nil {
				return fmt.Errorf("connecting to read rows: %w", err)
			}
			defer querier.Close() // only used for reading
			for {
				i := next.Add(1) - 1
				if i >= int64(len(queries)) {
					return nil
				}
				if err := c.count(groupCtx, querier, queries[i]); err != nil {
					return fmt.Errorf("reading rows: %w", err)
				}
			}
		})
	}
	return c.copies, group.Wait()
}

// copyCounter is the state of CountCopies. Each query counts rows of its own.
type copyCounter struct {
	cfg      Config
	render   Renderer
	schema   *series.Schema
	rounding float64
	rows     []RunRow
	copies   []Copies
}

// copyQuery finds some of the rows.
type copyQuery struct {
	query.Query
	table *series.Table
	rows  []int             // indexes
	tags  map[uint32]string // of the column in the answer, by series
	// exact means that the answer also has rows of other series with the times of the rows, so that only
	// rows with equal values count.
	exact bool
}

// queries returns queries that find all rows.
func (c *copyCounter) queries() []copyQuery {
	type place struct {
		table *series.Table
		id    uint32
	}
	seen := map[place]bool{}
	var one []oracle.Row // of each series
	for _, r := range c.rows {
		table, id := r.Run.Table, r.Run.Series[r.Row]
		if !seen[place{table, id}] {
			seen[place{table, id}] = true
			one = append(one, oracle.Row{Table: table, Series: id})
		}
	}
	lookups := oracle.Lookups(one)
	// One tag may tell all series of a table apart.
	simple := map[*series.Table]bool{}
	first := map[*series.Table]string{}
	for i := range lookups {
		l := &lookups[i]
		tag := l.Query.Shape.(query.Rows).Tag
		if _, ok := first[l.Table]; !ok {
			first[l.Table], simple[l.Table] = tag, true
		}
		if tag != first[l.Table] || l.Query.In != nil && l.Query.In.Key != tag {
			simple[l.Table] = false
		}
	}
	type group struct {
		table      *series.Table
		in, is, by string
	}
	at, groupOf, tagOf := map[group]int{}, map[place]int{}, map[place]string{}
	var whole []copyQuery
	for i := range lookups {
		l := &lookups[i]
		g := group{table: l.Table, by: l.Query.Shape.(query.Rows).Tag}
		if in := l.Query.In; in != nil && !simple[l.Table] {
			g.in, g.is = in.Key, in.Values[0]
		}
		if _, ok := at[g]; !ok {
			at[g] = len(whole)
			q := copyQuery{table: g.table, tags: map[uint32]string{}, Query: query.Query{Table: g.table.Name}}
			shape := query.Rows{Tag: g.by}
			for _, f := range g.table.Fields[:min(len(g.table.Fields), copiedFields)] {
				shape.Fields = append(shape.Fields, f.Name)
			}
			q.Shape, q.exact = shape, g.by == "" && !simple[g.table]
			if g.in != "" {
				q.In = &query.TagIn{Key: g.in, Values: []string{g.is}}
			}
			whole = append(whole, q)
		}
		groupOf[place{l.Table, l.Series}], tagOf[place{l.Table, l.Series}] = at[g], l.Tag
	}
	for i, r := range c.rows {
		p := place{r.Run.Table, r.Run.Series[r.Row]}
		q := &whole[groupOf[p]]
		q.rows, q.tags[p.id] = append(q.rows, i), tagOf[p]
	}
	var list []copyQuery
	for i := range whole {
		list = append(list, c.cut(&whole[i])...)
	}
	return list
}

// cut cuts a query for many rows into queries of parts of its time.
func (c *copyCounter) cut(q *copyQuery) (list []copyQuery) {
	timeOf := func(i int) int64 { return c.rows[i].Run.Times[c.rows[i].Row] }
	slices.SortStableFunc(q.rows, func(a, b int) int { return cmp.Compare(timeOf(a), timeOf(b)) })
	for rest := q.rows; len(rest) > 0; {
		n := min(copiesAtOnce, len(rest))
		for n < len(rest) && timeOf(rest[n]) == timeOf(rest[n-1]) {
			n++
		}
		part := *q
		part.rows, rest = rest[:n], rest[n:]
		part.Start = time.Unix(0, timeOf(part.rows[0])).UTC()
		part.End = time.Unix(0, timeOf(part.rows[n-1])+1).UTC()
		list = append(list, part)
	}
	return list
}

// count runs a query and counts its rows.
func (c *copyCounter) count(ctx context.Context, querier driver.Querier, q copyQuery) error {
	request, err := c.render(&q.Query, c.schema)
	if err != nil {
		return err
	}
	type place struct {
		tag string
		at  int64
	}
	candidates := make(map[place][]int, len(q.rows))
	for _, i := range q.rows {
		r := c.rows[i]
		p := place{q.tags[r.Run.Series[r.Row]], r.Run.Times[r.Row]}
		candidates[p] = append(candidates[p], i)
	}
	columns, by := q.Columns(q.table), q.Shape.(query.Rows).Tag != ""
	limited, cancel := ctx, context.CancelFunc(func() {})
	if c.cfg.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, c.cfg.Timeout)
	}
	defer cancel()
	_, err = querier.Do(limited, request, query.SinkFunc(func(row []query.Value) error {
		if len(row) != len(columns) {
			return fmt.Errorf("%d columns in place of %d", len(row), len(columns))
		}
		p := place{at: row[0].Int}
		values := row[1:]
		if by {
			p.tag, values = textOf(row[1]), row[2:]
		}
		if among := candidates[p]; len(among) > 0 {
			c.add(among, columns[len(columns)-len(values):], values, q.exact)
		}
		return nil
	}))
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %v; allow more with --timeout", c.cfg.Timeout)
	}
	return err
}

// textOf returns the text of a tag; empty: it is missing.
func textOf(v query.Value) string {
	if v.Kind == query.Text {
		return string(v.Text)
	}
	return ""
}

// add counts a stored row as a copy of the candidate that it matches best, and among these of the one
// with the fewest copies. If exact, it counts only if the values are equal.
func (c *copyCounter) add(candidates []int, columns []query.Column, values []query.Value, exact bool) {
	best, bestWrong, bestMissing := -1, 0, 0
	for _, i := range candidates {
		wrong, missing := c.differences(c.rows[i], columns, values)
		order := -1
		if best >= 0 {
			order = cmp.Or(cmp.Compare(wrong, bestWrong), cmp.Compare(missing, bestMissing), cmp.Compare(c.copies[i].All(), c.copies[best].All()))
		}
		if order < 0 {
			best, bestWrong, bestMissing = i, wrong, missing
		}
	}
	switch copies := &c.copies[best]; {
	case exact && bestWrong+bestMissing > 0:
	case bestWrong > 0:
		copies.Wrong++
	case bestMissing > 0:
		copies.Torn++
	default:
		copies.Whole++
	}
}

// differences returns how many values of a stored row differ from those of a row, and how many are
// missing.
func (c *copyCounter) differences(r RunRow, columns []query.Column, values []query.Value) (wrong, missing int) {
	for f, found := range values {
		switch expected := oracle.ValueOf(r.Run, f, r.Row); {
		case columns[f].Matches(expected, found) || nearly(expected, found, c.rounding):
		case found.Kind == query.Null:
			missing++
		default:
			wrong++
		}
	}
	return wrong, missing
}
