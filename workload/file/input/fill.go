package input

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
)

// Filler puts rows into a batch, one value after the other. It is used by one
// goroutine.
type Filler struct {
	Finder
	Clock   *Clock
	Null    string // represents a missing value, in addition to an empty text
	ByGroup bool   // a batch has rows of one row group

	batch  *series.Batch
	Table  *Table // of the run at hand; nil: none was begun
	Run    *series.Run
	Row    int // of the run, that is being filled
	Room   int // rows that the batch has room for, including this one
	Bytes  int // of free texts that it has
	values int // of fields that it has

	joined    []byte // a date and a time of day
	missing   []int  // fields without a value in the row that is being filled
	NonFinite bool   // nan, inf and the like are floats

	// Generated is true for rows of a generated dataset: timestamps are whole nanoseconds, and an
	// empty text is not a missing value.
	Generated  bool
	TimeDigits int // minimum number of digits of a time since 1970; one with fewer was cut

	Ignored   int64              // skipped rows, of measurements that are not tables
	EmptyTags map[TagPlace]int64 // rows in which a tag is an empty text
}

// TagPlace is a tag by its place in its table.
type TagPlace struct {
	Table *Table
	Place int
}

// MaxBatchText is the approximate number of bytes of free texts after which a batch is full,
// however few rows it has.
const MaxBatchText = 8 << 20

// Full reports whether the batch has no room for another row.
func (f *Filler) Full() bool {
	return f.Room == 0 || f.Bytes >= MaxBatchText || f.values >= maxBatchValues
}

// Reset begins to fill a batch with at most max rows.
func (f *Filler) Reset(b *series.Batch, max int) {
	b.Reset()
	f.batch, f.Table, f.Run, f.Row, f.Room, f.Bytes, f.values = b, nil, nil, 0, max, 0, 0
}

// Begin begins a row of the table. All of its fields must be set.
func (f *Filler) Begin(t *Table) {
	f.BeginSeries(t)
	f.Finder.Begin(t)
}

// BeginSeries begins a row whose series is known already.
func (f *Filler) BeginSeries(t *Table) {
	if t != f.Table {
		f.End()
		f.Run, f.Table, f.Row = f.batch.Add(t.Table), t, 0
	}
	if f.Row == f.Run.Rows() {
		first := 16
		if len(t.Fields) > maxBatchValues/256/first {
			first = 1 // a wide table
		}
		f.Run.Grow(min(f.Row+f.Room, max(2*f.Row, first)))
	}
	f.missing = f.missing[:0]
}

// Reserve makes room for n rows of the table at once.
func (f *Filler) Reserve(t *Table, n int) {
	f.Begin(t)
	if f.Run.Rows() < f.Row+n {
		f.Run.Grow(f.Row + n)
	}
}

// End ends the run at hand. One that has no rows is taken back.
func (f *Filler) End() {
	if f.Run == nil {
		return
	}
	if f.Run.Grow(f.Row); f.Row == 0 {
		f.batch.Runs = f.batch.Runs[:len(f.batch.Runs)-1]
	}
	f.Table, f.Run = nil, nil
}

// Finish ends a row and reports whether the filler is full.
func (f *Filler) Finish(time int64) (full bool, err error) {
	s, err := f.Series()
	if err != nil {
		return false, err
	}
	return f.FinishSeries(s, time), nil
}

// FinishSeries ends a row whose series is known already.
func (f *Filler) FinishSeries(series uint32, time int64) (full bool) {
	f.Run.Times[f.Row], f.Run.Series[f.Row] = time, series
	for _, field := range f.missing {
		f.SetNull(field)
	}
	f.Row++
	f.Room--
	f.values += len(f.Table.Fields)
	return f.Full()
}

// Omit is SetNull once the row is finished, so that a row that turns out to be malformed leaves
// nothing behind.
func (f *Filler) Omit(field int) { f.missing = append(f.missing, field) }

// SetNull says that the row has no value of a field.
func (f *Filler) SetNull(field int) {
	c := &f.Run.Columns[field]
	if c.Ints != nil {
		c.Ints[f.Row] = 0
	} else {
		c.Floats[f.Row] = 0
	}
	f.Run.SetNull(field, f.Row)
}

// Absent reports whether a text stands for no value.
func (f *Filler) Absent(text []byte) bool {
	return len(text) == 0 || len(f.Null) > 0 && string(text) == f.Null
}

// Field sets a field to the value that a text represents. A quoted text, or one that its format
// otherwise distinguishes from a missing value, may be empty if the field is free.
func (f *Filler) Field(i int, text []byte, quoted bool) error {
	c, of := &f.Run.Columns[i], &f.Table.Fields[i]
	if f.Absent(text) && !f.Generated && !(len(text) == 0 && quoted && of.Type == series.Text) {
		f.SetNull(i)
		return nil
	}
	switch of.Type {
	case series.Float, series.Float32:
		v, ok := number.Float(text)
		if !ok && f.NonFinite {
			v, ok = number.NotFinite(text)
		}
		if !ok {
			return wrong(text, of)
		}
		if of.Type == series.Float32 {
			v = float64(float32(v))
		}
		c.Floats[f.Row] = v
		return nil
	case series.Int, series.Int32:
		return f.setWhole(c, of, text)
	case series.Bool:
		v, ok := number.Bool(text)
		if !ok {
			return wrong(text, of)
		}
		c.Ints[f.Row] = v
	case series.Text, series.Blob:
		if of.Free() {
			return f.text(c, of, text)
		}
		v, ok := series.ParseText(text)
		if !ok || len(text) != of.Length {
			return wrong(text, of)
		}
		c.Ints[f.Row] = v
	case series.Timestamp:
		if f.Generated {
			return f.setWhole(c, of, text)
		}
		v, err := f.Clock.Text(text)
		if err != nil {
			return wrongTime(text, of, err)
		}
		c.Ints[f.Row] = v
	case series.Date:
		v, err := days(text)
		if err != nil {
			return wrongTime(text, of, err)
		}
		c.Ints[f.Row] = v
	default:
		return fmt.Errorf("column %s: fields of type %v cannot be read", of.Name, of.Type)
	}
	return nil
}

// setWhole sets a field to a whole number.
func (f *Filler) setWhole(c *series.Column, of *series.Field, text []byte) error {
	v, ok := number.Int(text)
	if !ok || of.Type == series.Int32 && v != int64(int32(v)) {
		return wrong(text, of)
	}
	c.Ints[f.Row] = v
	return nil
}

// text sets a free field.
func (f *Filler) text(c *series.Column, of *series.Field, text []byte) error {
	switch {
	case len(text) > series.MaxFreeText:
		return fmt.Errorf("column %s: a text has %d bytes, and fields have at most %d; leave the column out of fields", of.Name, len(text), series.MaxFreeText)
	case !utf8.Valid(text):
		return invalidUTF8(of.Name, "fields", text)
	}
	c.SetText(f.Row, text)
	f.Bytes += len(text)
	return nil
}

// TagText sets a tag to a text, which is empty, and there, or stands for no value. Few
// systems tell an empty tag from none, so that it is read as missing, and counted.
func (f *Filler) TagText(place int, text []byte, there bool) error {
	if !f.Absent(text) {
		return f.Tag(place, text)
	}
	if len(text) == 0 && there {
		if f.EmptyTags == nil {
			f.EmptyTags = make(map[TagPlace]int64)
		}
		f.EmptyTags[TagPlace{f.Table, place}]++
	}
	return nil
}

// invalidUTF8 is the error of a text of a column in one of the lists.
func invalidUTF8(column, list string, text []byte) error {
	return fmt.Errorf("column %s: %q is not valid UTF-8; %s, or leave the column out of %s", column, text[:min(len(text), MaxShown)], GiveEncoding, list)
}

// MaxShown is the maximum number of bytes of a value in messages.
const MaxShown = 60

// wrong returns the error of a text that is not a value of the field.
func wrong(text []byte, of *series.Field) error {
	fix := CorrectLine + ", or give another type in fields"
	if digits := text; of.Type.Integer() && WholeText(digits) {
		fix = fmt.Sprintf("it is larger than that type holds: write %s:%s in fields", QuoteName(of.Name), series.Float)
		if _, ok := number.Int(digits); ok {
			fix = fmt.Sprintf("it is larger than that type holds: write %s:%s in fields", QuoteName(of.Name), series.Int)
		}
	}
	return fmt.Errorf("column %s: %q is not of type %s; %s", of.Name, text[:min(len(text), MaxShown)], TypeName(of.Type, of.Length), fix)
}

// wrongTime returns the error of a text that is not a time, with the reason.
func wrongTime(text []byte, of *series.Field, why error) error {
	if errors.Is(why, ErrNoTime) {
		return wrong(text, of)
	}
	return fmt.Errorf("column %s: %q %w; %s, or give --null (own.null) for what stands for a missing time", of.Name, text[:min(len(text), MaxShown)], why, CorrectLine)
}

// Time reads the time of a row from the named column.
func (f *Filler) Time(column string, text []byte) (int64, error) {
	if len(text) > 0 && string(text) == string(f.Clock.whole) && len(text) >= f.TimeDigits {
		return f.Clock.ns, nil
	}
	return f.otherTime(column, text)
}

// otherTime is Time for another one than that of the row before.
func (f *Filler) otherTime(column string, text []byte) (int64, error) {
	t, err := f.Clock.Read(text)
	switch {
	case err == nil && (len(text) >= f.TimeDigits || t < 0):
		return t, nil
	case err == nil:
		return 0, fmt.Errorf("the time %q has fewer digits than the first row's: the line was cut; %s", text, CopyAgain)
	case errors.Is(err, ErrYear), errors.Is(err, errCalendar), errors.As(err, new(ZoneError)):
		return 0, fmt.Errorf("column %s: %q %w; %s, or leave it out", column, text[:min(len(text), MaxShown)], err, CorrectLine)
	}
	return 0, fmt.Errorf("column %s: %q %w; %s, or say with own.time-format how times are written", column, text[:min(len(text), MaxShown)], err, CorrectLine)
}

// TimeOfTwo is Time of a date and a time of day in two columns; without the latter it is Time.
func (f *Filler) TimeOfTwo(column string, date, ofDay []byte) (int64, error) {
	if len(ofDay) == 0 {
		return f.Time(column, date)
	}
	f.joined = append(append(append(f.joined[:0], date...), ' '), ofDay...)
	return f.Time(column, f.joined)
}

var ErrNoRowTime = errors.New("the row has no time; " + CorrectLine + ", or leave it out")

// MissingTimeError is the error of a row without a time in a column.
func MissingTimeError(column string) error {
	return fmt.Errorf("the row has no time in column %s; %s, or leave it out", column, CorrectLine)
}

// Error says where a file has a row that cannot be read.
type Error struct {
	File     string
	Line     int64 // from 1; 0: RowGroup and Row say where
	RowGroup int   // of Parquet, or record batch of Arrow, from 0
	Row      int64 // of RowGroup, from 0
	Err      error // the cause, with the column
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Place(), e.Err) }

// Place names the file and the place in it.
func (e *Error) Place() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s:row group %d:row %d", e.File, e.RowGroup, e.Row)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
