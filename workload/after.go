package workload

import "github.com/tsmark/tsmark/series"

// SkipRows returns the dataset without its first rows: the rows that LimitRows omits.
func SkipRows(d Dataset, rows int64) Dataset { return after{d, rows} }

type after struct {
	Dataset
	rows int64
}

func (a after) Open() Reader { return &afterReader{a.Dataset.Open(), a.rows} }

type afterReader struct {
	Reader
	left int64 // to be passed over
}

func (a *afterReader) Next(b *series.Batch, max int) error {
	for a.left > 0 {
		if err := a.Reader.Next(b, int(min(a.left, readAhead))); err != nil {
			return err
		}
		a.left -= int64(b.Rows())
	}
	return a.Reader.Next(b, max)
}
