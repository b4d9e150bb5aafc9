package workload

import (
	"io"

	"github.com/tsmark/tsmark/series"
)

// firstRecords is the first rows of each series in each table: the records per
// device of TDengine's comparison (TSBS cpu-only, scenario four with 18 to 576
// records a device), in which the cost of a new device is spread over more and
// more rows.
type firstRecords struct {
	Dataset
	most uint32
}

func (d firstRecords) Open() Reader {
	r := &firstReader{Reader: d.Dataset.Open(), most: d.most, seen: map[*series.Table][]uint32{}}
	s := d.Schema()
	r.short = int64(s.Series) * int64(len(s.Tables))
	for _, t := range s.Tables {
		r.seen[t] = make([]uint32, s.Series)
	}
	return r
}

type firstReader struct {
	Reader
	most  uint32
	seen  map[*series.Table][]uint32 // rows so far, per series
	short int64                      // series and tables that have fewer than most
	kept  []uint32
}

func (r *firstReader) Next(b *series.Batch, max int) error {
	for r.short > 0 {
		if err := r.Reader.Next(b, max); err != nil {
			return err
		}
		for i := range b.Runs {
			r.cut(&b.Runs[i])
		}
		if b.Rows() > 0 {
			return nil
		}
	}
	b.Reset()
	return io.EOF
}

// cut removes the rows of series that have had theirs.
func (r *firstReader) cut(run *series.Run) {
	seen := r.seen[run.Table]
	r.kept = r.kept[:0]
	for row, s := range run.Series {
		if seen[s] == r.most {
			continue
		}
		if seen[s]++; seen[s] == r.most {
			r.short--
		}
		r.kept = append(r.kept, uint32(row))
	}
	if len(r.kept) < run.Rows() {
		run.Copy(0, run, r.kept)
		run.Grow(len(r.kept))
	}
}
