package subject

import (
	"sync/atomic"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
)

// OpenFile opens the input file, if there is one.
func (s *Subject) OpenFile() error {
	settings := &s.Plan.Experiment.Load
	if settings.File == "" {
		return nil
	}
	source, err := ingest.Open(settings.File, s.Input)
	if err != nil {
		return err
	}
	if source.ReadsOnce() && len(s.Plan.Targets) > 1 {
		return s.Plan.Experiment.Problem("load.file", "%s can be read only once; give the name of a file, or one target", source.Name())
	}
	if source.ReadsOnce() && s.Plan.Experiment.Digest {
		return s.Plan.Experiment.Problem("digest", "%s can be read only once, and a digest takes a pass of its own; give the name of a file", source.Name())
	}
	if source.ReadsOnce() && len(s.Plan.Experiment.InputFormats) > 0 {
		return s.Plan.Experiment.Problem("input-formats", "%s can be read only once, and each size takes a pass of its own; give the name of a file", source.Name())
	}
	s.File = source
	s.Record.Source = source.Name()
	return nil
}

// takesLines reports whether the target accepts the file's lines unchanged.
func (s *Subject) takesLines(t driver.DB) bool {
	return t.TakesLines != nil && s.File != nil && t.TakesLines(string(s.File.Format()), s.Schema())
}

// Feed is the source of the rows of one load: a dataset, or the unchanged lines of a file.
type Feed struct {
	Dataset workload.Dataset
	Owner   func(*series.Batch) int // the worker that writes a batch; nil: any worker
	Schema  *series.Schema
	Rows    int64         // expected number of accepted rows; -1: unknown in advance
	Lines   *ingest.Lines // nil: the dataset
	parsed  *fileRows     // rows of a file; nil: they are generated
	Counted *CountedRows  // generated rows; nil: they are read from a file
}

// RowsRead returns the number of rows that were read, after all were.
func (f *Feed) RowsRead() int64 {
	switch {
	case f.Lines != nil:
		return f.Lines.RowCount()
	case f.parsed != nil:
		return f.parsed.reader.Tally().Rows
	}
	return f.Counted.RowsRead.Load()
}

// CountedRows is a dataset that counts the rows of its only pass.
type CountedRows struct {
	workload.Dataset
	RowsRead atomic.Int64
}

// Open implements workload.Dataset.
func (c *CountedRows) Open() workload.Reader { return &countedReader{c.Dataset.Open(), c} }

// Shards implements workload.Sharded.
func (c *CountedRows) Shards() int { return workload.Shards(c.Dataset) }

// OpenShard implements workload.Sharded.
func (c *CountedRows) OpenShard(client int) workload.Reader {
	return &countedReader{c.Dataset.(workload.Sharded).OpenShard(client), c}
}

type countedReader struct {
	workload.Reader
	of *CountedRows
}

// Next implements workload.Reader.
func (r *countedReader) Next(b *series.Batch, max int) error {
	err := r.Reader.Next(b, max)
	r.of.RowsRead.Add(int64(b.Rows()))
	return err
}

// Close closes the file, if there is one.
func (f *Feed) Close() {
	if f.Lines != nil {
		f.Lines.Close()
	}
	if f.parsed != nil {
		f.parsed.reader.Close()
	}
}

// fileRows is the rows of a file, for a single pass.
type fileRows struct {
	*ingest.Dataset
	reader *ingest.Reader
	held   *driver.Checker // checks that the target can store the file's rows
}

// Open implements workload.Dataset.
func (r *fileRows) Open() workload.Reader {
	return &checkedReader{r.reader, r.held}
}

// checkedReader is a reader that checks rows as they pass.
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

// Feed determines the source of the rows and the form in which the target accepts them.
func (s *Subject) Feed(t driver.DB, planned *plan.Target) (*Feed, error) {
	settings := &s.Plan.Experiment.Load
	dataset, owner, err := s.DealTo(planned)
	if err != nil {
		return nil, err
	}
	f := &Feed{Dataset: dataset, Owner: owner, Schema: s.Schema(), Rows: -1}
	if s.Expected != nil {
		f.Rows = s.Expected.Survey.Rows
	}
	switch {
	case s.Mixes():
		f.Rows = s.RowsBefore()
		f.Dataset = workload.LimitRows(dataset, f.Rows)
	case s.Lives():
		backfill, before := s.LifeRows()
		f.Rows = before - backfill
		f.Dataset = workload.SkipRows(workload.LimitRows(dataset, before), backfill)
	case s.File == nil:
		f.Counted = &CountedRows{Dataset: dataset}
		f.Dataset = f.Counted
	case s.takesLines(t):
		lines, err := s.File.Lines()
		if err != nil {
			return nil, err
		}
		lines.Limit, lines.SkipBad = settings.Limit, settings.SkipBadLines
		f.Lines = lines
	default:
		rows := s.parse()
		held, err := planned.Caps.Checker(rows.Schema())
		if err != nil {
			return nil, err
		}
		f.parsed = &fileRows{Dataset: rows, reader: rows.Read(), held: held}
		f.Dataset = f.parsed
		if settings.Limit > 0 {
			f.Dataset = workload.LimitRows(f.Dataset, settings.Limit)
			if f.Rows >= 0 {
				f.Rows = min(f.Rows, settings.Limit)
			}
		}
	}
	return f, nil
}

// parse returns the file's rows as a dataset.
func (s *Subject) parse() *ingest.Dataset {
	if s.parsed == nil {
		s.parsed = s.File.Dataset(s.Schema(), s.Plan.Experiment.Load.SkipBadLines)
	}
	return s.parsed
}

// Conclude records the contents of a file once it has been read.
func (s *Subject) Conclude(f *Feed, load *result.Load, failure error) {
	switch {
	case f.Lines != nil:
		load.Skipped = f.Lines.Skipped
		if s.Expected == nil {
			s.Record.Rows = f.Lines.RowCount()
		}
	case failure == nil: // otherwise the reader may still be running
		load.Skipped = f.parsed.reader.Tally().Skipped
	}
}
