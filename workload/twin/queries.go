package twin

import (
	"errors"
	"io"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
	"github.com/tsmark/tsmark/workload/proposal"
)

// sampledRows is the number of rows whose values are the thresholds of generated queries.
const sampledRows = 200_000

// ProposeQueries returns query types that suit the data, and notes on types that do not. They are
// about the table with the most rows.
func (u *useCase) ProposeQueries(s workload.Spec) ([]ownqueries.Query, []string) {
	d, err := u.dataset(s)
	if err != nil {
		return nil, nil
	}
	of := d.tables[0]
	for _, t := range d.tables {
		if t.rows > of.rows {
			of = t
		}
	}
	about := proposal.Data{
		Table: of.schema, Tables: len(d.tables), Rows: of.rows, Span: s.End.Sub(s.Start), Samples: proposal.NewReservoirs(of.schema, proposal.SampledFields),
	}
	for _, t := range of.schema.Tags {
		distinct := map[uint32]bool{}
		for _, n := range t.Values.(*tagValues).number[:of.count] {
			if n != noValue {
				distinct[n] = true
			}
		}
		about.Values = append(about.Values, len(distinct))
	}
	d.sample(of, about.Samples)
	return proposal.QueryTypes(about)
}

// sample adds the values of the first rows to the samples of a table's fields.
func (d *Dataset) sample(of *table, samples []*proposal.Reservoir) {
	var b series.Batch
	for r, rows := d.Open(), 0; rows < sampledRows; rows += b.Rows() {
		if err := r.Next(&b, leastBlock); errors.Is(err, io.EOF) {
			return
		}
		for i := range b.Runs {
			if run := &b.Runs[i]; run.Table == of.schema {
				for f, to := range samples {
					if to != nil {
						to.Add(run, f)
					}
				}
			}
		}
	}
}
