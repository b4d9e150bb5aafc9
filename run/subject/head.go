package subject

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// headRows is the number of rows of a file that are compared with the generated ones before
// anything is written: more than the first epoch of most datasets.
const headRows = 10_000

// CheckHead returns an error if the settings specify the generator of a file, and its first rows
// differ from the generated ones. It does not check standard input, which can be read only once,
// and files with lines to skip, whose missing rows are unknown.
func (s *Subject) CheckHead() error {
	if s.File == nil || s.File.ReadsOnce() || s.Plan.Experiment.Load.SkipBadLines > 0 {
		return nil
	}
	reader := s.parse().Read()
	defer reader.Close()
	most := int64(headRows)
	if limit := s.Plan.Experiment.Load.Limit; limit > 0 {
		most = min(most, limit)
	}
	differs, err := firstDifference(reader, s.Dataset.Open(), int(most))
	if err == nil && differs != "" {
		err = s.Plan.Experiment.Problem("load.file", "%s: %s; give the flags that generated the file (--use-case, --scale, --seed, --log-interval, --timestamp-start …), or none of them to load it as rows of your own",
			s.File.Name(), differs)
	}
	return err
}

// firstDifference compares the first rows of a file with the generated ones, and describes the
// difference; empty: none. A file that ends early does not differ: its rows are counted later.
func firstDifference(file, made workload.Reader, most int) (string, error) {
	got, want := rowCursor{from: file}, rowCursor{from: made}
	for row := 1; row <= most; row++ {
		if err := got.next(); errors.Is(err, io.EOF) {
			return "", nil
		} else if err != nil {
			return "", err
		}
		if err := want.next(); errors.Is(err, io.EOF) {
			return fmt.Sprintf("it has more than the %d rows that these settings make", row-1), nil
		} else if err != nil {
			return "", err
		}
		if a, b := got.key(), want.key(); a != b {
			return fmt.Sprintf("row %d is of %s, where these settings make one of %s", row, got.name(), want.name()), nil
		}
		if field := got.differs(&want); field != "" {
			return fmt.Sprintf("row %d, of %s, has another %s than these settings make", row, got.name(), field), nil
		}
	}
	return "", nil
}

// rowCursor iterates over the rows of a dataset.
type rowCursor struct {
	from  workload.Reader
	batch series.Batch
	run   int // index in the batch
	row   int // index in the run
}

func (c *rowCursor) next() error {
	c.row++
	for c.run >= len(c.batch.Runs) || c.row >= c.batch.Runs[c.run].Rows() {
		c.run, c.row = c.run+1, 0
		if c.run >= len(c.batch.Runs) {
			if err := c.from.Next(&c.batch, 1000); err != nil {
				return err
			}
			c.run = 0
		}
	}
	return nil
}

// rowKey identifies a row.
type rowKey struct {
	table  string
	series uint32
	time   int64
}

func (c *rowCursor) key() rowKey {
	run := &c.batch.Runs[c.run]
	return rowKey{run.Table.Name, run.Series[c.row], run.Times[c.row]}
}

// name formats the key for users, with the first tag.
func (c *rowCursor) name() string {
	run := &c.batch.Runs[c.run]
	at := time.Unix(0, run.Times[c.row]).UTC().Format(time.RFC3339Nano)
	for i := range run.Table.Tags {
		if value, ok := run.Table.Tags[i].Values.Append(nil, run.Series[c.row]); ok {
			return fmt.Sprintf("%s %s at %s", run.Table.Name, value, at)
		}
	}
	return run.Table.Name + " at " + at
}

// differs returns the first field with different values in two rows of the same key; empty: none.
func (c *rowCursor) differs(other *rowCursor) string {
	a, b := &c.batch.Runs[c.run], &other.batch.Runs[other.run]
	for i, f := range a.Table.Fields {
		x, y := &a.Columns[i], &b.Columns[i]
		null := a.Lacks(i, c.row)
		same := null == b.Lacks(i, other.row)
		switch {
		case !same || null:
		case f.Free():
			same = bytes.Equal(x.Text(c.row), y.Text(other.row))
		case f.Type.UsesInts():
			same = x.Ints[c.row] == y.Ints[other.row]
		default:
			same = nearlyEqual(x.Floats[c.row], y.Floats[other.row])
		}
		if !same {
			return f.Name
		}
	}
	return ""
}

// nearlyEqual reports whether two floats are equal except for their formatting.
func nearlyEqual(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-6*max(math.Abs(a), math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
}
