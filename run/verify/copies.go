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
// rows of the times between the first and the last row, and ignores other rows among them. It finds
// a row by its time and one tag: if several rows have the same, a stored row counts for the one whose
// values it matches best. Floats of a target that rounds are compared to the given number of digits; 0: exactly.
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

// copyQuery finds some of the rows, each by its time and a tag. Rows without the tag have none.
type copyQuery struct {
	query.Query
	table *series.Table
	tag   *series.Tag // nil: no tag tells series apart
	rows  []int       // indexes
}

// queries returns queries that find all rows.
func (c *copyCounter) queries() (list []copyQuery) {
	type place struct {
		table *series.Table
		id    uint32
	}
	seen := map[place]bool{}
	var some []oracle.Row // one of each series
	var tables []*series.Table
	rows := map[*series.Table][]int{}
	for i, r := range c.rows {
		p := place{r.Run.Table, r.Run.Series[r.Row]}
		if !seen[p] {
			seen[p] = true
			some = append(some, oracle.Row{Table: p.table, Series: p.id})
		}
		if rows[p.table] == nil {
			tables = append(tables, p.table)
		}
		rows[p.table] = append(rows[p.table], i)
	}
	for _, t := range tables {
		q := copyQuery{table: t, rows: rows[t], Query: query.Query{Table: t.Name}}
		var shape query.Rows
		if tags := oracle.TellingTags(some, t); len(tags) > 0 {
			q.tag = &t.Tags[tags[0]]
			shape.Tag = q.tag.Key
		}
		for _, f := range t.Fields[:min(len(t.Fields), copiedFields)] {
			shape.Fields = append(shape.Fields, f.Name)
		}
		q.Shape = shape
		list = append(list, c.cut(&q)...)
	}
	return list
}

// tagOf returns a row's value of the tag; empty: it has none.
func (q *copyQuery) tagOf(r RunRow) string {
	if q.tag == nil {
		return ""
	}
	text, _ := q.tag.Values.Append(nil, r.Run.Series[r.Row])
	return string(text)
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
		p := place{q.tagOf(r), r.Run.Times[r.Row]}
		candidates[p] = append(candidates[p], i)
	}
	columns := q.Columns(q.table)
	return c.cfg.read(ctx, querier, request, query.SinkFunc(func(row []query.Value) error {
		if len(row) != len(columns) {
			return fmt.Errorf("%d columns in place of %d", len(row), len(columns))
		}
		p := place{at: row[0].Int}
		values := row[1:]
		if q.tag != nil {
			p.tag, values = textOf(row[1]), row[2:]
		}
		if among := candidates[p]; len(among) > 0 {
			c.add(among, columns[len(columns)-len(values):], values)
		}
		return nil
	}))
}

// textOf returns the text of a tag; empty: it is missing.
func textOf(v query.Value) string {
	if v.Kind == query.Text {
		return string(v.Text)
	}
	return ""
}

// add counts a stored row as a copy of the candidate that it matches best, and among these of the one
// with the fewest copies.
func (c *copyCounter) add(candidates []int, columns []query.Column, values []query.Value) {
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
