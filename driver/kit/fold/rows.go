package fold

import (
	"time"

	"github.com/tsmark/tsmark/query"
)

// Aggregates folds the rows of one series, in ascending or descending order of time, to the input of
// Collector.Take for a plan with Fold: the start of the bucket, if there are buckets, the number of
// rows, and the columns of each part. A row is its time and a value for each part.
func (f *Fold) Aggregates(rows func(func([]query.Value) bool), take func([]query.Value) error) error {
	var err error
	var out []query.Value
	from := 0 // index of the first column after the bucket
	if f.Buckets {
		from = 1
	}
	flush := func() bool {
		if out != nil {
			err = take(out)
		}
		return err == nil
	}
	rows(func(row []query.Value) bool {
		bucket := query.Value{Kind: query.Time}
		if f.Buckets {
			bucket.Int = query.BucketOf(row[0].Int, time.Duration(f.Width)*time.Millisecond)
		}
		if out == nil || f.Buckets && out[0].Int != bucket.Int {
			if !flush() {
				return false
			}
			out = f.begin(out[:0], bucket)
		}
		out[from].Int++
		column := from + 1
		for i, p := range f.Parts {
			if p.Make == MakeTag {
				continue
			}
			p.fold(out[column:], row[1+i])
			column += p.Columns()
		}
		return true
	})
	if err == nil {
		flush()
	}
	return err
}

// begin appends the columns of an empty fold.
func (f *Fold) begin(out []query.Value, bucket query.Value) []query.Value {
	if f.Buckets {
		out = append(out, bucket)
	}
	out = append(out, query.Value{Kind: query.Int})
	for _, p := range f.Parts {
		switch p.Make {
		case MakeTag:
		case "sum", "avg", MakeZeros:
			out = append(out, query.Value{Kind: query.Float}, query.Value{Kind: query.Int})
		case "count":
			out = append(out, query.Value{Kind: query.Int})
		default:
			out = append(out, query.Value{})
		}
	}
	return out
}

// fold adds a value to the columns of a part.
func (p Part) fold(columns []query.Value, v query.Value) {
	if v.Kind == query.Null {
		return
	}
	switch p.Make {
	case "count":
		columns[0].Int++
	case "sum", "avg":
		number, _ := v.Number()
		columns[0].Float += number
		columns[1].Int++
	case MakeZeros:
		if number, _ := v.Number(); number == 0 {
			columns[0].Float++
		}
		columns[1].Int++
	default:
		by := compare(v, columns[0])
		if columns[0].Kind == query.Null || p.Make == "max" && by > 0 || p.Make == "min" && by < 0 {
			columns[0] = v
		}
	}
}
