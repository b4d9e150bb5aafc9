package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Count is the numbers of series and rows of a class of metrics, or of another table.
type Count struct {
	Name    string
	Tables  int
	Series  int64 // that have rows
	Rows    int64 // of metrics these are samples
	Markers int64 // rows of metrics that are staleness markers
}

// CountRows counts the series and rows of a dataset, in the order in which the schema has their classes
// or tables. It calls progress with the rows of each batch.
func CountRows(ctx context.Context, d workload.Dataset, progress func(rows int)) ([]Count, error) {
	schema := d.Schema()
	var counts []Count
	of := map[string]int{}
	places := make(map[*series.Table]int, len(schema.Tables))
	seen := make(map[*series.Table]series.Bitmap, len(schema.Tables))
	for _, t := range schema.Tables {
		name := t.Name
		if t.Metric != nil {
			name = t.Metric.Class
		}
		at, ok := of[name]
		if !ok {
			at = len(counts)
			of[name] = at
			counts = append(counts, Count{Name: name})
		}
		counts[at].Tables++
		own := schema.Range(t)
		places[t], seen[t] = at, make(series.Bitmap, (int(own.End-own.First)+63)/64)
	}
	var b series.Batch
	for r := d.Open(); ; {
		if err := r.Next(&b, countRows); errors.Is(err, io.EOF) {
			return counts, nil
		} else if err != nil {
			return nil, err
		}
		for i := range b.Runs {
			run := &b.Runs[i]
			c, found := &counts[places[run.Table]], seen[run.Table]
			first := schema.Range(run.Table).First
			for _, s := range run.Series {
				if at := int(s - first); !found.Has(at) {
					found.Set(at)
					c.Series++
				}
			}
			c.Rows += int64(run.Rows())
			if run.Table.Metric != nil {
				c.Markers += int64(run.Columns[0].Nulls.Count(run.Rows()))
			}
		}
		progress(b.Rows())
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// countRows is the number of rows that CountRows reads at a time.
const countRows = 10_000

// WriteCounts writes counts as a table of text with their total.
func WriteCounts(out io.Writer, counts []Count) error {
	total := Count{Name: "total"}
	for _, c := range counts {
		total.Tables += c.Tables
		total.Series += c.Series
		total.Rows += c.Rows
		total.Markers += c.Markers
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\ttables\tseries\trows\tstaleness markers\t")
	for _, c := range append(counts, total) {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t\n", c.Name, c.Tables, humanize.Comma(c.Series), humanize.Comma(c.Rows), humanize.Comma(c.Markers))
	}
	return w.Flush()
}
