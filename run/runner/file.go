package runner

import (
	"sync/atomic"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
)

// openFile opens the file that the rows come from, if there is one.
func (s *subject) openFile() error {
	settings := &s.plan.experiment.Load
	if settings.File == "" {
		return nil
	}
	source, err := ingest.Open(settings.File, s.input)
	if err != nil {
		return err
	}
	if source.ReadsOnce() && len(s.plan.targets) > 1 {
		return s.plan.experiment.Problem("load.file", "%s can be read only once; give the name of a file, or one target", source.Name())
	}
	if source.ReadsOnce() && s.plan.experiment.Digest {
		return s.plan.experiment.Problem("digest", "%s can be read only once, and a digest takes a pass of its own; give the name of a file", source.Name())
	}
	if source.ReadsOnce() && len(s.plan.experiment.InputFormats) > 0 {
		return s.plan.experiment.Problem("input-formats", "%s can be read only once, and each size takes a pass of its own; give the name of a file", source.Name())
	}
	s.file = source
	s.record.Source = source.Name()
	return nil
}

// asLines reports whether the target takes the file's lines as they are.
func (s *subject) asLines(t driver.DB) bool {
	return t.TakesLines != nil && s.file != nil && t.TakesLines(string(s.file.Format()), s.schema())
}

// feed is where the rows of one load come from: a dataset, or the lines of a file
// as they are.
type feed struct {
	dataset workload.Dataset
	schema  *series.Schema
	rows    int64         // that the target should accept; -1: not known beforehand
	lines   *ingest.Lines // nil: the dataset
	parsed  *fileRows     // of the dataset; nil: it is generated
	counted *counted      // generated rows; nil: they are a file's
}

// read returns how many rows were given, once all were.
func (f *feed) read() int64 {
	switch {
	case f.lines != nil:
		return f.lines.RowCount()
	case f.parsed != nil:
		return f.parsed.reader.Tally().Rows
	}
	return f.counted.given.Load()
}

// counted is a dataset of which one pass is made, and counted.
type counted struct {
	workload.Dataset
	given atomic.Int64
}

// Open implements workload.Dataset.
func (c *counted) Open() workload.Reader { return &countedReader{c.Dataset.Open(), c} }

// Shards implements workload.Sharded.
func (c *counted) Shards() int { return workload.Shards(c.Dataset) }

// OpenShard implements workload.Sharded.
func (c *counted) OpenShard(client int) workload.Reader {
	return &countedReader{c.Dataset.(workload.Sharded).OpenShard(client), c}
}

type countedReader struct {
	workload.Reader
	of *counted
}

// Next implements workload.Reader.
func (r *countedReader) Next(b *series.Batch, max int) error {
	err := r.Reader.Next(b, max)
	r.of.given.Add(int64(b.Rows()))
	return err
}

// close closes the file, where there is one.
func (f *feed) close() {
	if f.lines != nil {
		f.lines.Close()
	}
	if f.parsed != nil {
		f.parsed.reader.Close()
	}
}

// fileRows is a file's rows, of which one pass is made.
type fileRows struct {
	*ingest.Dataset
	reader *ingest.Reader
	held   *driver.Checker // that the target can hold what the file has
}

// Open implements workload.Dataset.
func (r *fileRows) Open() workload.Reader {
	return &checkedReader{r.reader, r.held}
}

// checkedReader is a reader whose rows are checked as they pass.
type checkedReader struct {
	workload.Reader
	held *driver.Checker
}

// Next implements workload.Reader.
func (r *checkedReader) Next(b *series.Batch, max int) error {
	if err := r.Reader.Next(b, max); err != nil {
		return err
	}
	return r.held.Check(b)
}

// feed finds out where the rows come from and how the target takes them.
func (s *subject) feed(t driver.DB, planned *plannedTarget) (*feed, error) {
	settings := &s.plan.experiment.Load
	f := &feed{dataset: s.dataset, schema: s.schema(), rows: -1}
	if s.expected != nil {
		f.rows = s.expected.Survey.Rows
	}
	switch {
	case s.mixes():
		f.rows = s.rowsBefore()
		f.dataset = workload.LimitRows(s.dataset, f.rows)
	case s.file == nil:
		f.counted = &counted{Dataset: s.dataset}
		f.dataset = f.counted
	case s.asLines(t):
		lines, err := s.file.Lines()
		if err != nil {
			return nil, err
		}
		lines.Limit, lines.SkipBad = settings.Limit, settings.SkipBadLines
		f.lines = lines
	default:
		rows := s.parse()
		held, err := planned.caps.Checker(rows.Schema())
		if err != nil {
			return nil, err
		}
		f.parsed = &fileRows{Dataset: rows, reader: rows.Read(), held: held}
		f.dataset = f.parsed
		if settings.Limit > 0 {
			f.dataset = workload.LimitRows(f.dataset, settings.Limit)
			if f.rows >= 0 {
				f.rows = min(f.rows, settings.Limit)
			}
		}
	}
	return f, nil
}

// parse returns the file's rows as a dataset.
func (s *subject) parse() *ingest.Dataset {
	if s.parsed == nil {
		s.parsed = s.file.Dataset(s.schema(), s.plan.experiment.Load.SkipBadLines)
	}
	return s.parsed
}

// conclude records what a file was found to hold, once it has been read.
func (s *subject) conclude(f *feed, load *result.Load, failure error) {
	switch {
	case f.lines != nil:
		load.Skipped = f.lines.Skipped
		if s.expected == nil {
			s.record.Rows = f.lines.RowCount()
		}
	case failure == nil: // else the reader may still be at it
		load.Skipped = f.parsed.reader.Tally().Skipped
	}
}
