package owndata

import (
	"errors"
	"io"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/delimited"
	"github.com/tsmark/tsmark/workload/file/input"
)

// dataset is the rows of a survey's files.
type dataset struct {
	*survey
	latest bool // without rows that another row replaces
}

// Schema implements workload.Dataset.
func (d dataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset.
func (d dataset) Open() workload.Reader {
	r := d.open()
	if !d.latest {
		return r
	}
	return workload.OmitRows(r, func(row int64) bool { return row>>6 < int64(len(d.older)) && d.older.Has(int(row)) })
}

// Latest implements workload.Repeating.
func (d dataset) Latest() workload.Dataset {
	if d.repeated == 0 {
		return d
	}
	return dataset{d.survey, true}
}

// Files implements workload.FromFiles.
func (d dataset) Files() []workload.File { return d.files }

// Reread implements workload.FromFiles.
func (d dataset) Reread() workload.Reread { return d.reread }

// open starts a pass over the rows.
func (s *survey) open() *reader {
	f, err := newFiller(s.layout, s.index)
	return &reader{survey: s, filler: f, err: err}
}

func newFiller(l *layout, x *input.Index) (*input.Filler, error) {
	c, err := input.NewClock(l.timeFormat)
	if err == nil && l.timeZone != "" {
		c.Zone, err = input.NewZone(l.timeZone)
	}
	return &input.Filler{Finder: input.Finder{Index: x}, Clock: c, Null: l.null, NonFinite: l.format != input.FormatPoints}, err
}

// reader is a pass over the rows of all files. It implements workload.Reader.
type reader struct {
	survey   *survey
	observed *observer // of the pass that surveys; nil: another one
	filler   *input.Filler
	groups   map[int]map[int]bool // row groups that are read, by file; nil: all
	at       int                  // file that the last rows are of
	group    int                  // and their row group, of the pass that surveys
	ended    bool                 // it has no more
	opened   *opened              // nil: it is to be opened
	bad      badRows              // of the pass that surveys
	err      error                // that ended the pass
}

// Next implements workload.Reader. A batch has rows of one file.
func (r *reader) Next(b *series.Batch, max int) error {
	for r.err == nil {
		if r.ended {
			r.at, r.ended = r.at+1, false
		}
		if r.opened == nil {
			for r.groups != nil && r.at < len(r.survey.layout.files) && r.groups[r.at] == nil {
				r.at++
			}
			if r.at == len(r.survey.layout.files) {
				r.err = io.EOF
				break
			}
			if r.err = r.begin(); r.err != nil {
				break
			}
		}
		r.filler.Reset(b, max)
		err := r.opened.Next(r.filler)
		r.filler.End()
		r.group = r.opened.group()
		switch {
		case err == nil:
			r.bad.read += int64(b.Rows())
			return nil
		case r.observed != nil && errors.As(err, new(delimited.RowError)):
			r.bad.read += int64(b.Rows())
			if r.bad.add(r.opened.locate(err)) {
				return nil
			}
			r.err = io.EOF
			r.close()
			continue
		case !errors.Is(err, io.EOF):
			r.err = r.opened.locate(err)
			r.close()
			continue
		}
		r.close()
		r.ended = true
		if b.Rows() > 0 {
			return nil
		}
	}
	b.Reset()
	return r.err
}

// begin opens the next file.
func (r *reader) begin() (err error) {
	f := r.survey.layout.files[r.at]
	if r.observed == nil {
		if err := f.CheckUnchanged(); err != nil {
			return err
		}
	}
	if r.opened, err = openRows(f, r.survey.layout, r.survey.index); err == nil && r.groups != nil {
		wanted := r.groups[r.at]
		r.opened.restrict(func(group int) bool { return wanted[group] })
	}
	return err
}

func (r *reader) close() {
	if r.opened != nil {
		r.opened.Close()
		r.opened = nil
	}
}
