package owndata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/witness"
	"github.com/tsmark/tsmark/workload/proposal"
	"golang.org/x/sync/errgroup"
)

// survey is all that is known of a dataset, once its rows have been read.
type survey struct {
	layout *layout
	index  *input.Index
	schema *series.Schema
	files  []workload.File // as layout's
	pieces pieces

	rows   int64
	values series.Values
	nulls  [][]int64 // per table and field

	tableRows []int64

	late     int64         // rows behind a newer one of their series
	lateness time.Duration // by how much at most
	repeated int64         // rows whose series and time come again later
	older    series.Bitmap // those rows, by number; nil: none
	zoneless int64         // times without a zone
	finer    int64         // times with digits beyond nanoseconds
	skipped  int64         // times that the clocks of the time zone skipped
	twice    int64         // times that they showed twice
	others   int64         // skipped rows, of measurements that are not tables

	emptyTags map[input.TagPlace]int64 // empty texts, per tag

	samples [][]*proposal.Reservoir // values, per table and field; nil: none of the field

	reread workload.Reread // what a second reader made of a sample
}

// take surveys the rows of a layout that is complete. Its error is a *settingError.
func take(ctx context.Context, d *witness.DuckDB, l *layout, progress func(rows int)) (*survey, error) {
	x, err := input.NewIndex(l.table, l.tags, l.fields)
	if err != nil {
		return nil, inSetting(setFields, err)
	}
	for _, t := range x.Tables {
		for _, name := range t.ColumnNames() {
			if slices.Contains(l.timeColumns(), name) {
				return nil, inSetting(setTime, fmt.Errorf("column %s is the time, and a tag or field of table %s besides; leave it out of tags and fields", name, t.Name))
			}
		}
	}
	if err := l.check(x); err != nil {
		return nil, err
	}
	s := &survey{layout: l, index: x, files: make([]workload.File, len(l.files))}
	// Digests only need the bytes, and are computed concurrently.
	var digests errgroup.Group
	for i, f := range l.files {
		s.files[i].Name, s.files[i].Bytes = f.Name, f.Size
	}
	digests.Go(func() (err error) {
		for i, f := range l.files {
			if err == nil && ctx.Err() == nil {
				s.files[i].SHA256, err = input.Hash(f)
			}
		}
		return err
	})
	o := newObserver(x)
	sample := newSample(l)
	r := &reader{survey: s, observed: o}
	if r.filler, err = newFiller(l, x); err != nil {
		return nil, inSetting(setTimeFormat, err)
	}
	r.filler.ByGroup = true
	var batch series.Batch
	for err == nil {
		if err = r.Next(&batch, surveyRows); err == nil && r.bad.count > 0 {
			progress(batch.Rows()) // only further malformed rows are of interest
			err = ctx.Err()
		} else if err == nil {
			o.add(&batch)
			s.pieces.add(r.at, r.group, &batch)
			sample.Add(r.at, s.files[r.at].Rows, &batch)
			s.files[r.at].Rows += int64(batch.Rows())
			progress(batch.Rows())
			err = ctx.Err()
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = r.bad.err(err); err != nil {
		r.close()
		_ = digests.Wait() // the other error is more specific
		return nil, inSetting(setFiles, err)
	}
	if err := digests.Wait(); err != nil {
		return nil, inSetting(setFiles, err)
	}
	if o.rows == 0 && r.filler.Ignored == 0 {
		return nil, inSetting(setFiles, fmt.Errorf("%s has no rows; give a file with rows, or leave it out", l.files[0].Name))
	}
	if err := l.checkRows(x, o); err != nil {
		return nil, err
	}
	x.Freeze()
	s.rows, s.nulls, s.tableRows, s.others, s.emptyTags = o.rows, o.nulls, o.tableRows, r.filler.Ignored, r.filler.EmptyTags
	s.zoneless, s.finer = r.filler.Clock.Zoneless, r.filler.Clock.Finer
	if zone := r.filler.Clock.Zone; zone != nil {
		s.skipped, s.twice = zone.Skipped, zone.Repeated
	}
	s.pieces.end()
	s.samples = o.samples
	s.late, s.lateness = o.late, time.Duration(o.lateness)
	s.values = o.values()
	s.schema = &series.Schema{Series: x.Series, First: s.values.First, Last: s.values.Last, Step: s.values.Step}
	for _, t := range x.Tables {
		s.schema.Tables = append(s.schema.Tables, t.Table)
	}
	if err := s.findRepeated(ctx, o, progress); err != nil {
		return nil, inSetting(setFiles, err)
	}
	if s.reread, err = sample.Check(ctx, d, len(l.files), s.again); err != nil {
		return nil, inSetting(setFiles, err)
	}
	if s.repeated > 0 {
		s.values.Has = append(s.values.Has, series.RepeatedTimes)
	}
	return s, nil
}

// surveyRows is the number of rows read at a time.
const surveyRows = 4096

// observer looks at the rows of a survey.
type observer struct {
	index       *input.Index
	rows        int64
	first, last int64
	step        int64 // greatest common divisor of all times
	tableRows   []int64
	nulls       [][]int64
	samples     [][]*proposal.Reservoir
	has         map[series.Trait]bool

	tables   []order
	late     int64
	lateness int64
	lateRows map[rowKey]bool // what late rows have in common with others
	equal    int64           // rows at the time of the row before of their series
	older    series.Bitmap   // the rows before those
}

// order tracks the order of the rows of a table, per series.
type order struct {
	pages [][]newestRow // pages of pageSeries series, only those with rows
}

// newestRow is the largest time of a series, and the number of the row that has it; -1: the
// series has none yet.
type newestRow struct{ time, row int64 }

// pageSeries is the number of series of a table that share memory: a table may have only a few of
// all series.
const pageSeries = 64

// newestRow returns that of a series.
func (o *order) newestRow(series uint32) *newestRow {
	page := int(series / pageSeries)
	for len(o.pages) <= page {
		o.pages = append(o.pages, nil)
	}
	if o.pages[page] == nil {
		o.pages[page] = make([]newestRow, pageSeries)
		for i := range o.pages[page] {
			o.pages[page][i] = newestRow{math.MinInt64, -1}
		}
	}
	return &o.pages[page][series%pageSeries]
}

// rowKey identifies rows that replace each other in some systems.
type rowKey struct {
	table  int32
	series uint32
	time   int64
}

func newObserver(x *input.Index) *observer {
	o := &observer{index: x, first: math.MaxInt64, last: math.MinInt64, has: make(map[series.Trait]bool), lateRows: make(map[rowKey]bool), tables: make([]order, len(x.Tables)), tableRows: make([]int64, len(x.Tables))}
	for _, t := range x.Tables {
		o.nulls = append(o.nulls, make([]int64, len(t.Fields)))
		o.samples = append(o.samples, proposal.NewReservoirs(t.Table, proposal.MaxReservoirs-len(o.samples)*proposal.SampledFields))
	}
	return o
}

// add looks at the rows of a batch.
func (o *observer) add(b *series.Batch) {
	for i := range b.Runs {
		run := &b.Runs[i]
		t := o.index.ByName[run.Table.Name]
		o.times(run, t.Place)
		o.tableRows[t.Place] += int64(run.Rows())
		for f := range run.Columns {
			o.nulls[t.Place][f] += int64(run.Rows() - run.Values(f))
			o.field(run, f)
			if sample := o.samples[t.Place][f]; sample != nil {
				sample.Add(run, f)
			}
		}
	}
}

func (o *observer) times(run *series.Run, table int) {
	of := &o.tables[table]
	for row, t := range run.Times {
		switch newest := of.newestRow(run.Series[row]); {
		case t > newest.time:
			*newest = newestRow{t, o.rows}
		case t == newest.time:
			o.equal++
			mark(&o.older, newest.row)
			newest.row = o.rows
		default:
			o.late++
			o.lateness = max(o.lateness, newest.time-t)
			o.lateRows[rowKey{int32(table), run.Series[row], t}] = true
		}
		o.first, o.last = min(o.first, t), max(o.last, t)
		if o.step != 1 {
			o.step = workload.Divisor(o.step, t)
		}
		o.rows++
	}
}

// mark marks a row, for which it makes room.
func mark(b *series.Bitmap, row int64) {
	for int64(len(*b)) <= row>>6 {
		*b = append(*b, 0)
	}
	b.Set(int(row))
}

// field looks for values that not every system can hold.
func (o *observer) field(run *series.Run, f int) {
	c := &run.Columns[f]
	switch run.Table.Fields[f].Type {
	case series.Float, series.Float32:
		for _, v := range c.Floats {
			if v-v == 0 {
				continue
			}
			if v != v {
				o.has[series.NaN] = true
			} else {
				o.has[series.Infinities] = true
			}
		}
	case series.Int:
		for _, v := range c.Ints {
			if v > input.MaxExact || v < -input.MaxExact {
				o.has[series.LargeInts] = true
				if v == math.MinInt64 {
					o.has[series.SmallestInt] = true
				}
			}
		}
	case series.Int32:
		for _, v := range c.Ints {
			if v == math.MinInt32 {
				o.has[series.SmallestInt] = true
			}
		}
	case series.Text:
		if field := &run.Table.Fields[f]; field.Free() {
			o.texts(run, f, field)
		}
	case series.Timestamp:
		for _, v := range c.Ints {
			if v%1000 != 0 {
				o.has[series.FineTimestamps] = true
			}
		}
	}
}

// texts examines free texts and remembers the longest. If all are empty the bound is one byte,
// since 0 means unknown.
func (o *observer) texts(run *series.Run, f int, field *series.Field) {
	o.has[series.FreeTexts] = true
	field.Longest = max(field.Longest, 1)
	if bytes.IndexByte(run.Columns[f].Bytes, 0) >= 0 {
		o.has[series.NULTexts] = true
	}
	for row := range run.Times {
		if !run.Lacks(f, row) {
			field.Longest = max(field.Longest, run.Columns[f].TextLength(row, 0))
		}
	}
}

// values describes the rows' values, except for repeated times.
func (o *observer) values() series.Values {
	v := series.Values{First: time.Unix(0, o.first).UTC(), Last: time.Unix(0, o.last).UTC(), Step: time.Duration(max(o.step, 1))}
	for _, t := range o.index.Tables {
		for i := range t.Set.Values {
			for at := range int32(t.Set.Values[i].Len()) {
				for _, has := range series.TagTraits(t.Set.Values[i].Text(at)) {
					o.has[has] = true
				}
			}
		}
	}
	for _, t := range []series.Trait{series.NaN, series.Infinities, series.LargeInts, series.SmallestInt, series.FineTimestamps, series.EmptyTags, series.EscapedTags, series.UnplainTags, series.FreeTexts, series.NULTexts} {
		if o.has[t] {
			v.Has = append(v.Has, t)
		}
	}
	return v
}

// findRepeated finds the rows after which another one has the same series and time. Rows
// in order have shown them by themselves; late ones need another pass, and 40 bytes each.
func (s *survey) findRepeated(ctx context.Context, o *observer, progress func(rows int)) error {
	s.repeated, s.older = o.equal, o.older
	if o.late == 0 {
		return nil
	}
	clear(o.older)
	s.repeated = 0
	// Of two rows with the same key, the later one is late or has the newest time, and so does the
	// earlier one. Rows at the newest times are therefore tracked as above.
	newest := make([]order, len(s.index.Tables))
	last := make(map[rowKey]int64, len(o.lateRows))
	number := int64(0)
	r := s.open()
	var batch series.Batch
	for {
		if err := r.Next(&batch, surveyRows); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		for i := range batch.Runs {
			run := &batch.Runs[i]
			table := s.index.ByName[run.Table.Name].Place
			of := &newest[table]
			for row, t := range run.Times {
				newest := of.newestRow(run.Series[row])
				key := rowKey{int32(table), run.Series[row], t}
				before, known := int64(-1), false
				if o.lateRows[key] {
					before, known = last[key]
					last[key] = number
				} else if t == newest.time {
					before, known = newest.row, true
				}
				if known {
					s.repeated++
					mark(&s.older, before)
				}
				if t >= newest.time {
					*newest = newestRow{t, number}
				}
				number++
			}
		}
		progress(batch.Rows())
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
