package workload

import (
	"io"
	"slices"

	"github.com/tsmark/tsmark/series"
)

// Growing is a Dataset whose later rows have more tags and fields than its first ones.
type Growing interface {
	Dataset
	// Steps returns the rows in parts: the first ends before the first row with new tags or fields,
	// and so on. The schema of a part has the tags and fields known by then; series have the same
	// numbers as in the dataset. The parts share one pass, so each is opened once, after the
	// previous one was read.
	Steps() ([]Step, error)
}

// Step is a part of a Growing dataset.
type Step struct {
	Dataset
	Rows         int64
	Tags, Fields []string // that it brings, each as TABLE.NAME
}

// Steps implements Growing.
func (g *grown) Steps() ([]Step, error) {
	type border struct {
		at           int64 // time from which rows have them; of the first part nothing
		tags, fields int   // that appear later
	}
	borders := []border{{tags: g.tags, fields: g.fields}}
	if g.tags > 0 {
		borders = append(borders, border{g.tagged, 0, g.fields})
	}
	if g.fields > 0 {
		borders = append(borders, border{g.fielded, 0, 0})
	}
	times := make([]int64, len(borders))
	for i := range borders {
		times[i] = borders[i].at
	}
	rows, err := g.countSteps(times)
	if err != nil {
		return nil, err
	}
	pass := &sharedPass{reader: g.Open()}
	var steps []Step
	for i, b := range borders {
		part := &stepDataset{pass: pass, rows: rows[i], whole: g.schema, tables: map[*series.Table]*series.Table{}, back: map[*series.Table]*series.Table{}}
		schema := *g.schema
		schema.Tables = nil
		step := Step{Dataset: part, Rows: rows[i]}
		for _, t := range g.schema.Tables {
			table := *t
			table.Tags = t.Tags[:len(t.Tags)-b.tags]
			table.Fields = t.Fields[:len(t.Fields)-b.fields]
			// Widths may be larger than the number of fields, which then bounds them.
			if t.Widths != nil && b.fields > 0 {
				table.Widths = slices.Clone(t.Widths)
				for s, w := range table.Widths {
					table.Widths[s] = min(w, uint32(len(table.Fields)))
				}
			}
			schema.Tables = append(schema.Tables, &table)
			part.tables[t], part.back[&table] = &table, t
			if i == 0 {
				continue
			}
			before := borders[i-1]
			for _, tag := range t.Tags[len(t.Tags)-before.tags : len(t.Tags)-b.tags] {
				step.Tags = append(step.Tags, t.Name+"."+tag.Key)
			}
			for _, f := range t.Fields[len(t.Fields)-before.fields : len(t.Fields)-b.fields] {
				step.Fields = append(step.Fields, t.Name+"."+f.Name)
			}
		}
		part.schema = &schema
		steps = append(steps, step)
	}
	return steps, nil
}

// countSteps returns the number of rows of each step. It makes a pass over the dataset.
func (g *grown) countSteps(first []int64) ([]int64, error) {
	rows := make([]int64, len(first))
	step, r := 0, g.Open()
	var b series.Batch
	for {
		if err := r.Next(&b, readAhead); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return nil, err
		}
		for i := range b.Runs {
			for _, t := range b.Runs[i].Times {
				for step+1 < len(first) && t >= first[step+1] {
					step++
				}
				rows[step]++
			}
		}
	}
}

// sharedPass is the pass over a dataset that its parts share.
type sharedPass struct{ reader Reader }

// stepDataset is the rows of a part, in tables of its own.
type stepDataset struct {
	pass          *sharedPass
	rows          int64
	schema, whole *series.Schema
	tables        map[*series.Table]*series.Table // by the dataset's
	back          map[*series.Table]*series.Table // the reverse
}

func (s *stepDataset) Schema() *series.Schema { return s.schema }

func (s *stepDataset) Open() Reader { return &stepReader{s, s.rows} }

type stepReader struct {
	*stepDataset
	left int64
}

func (r *stepReader) Next(b *series.Batch, max int) error {
	for i := range b.Runs { // the batch finds the memory of its runs by their tables
		run := &b.Runs[i]
		if t := r.back[run.Table]; t != nil {
			run.Table, run.Columns = t, run.Columns[:len(t.Fields)]
		}
	}
	if r.left == 0 {
		b.Reset()
		return io.EOF
	}
	if err := r.pass.reader.Next(b, int(min(int64(max), r.left))); err != nil {
		return err
	}
	r.left -= int64(b.Rows())
	for i := range b.Runs {
		run := &b.Runs[i]
		run.Table = r.tables[run.Table]
		run.Columns = run.Columns[:len(run.Table.Fields)]
	}
	return nil
}
