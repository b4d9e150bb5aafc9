package owndata

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
)

// filler puts rows into a batch, one value after the other. It is used by one
// goroutine.
type filler struct {
	finder
	clock *clock
	null  string // stands for no value, beside nothing at all
	apart bool   // a batch has rows of one row group

	batch  *series.Batch
	table  *table // of the run at hand; nil: none was begun
	run    *series.Run
	row    int // of the run, that is being filled
	left   int // rows that the batch has room for, this one among them
	bytes  int // of free texts that it has
	values int // of fields that it has

	joined []byte // a date and a time of day
	words  bool   // nan, inf and the like are floats

	others    int64           // rows of measurements that are no table, which are left out
	emptyTags map[tagOf]int64 // rows in which a tag is an empty text
}

// tagOf is a tag by its place in its table.
type tagOf struct {
	table *table
	place int
}

// maxBatchText is how many bytes of free texts a batch has about: one with more is full,
// however few its rows are.
const maxBatchText = 8 << 20

// full reports whether the batch has no room for another row.
func (f *filler) full() bool {
	return f.left == 0 || f.bytes >= maxBatchText || f.values >= maxBatchValues
}

// reset begins to fill a batch with at most so many rows.
func (f *filler) reset(b *series.Batch, max int) {
	b.Reset()
	f.batch, f.table, f.run, f.row, f.left, f.bytes, f.values = b, nil, nil, 0, max, 0, 0
}

// begin begins a row of the table, all of whose fields are to be set.
func (f *filler) begin(t *table) {
	if t != f.table {
		f.end()
		f.run, f.table, f.row = f.batch.Add(t.Table), t, 0
	}
	if f.row == f.run.Rows() {
		first := min(256, 1+maxBatchValues/256/max(len(t.Fields), 1)) // fewer rows of a wide table
		f.run.Grow(min(f.row+f.left, max(2*f.row, first)))
	}
	f.finder.begin(t)
}

// reserve makes room for n rows of the table at once.
func (f *filler) reserve(t *table, n int) {
	f.begin(t)
	if f.run.Rows() < f.row+n {
		f.run.Grow(f.row + n)
	}
}

// end ends the run at hand. One that has no rows is taken back.
func (f *filler) end() {
	if f.run == nil {
		return
	}
	if f.run.Grow(f.row); f.row == 0 {
		f.batch.Runs = f.batch.Runs[:len(f.batch.Runs)-1]
	}
	f.table, f.run = nil, nil
}

// finish ends a row. The filler is full where it returns true.
func (f *filler) finish(time int64) (full bool, err error) {
	s, err := f.series()
	if err != nil {
		return false, err
	}
	return f.finishOf(s, time), nil
}

// finishOf ends a row whose series is known already.
func (f *filler) finishOf(series uint32, time int64) (full bool) {
	f.run.Times[f.row], f.run.Series[f.row] = time, series
	f.row++
	f.left--
	f.values += len(f.table.Fields)
	return f.full()
}

// setNull says that the row has no value of a field.
func (f *filler) setNull(field int) {
	c := &f.run.Columns[field]
	if c.Ints != nil {
		c.Ints[f.row] = 0
	} else {
		c.Floats[f.row] = 0
	}
	f.run.SetNull(field, f.row)
}

// absent reports whether a text stands for no value.
func (f *filler) absent(text []byte) bool {
	return len(text) == 0 || len(f.null) > 0 && string(text) == f.null
}

// field sets a field to the value that a text stands for. A text in quotes, or one whose
// format tells it from a missing value otherwise, may be empty where the field is free.
func (f *filler) field(i int, text []byte, quoted bool) error {
	c, of := &f.run.Columns[i], &f.table.Fields[i]
	if f.absent(text) && !(len(text) == 0 && quoted && of.Type == series.Text) {
		f.setNull(i)
		return nil
	}
	switch of.Type {
	case series.Float, series.Float32:
		v, ok := number.Float(text)
		if !ok && f.words {
			v, ok = number.NotFinite(text)
		}
		if !ok {
			return wrong(text, of)
		}
		if of.Type == series.Float32 {
			v = float64(float32(v))
		}
		c.Floats[f.row] = v
		return nil
	case series.Int, series.Int32:
		v, ok := number.Int(text)
		if !ok || of.Type == series.Int32 && v != int64(int32(v)) {
			return wrong(text, of)
		}
		c.Ints[f.row] = v
	case series.Bool:
		v, ok := number.Bool(text)
		if !ok {
			return wrong(text, of)
		}
		c.Ints[f.row] = v
	case series.Text:
		if of.Free() {
			return f.text(c, of, text)
		}
		v, ok := series.ParseText(text)
		if !ok || len(text) != of.Length {
			return wrong(text, of)
		}
		c.Ints[f.row] = v
	case series.Timestamp:
		v, err := f.clock.text(text)
		if err != nil {
			return wrongTime(text, of, err)
		}
		c.Ints[f.row] = v
	case series.Date:
		v, err := days(text)
		if err != nil {
			return wrongTime(text, of, err)
		}
		c.Ints[f.row] = v
	default:
		return fmt.Errorf("column %s: fields of type %v cannot be read", of.Name, of.Type)
	}
	return nil
}

// text sets a free field.
func (f *filler) text(c *series.Column, of *series.Field, text []byte) error {
	switch {
	case len(text) > series.MaxFreeText:
		return fmt.Errorf("column %s: a text has %d bytes, and fields have at most %d; leave the column out of fields", of.Name, len(text), series.MaxFreeText)
	case !utf8.Valid(text):
		return invalidUTF8(of.Name, "fields", text)
	}
	c.SetText(f.row, text)
	f.bytes += len(text)
	return nil
}

// tagText sets a tag to a text, which is empty, and there, or stands for no value. Few
// systems tell an empty tag from none, so that it is read as missing, and counted.
func (f *filler) tagText(place int, text []byte, there bool) error {
	if !f.absent(text) {
		return f.tag(place, text)
	}
	if len(text) == 0 && there {
		if f.emptyTags == nil {
			f.emptyTags = make(map[tagOf]int64)
		}
		f.emptyTags[tagOf{f.table, place}]++
	}
	return nil
}

// invalidUTF8 is the error of a text of a column in one of the lists.
func invalidUTF8(column, list string, text []byte) error {
	return fmt.Errorf("column %s: %q is not valid UTF-8; convert the file, or leave the column out of %s", column, text[:min(len(text), shown)], list)
}

// shown is how many bytes of a value messages have.
const shown = 60

// wrong is the error of a text that is no value of a field.
func wrong(text []byte, of *series.Field) error {
	fix := correct + ", or give another type in fields"
	if digits := text; of.Type.Integer() && wholeText(digits) {
		fix = fmt.Sprintf("it is larger than that type holds: write %s:%s in fields", quoteName(of.Name), series.Float)
		if _, ok := number.Int(digits); ok {
			fix = fmt.Sprintf("it is larger than that type holds: write %s:%s in fields", quoteName(of.Name), series.Int)
		}
	}
	return fmt.Errorf("column %s: %q is no %s; %s", of.Name, text[:min(len(text), shown)], typeName(of.Type, of.Length), fix)
}

// wrongTime is wrong of a text that is no time, and why.
func wrongTime(text []byte, of *series.Field, why error) error {
	if errors.Is(why, errNoTime) {
		return wrong(text, of)
	}
	return fmt.Errorf("column %s: %q %w; %s, or give --null (own.null) for what stands for a missing time", of.Name, text[:min(len(text), shown)], why, correct)
}

// time reads the time of a row from the named column.
func (f *filler) time(column string, text []byte) (int64, error) {
	t, err := f.clock.parse(text)
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, errYear), errors.Is(err, errCalendar), errors.As(err, new(zoneError)):
		return 0, fmt.Errorf("column %s: %q %w; %s, or leave it out", column, text[:min(len(text), shown)], err, correct)
	}
	return 0, fmt.Errorf("column %s: %q %w; %s, or say with own.time-format how times are written", column, text[:min(len(text), shown)], err, correct)
}

// timeOfTwo is time of a date and a time of day in two columns; without the latter it is
// time.
func (f *filler) timeOfTwo(column string, date, ofDay []byte) (int64, error) {
	if len(ofDay) == 0 {
		return f.time(column, date)
	}
	f.joined = append(append(append(f.joined[:0], date...), ' '), ofDay...)
	return f.time(column, f.joined)
}

var errNoRowTime = errors.New("the row has no time; " + correct + ", or leave it out")

// noTime is the error of a row without a time in a column.
func noTime(column string) error {
	return fmt.Errorf("the row has no time in column %s; %s, or leave it out", column, correct)
}

// Error says where a file has a row that cannot be read.
type Error struct {
	File     string
	Line     int64 // from 1; 0: RowGroup and Row say where
	RowGroup int   // of Parquet, or record batch of Arrow, from 0
	Row      int64 // of RowGroup, from 0
	Err      error // what is wrong, with the column
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.where(), e.Err) }

// where names the file and the place in it.
func (e *Error) where() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s:row group %d:row %d", e.File, e.RowGroup, e.Row)
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }
