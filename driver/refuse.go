package driver

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// Refusal is the reason why a system cannot store a dataset, as known before anything is loaded.
type Refusal struct {
	// Setting is the setting in the dataset's specification to change: timestamp-start. Empty: another
	// target, or other options of it, are needed.
	Setting string
	Problem string // one line, with the remedy
}

// Refuse compares the known properties of a dataset with the system's limits. It returns nil if the
// system can store the dataset. The error names the target. A nil schema is unknown.
func (c *Caps) Refuse(target string, s *series.Schema, v series.Values) *Refusal {
	if err := c.tables(s); err != nil {
		return &Refusal{Problem: fmt.Sprintf("target %s: %v", target, err)}
	}
	switch {
	case !v.First.IsZero() && v.First.Before(c.First):
		return &Refusal{"timestamp-start", fmt.Sprintf("target %s has no rows before %s, and the dataset begins at %s; choose a later start", target, formatTime(c.First), formatTime(v.First))}
	case !c.Last.IsZero() && v.Last.After(c.Last):
		return &Refusal{"timestamp-end", fmt.Sprintf("target %s has no rows after %s, and the dataset ends at %s; choose an earlier end", target, formatTime(c.Last), formatTime(v.Last))}
	case c.TimePrecision > 0 && v.Step%c.TimePrecision != 0:
		if v.StepBy != "" {
			return &Refusal{v.StepBy, fmt.Sprintf("target %s holds times to %v, and those of the dataset are multiples of %v; choose %[2]v", target, c.TimePrecision, v.Step)}
		}
		setting := "log-interval"
		if v.First.UnixNano()%int64(c.TimePrecision) != 0 {
			setting = "timestamp-start"
		}
		return &Refusal{setting, fmt.Sprintf("target %s holds times to %v, and those of the dataset are multiples of %v; choose an interval and a start that are multiples of %[2]v", target, c.TimePrecision, v.Step)}
	}
	for _, t := range v.Has {
		if !c.Holds(t) {
			return &Refusal{Problem: fmt.Sprintf("target %s: the dataset has %v, which %s", target, t, c.withRemedy(t, "choose another target, or a dataset without them"))}
		}
	}
	return nil
}

// tables returns why the system cannot store the tables of a schema.
func (c *Caps) tables(s *series.Schema) error {
	if s == nil {
		return nil
	}
	if c.Schema != nil {
		if err := c.Schema(s); err != nil {
			return err
		}
	}
	if c.Holds(series.FreeTexts) {
		return nil
	}
	for _, t := range s.Tables {
		for i := range t.Fields {
			if f := &t.Fields[i]; f.Free() {
				return fmt.Errorf("field %s of table %s has texts of any length, which %s", f.Name, t.Name, c.withRemedy(series.FreeTexts, "make it a tag, or leave it out"))
			}
		}
	}
	return nil
}

// withRemedy describes the stored form of values with a trait and the remedy: as the driver says, or
// otherwise.
func (c *Caps) withRemedy(t series.Trait, otherwise string) string {
	if text := c.Lacks[t]; strings.Contains(text, "; ") {
		return text
	}
	return c.Lacks[t] + "; " + otherwise
}

// Checker finds values that a system cannot store, in rows whose values are not known beforehand, such
// as rows of a file. It does not find two rows of the same series and time; the census does.
type Checker struct {
	caps *Caps
	seen map[*series.Table]series.Bitmap // series whose tags have been checked
	text []byte
}

// Checker returns a checker of rows of the schema. Its error is a *NotHeldError.
func (c *Caps) Checker(s *series.Schema) (*Checker, error) {
	if err := c.tables(s); err != nil {
		return nil, &NotHeldError{err}
	}
	return &Checker{caps: c, seen: make(map[*series.Table]series.Bitmap)}, nil
}

// NotHeldError is the error of tables or rows that a system cannot store: which ones, why, and the
// remedy.
type NotHeldError struct{ Err error }

// Error implements error.
func (e *NotHeldError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NotHeldError) Unwrap() error { return e.Err }

// Check returns a *NotHeldError for the first value that the system cannot store.
func (c *Checker) Check(b *series.Batch) error {
	for i := range b.Runs {
		run := &b.Runs[i]
		for _, check := range []func(*series.Run) error{c.times, c.fields, c.tags} {
			if err := check(run); err != nil {
				return &NotHeldError{fmt.Errorf("table %s: %w", run.Table.Name, err)}
			}
		}
	}
	return nil
}

func (c *Checker) times(run *series.Run) error {
	first, last, unit := int64(math.MinInt64), int64(math.MaxInt64), max(1, int64(c.caps.TimePrecision))
	if !c.caps.First.IsZero() {
		first = c.caps.First.UnixNano()
	}
	if !c.caps.Last.IsZero() {
		last = c.caps.Last.UnixNano()
	}
	for _, t := range run.Times {
		switch {
		case t < first:
			return fmt.Errorf("a row's time %s is before %s, where the target has no rows; leave it out of the data", nanos(t), nanos(first))
		case t > last:
			return fmt.Errorf("a row's time %s is after %s, where the target has no rows; leave it out of the data", nanos(t), nanos(last))
		case t%unit != 0:
			return fmt.Errorf("a row's time %s is not a multiple of %v, the precision of the target; round it in the data", nanos(t), c.caps.TimePrecision)
		}
	}
	return nil
}

// exact is the largest number up to which doubles represent all integers.
const exact = 1 << 53

func (c *Checker) fields(run *series.Run) error {
	for f := range run.Table.Fields {
		var err error
		switch v := &run.Columns[f]; run.Table.Fields[f].Type {
		case series.Float, series.Float32:
			err = cmp.Or(
				c.field(run, f, series.NaN, func(row int) bool { return math.IsNaN(v.Floats[row]) }),
				c.field(run, f, series.Infinities, func(row int) bool { return math.IsInf(v.Floats[row], 0) }),
			)
		case series.Int:
			err = cmp.Or(
				c.field(run, f, series.LargeInts, func(row int) bool { return v.Ints[row] > exact || v.Ints[row] < -exact }),
				c.field(run, f, series.SmallestInt, func(row int) bool { return v.Ints[row] == math.MinInt64 }),
			)
		case series.Int32:
			err = c.field(run, f, series.SmallestInt, func(row int) bool { return v.Ints[row] == math.MinInt32 })
		case series.Text, series.Blob:
			if run.Table.Fields[f].Free() {
				err = c.field(run, f, series.NULTexts, func(row int) bool { return !run.Lacks(f, row) && bytes.IndexByte(v.Text(row), 0) >= 0 })
			}
		case series.Timestamp:
			err = c.field(run, f, series.FineTimestamps, func(row int) bool { return v.Ints[row]%1000 != 0 })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// field returns an error for the first value of a field with a trait that the system lacks.
func (c *Checker) field(run *series.Run, f int, t series.Trait, is func(row int) bool) error {
	if c.caps.Holds(t) {
		return nil
	}
	for row := range run.Times {
		if !is(row) || run.Lacks(f, row) {
			continue
		}
		field, v := &run.Table.Fields[f], &run.Columns[f]
		var shown any
		switch {
		case !field.Type.UsesInts():
			shown = v.Floats[row]
		case field.Free():
			shown = strconv.Quote(string(v.Text(row)))
		case field.Type == series.Timestamp:
			shown = nanos(v.Ints[row])
		default:
			shown = v.Ints[row]
		}
		return fmt.Errorf("field %s of series %d at %s is %v, which %s", field.Name, run.Series[row], nanos(run.Times[row]), shown, c.caps.withRemedy(t, "leave it out of the data"))
	}
	return nil
}

// tags checks the tags of each series once.
func (c *Checker) tags(run *series.Run) error {
	if c.caps.Holds(series.EmptyTags) && c.caps.Holds(series.EscapedTags) && c.caps.Holds(series.UnplainTags) {
		return nil
	}
	seen := c.seen[run.Table]
	for _, s := range run.Series {
		if word := int(s) / 64; word >= len(seen) {
			seen = append(seen, make(series.Bitmap, word+1-len(seen))...)
		}
		if seen.Has(int(s)) {
			continue
		}
		seen.Set(int(s))
		for i := range run.Table.Tags {
			tag := &run.Table.Tags[i]
			value, ok := tag.Values.Append(c.text[:0], s)
			c.text = value
			if !ok || tag.Numeric() {
				continue
			}
			for _, t := range series.TagTraits(value) {
				if !c.caps.Holds(t) {
					return fmt.Errorf("tag %s of series %d is %q, which %s", tag.Key, s, value, c.caps.withRemedy(t, "leave it out of the data"))
				}
			}
		}
	}
	c.seen[run.Table] = seen
	return nil
}

func nanos(t int64) string { return formatTime(time.Unix(0, t)) }

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
