package workload

import (
	"slices"

	"github.com/tsmark/tsmark/series"
)

// grown is a dataset whose schema grows while it is loaded: in the first third of its time, rows
// lack the last tags of their table and its last fields; in the second third they have the tags;
// then they have all. These are the three ingestions of Drouzas' thesis (4.5.5: schemaless
// ingestion by line protocol): one that creates the table, one with a further tag, one with a
// further field.
//
// The schema is complete from the start, for targets that need it. A missing field is NULL, which
// line protocol omits. A row that lacks tags belongs to another series: series i + n is series i of
// n without them.
type grown struct {
	Dataset
	schema  *series.Schema
	outer   map[*series.Table]*series.Table // by the dataset's own table
	inner   map[*series.Table]*series.Table // the reverse
	own     uint32                          // the dataset's own series
	tags    int
	fields  int
	tagged  int64 // rows from this time on have all tags
	fielded int64 // and all fields
}

func newGrown(d Dataset, s Spec) Dataset {
	own := d.Schema()
	third := int64(s.End.Sub(s.Start)) / 3
	g := &grown{
		Dataset: d, own: own.Series, tags: int(s.NewTags), fields: int(s.NewFields),
		outer: map[*series.Table]*series.Table{}, inner: map[*series.Table]*series.Table{},
		schema: &series.Schema{Series: own.Series, Shared: slices.Clone(own.Shared), Representative: own.Representative, First: own.First, Last: own.Last, Step: own.Step, Sessions: own.Sessions},
		tagged: s.Start.UnixNano(), fielded: s.Start.UnixNano() + 2*third,
	}
	if s.NewTags > 0 {
		g.tagged += third
		g.schema.Series *= 2
		for _, s := range own.Shared {
			g.schema.Shared = append(g.schema.Shared, series.Span{First: own.Series + s.First, End: own.Series + s.End})
		}
	}
	for _, t := range own.Tables {
		table := *t
		table.Dense = t.Dense && s.NewFields == 0
		table.Tags = slices.Clone(t.Tags)
		for i := range table.Tags {
			late := i >= len(table.Tags)-int(s.NewTags)
			table.Tags[i].Values = grownTag{t.Tags[i].Values, own.Series, late}
		}
		if t.Widths != nil && s.NewTags > 0 {
			table.Widths = slices.Concat(t.Widths, t.Widths)
		}
		g.schema.Tables = append(g.schema.Tables, &table)
		g.outer[t], g.inner[&table] = &table, t
	}
	return g
}

func (g *grown) Schema() *series.Schema { return g.schema }

func (g *grown) Open() Reader { return &grownReader{g, g.Dataset.Open()} }

// grownTag holds a tag's values for the series with all tags and for the series that lack some.
type grownTag struct {
	series.TagValues
	own  uint32
	late bool
}

func (t grownTag) Append(dst []byte, s uint32) ([]byte, bool) {
	if s < t.own {
		return t.TagValues.Append(dst, s)
	}
	if t.late {
		return dst, false
	}
	return t.TagValues.Append(dst, s-t.own)
}

type grownReader struct {
	*grown
	reader Reader
}

func (r *grownReader) Next(b *series.Batch, max int) error {
	// The batch finds the memory of its runs by their tables.
	for i := range b.Runs {
		if t := r.inner[b.Runs[i].Table]; t != nil {
			b.Runs[i].Table = t
		}
	}
	if err := r.reader.Next(b, max); err != nil {
		return err
	}
	for i := range b.Runs {
		run := &b.Runs[i]
		run.Table = r.outer[run.Table]
		for row, t := range run.Times {
			if t < r.tagged {
				run.Series[row] += r.own
			}
			if t < r.fielded {
				for f := len(run.Columns) - r.fields; f < len(run.Columns); f++ {
					run.SetNull(f, row)
				}
			}
		}
	}
	return nil
}
