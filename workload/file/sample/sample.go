// Package sample reads what monitoring systems export: the text formats of Prometheus, the JSON lines
// of VictoriaMetrics and the annotated CSV of InfluxDB. Their rows name a table, tags and fields.
package sample

import (
	"fmt"
	"io"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/lineformat"
)

// Sample is one row. It is valid until the next one is read.
type Sample struct {
	Table  []byte
	Tags   []lineformat.Pair // only those with a value
	Fields []Field
	Time   []byte
}

// Field is a value of a sample.
type Field struct {
	Name, Value []byte
	Type        series.Type // that the format declares; 0: it cannot be loaded
	Declared    string      // the name of a type that cannot be loaded
}

// Problem says why the field cannot be loaded; empty: it can.
func (f *Field) Problem() string {
	if f.Type != 0 {
		return ""
	}
	return fmt.Sprintf("its type %s cannot be loaded; convert it in the query, as by string()", f.Declared)
}

// Source reads the samples of a file.
type Source interface {
	// Next returns the next sample, or io.EOF.
	Next() (*Sample, error)
	// Line returns the number of the line of the last sample, or of the line that cannot be read.
	Line() int64
}

// format is how a format is recognized and read.
type format struct {
	name   string
	begins func(text []byte) bool
	open   func(lines *input.LineReader) Source
}

var formats = [...]format{
	{input.FormatMetrics, beginsWithMetrics, func(lines *input.LineReader) Source { return &metrics{lines: lines} }},
	{input.FormatExport, beginsWithExport, func(lines *input.LineReader) Source { return newExport(lines) }},
	{input.FormatAnnotated, beginsWithAnnotation, func(lines *input.LineReader) Source { return newAnnotated(lines) }},
}

// FormatOf returns the format of a text by its beginning; empty: another one.
func FormatOf(text []byte) string {
	for i := range formats {
		if formats[i].begins(text) {
			return formats[i].name
		}
	}
	return ""
}

// Reads reports whether the package reads a format.
func Reads(name string) bool {
	for i := range formats {
		if formats[i].name == name {
			return true
		}
	}
	return false
}

// Open reads a text of one of the formats.
func Open(name string, in io.Reader) Source {
	for i := range formats {
		if formats[i].name == name {
			return formats[i].open(input.NewLineReader(in))
		}
	}
	return nil
}

// Rows are the rows of a file.
type Rows struct {
	source Source
	index  *input.Index
	marks  lineformat.Marks
}

func NewRows(source Source, x *input.Index) *Rows { return &Rows{source: source, index: x} }

// Next fills rows until the filler is full, or returns io.EOF after the last one.
func (r *Rows) Next(f *input.Filler) error {
	for {
		s, err := r.source.Next()
		if err != nil {
			return err
		}
		t := r.index.ByName[string(s.Table)]
		if t == nil {
			f.Ignored++
			continue
		}
		f.Begin(t)
		r.marks.Begin(len(t.Fields))
		for i := range s.Tags {
			if at, ok := t.TagAt[string(s.Tags[i].Key)]; ok {
				if err := f.Tag(at, s.Tags[i].Value); err != nil {
					return err
				}
			}
		}
		for i := range s.Fields {
			at, ok := t.FieldAt[string(s.Fields[i].Name)]
			if !ok {
				continue
			}
			if problem := s.Fields[i].Problem(); problem != "" {
				return fmt.Errorf("column %s: %s", s.Fields[i].Name, problem)
			}
			if err := f.Field(at, s.Fields[i].Value, s.Fields[i].Type == series.Text); err != nil {
				return err
			}
			r.marks.Set(at)
		}
		r.marks.FillMissing(f)
		time, err := f.Time(input.TimeOfPoints, s.Time)
		if err != nil {
			return err
		}
		if full, err := f.Finish(time); full || err != nil {
			return err
		}
	}
}

// Place returns the place of the row at hand, without the file.
func (r *Rows) Place() input.Error { return input.Error{Line: r.source.Line()} }

// valueName is the field of formats whose samples have one value.
var valueName = []byte("value")

func malformedError(problem string, text []byte) error {
	return fmt.Errorf("%s at %q; %s, or %s", problem, text[:min(len(text), input.MaxShown)], input.CorrectLine, input.NameFormat)
}
