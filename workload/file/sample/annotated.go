package sample

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/delimited"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/lineformat"
)

// annotated reads the annotated CSV that InfluxDB answers Flux with. Each part of a file has
// annotations, which begin with #, a header, and rows.
type annotated struct {
	records *delimited.Records
	sample  Sample
	columns []annotatedColumn
	types   []string // of the annotation #datatype
	groups  []string // of the annotation #group
	fills   []string // of the annotation #default
	header  bool     // the next record is a header
	narrow  bool     // rows have one field, by name and value

	table, field, time, value int // columns; -1: missing
	name                      []byte
	known                     map[string][2]string // measurement and field, by the name of the table
}

// annotatedColumn is a column of the part at hand.
type annotatedColumn struct {
	name     []byte      // of the tag or field
	kind     series.Type // of a field; 0: the column is not one, or cannot be loaded
	declared string      // the type of a column that cannot be loaded
	tag      bool
	fill     []byte // for an empty cell
}

func newAnnotated(lines *input.LineReader) *annotated {
	return &annotated{records: delimited.NewRecords(lines, ','), known: make(map[string][2]string)}
}

func beginsWithAnnotation(text []byte) bool {
	for _, begin := range []string{"#datatype,", "#group,", "#default,"} {
		if bytes.HasPrefix(text, []byte(begin)) {
			return true
		}
	}
	return false
}

// Line implements Source.
func (a *annotated) Line() int64 { return a.records.Lines.Line }

// Next implements Source.
func (a *annotated) Next() (*Sample, error) {
	for {
		cells, err := a.records.Next()
		switch {
		case err != nil:
			return nil, err
		case len(cells[0]) > 0 && cells[0][0] == '#':
			a.annotate(cells)
		case a.header:
			if err := a.begin(cells); err != nil {
				return nil, err
			}
		case len(cells) != len(a.columns):
			return nil, fmt.Errorf("the row has %d columns, and the header %d; %s", len(cells), len(a.columns), input.CorrectLine)
		default:
			return a.row(cells)
		}
	}
}

// annotate reads an annotation.
func (a *annotated) annotate(cells [][]byte) {
	if !a.header {
		a.types, a.groups, a.fills, a.header = nil, nil, nil, true
	}
	var texts []string
	for _, cell := range cells {
		texts = append(texts, string(cell))
	}
	switch texts[0] {
	case "#datatype":
		a.types = texts
	case "#group":
		a.groups = texts
	case "#default":
		a.fills = texts
	}
}

// fluxTypes are the types of columns that become fields.
var fluxTypes = map[string]series.Type{
	"string": series.Text, "long": series.Int, "unsignedLong": series.Int, "double": series.Float, "boolean": series.Bool, "dateTime:RFC3339": series.Timestamp, "dateTime:RFC3339Nano": series.Timestamp, "dateTime": series.Timestamp,
}

// begin reads the header of a part.
func (a *annotated) begin(cells [][]byte) error {
	a.header, a.columns = false, a.columns[:0]
	a.table, a.field, a.time, a.value = -1, -1, -1, -1
	const fix = "; export it again with the annotations datatype, group and default"
	switch {
	case len(cells) > 1 && string(cells[1]) == "error":
		return fmt.Errorf("the file has an error of InfluxDB in place of rows; run the query again")
	case len(a.types) != len(cells) || len(a.groups) != len(cells):
		return fmt.Errorf("the header has %d columns, and the annotations #datatype and #group have %d and %d%s", len(cells), len(a.types), len(a.groups), fix)
	case a.fills != nil && len(a.fills) != len(cells):
		return fmt.Errorf("the header has %d columns, and the annotation #default has %d%s", len(cells), len(a.fills), fix)
	}
	for i, cell := range cells {
		if slices.ContainsFunc(cells[:i], func(of []byte) bool { return bytes.Equal(of, cell) }) {
			return fmt.Errorf("the header has two columns %q; %s", cell, input.CorrectLine)
		}
		for _, named := range []struct {
			name string
			at   *int
		}{{"_measurement", &a.table}, {"_field", &a.field}, {"_time", &a.time}, {"_value", &a.value}} {
			if string(cell) == named.name {
				*named.at = i
			}
		}
	}
	if a.time < 0 {
		return fmt.Errorf("the rows have no column _time, which gives each row its time; leave it in the query's result")
	}
	a.narrow = a.field >= 0 && a.value >= 0
	for i, cell := range cells {
		c := a.column(string(cell), a.types[i], a.groups[i] == "true")
		if a.fills != nil {
			c.fill = []byte(a.fills[i])
		}
		if a.value >= 0 && i != a.value && c.kind != 0 && bytes.Equal(c.name, valueName) {
			return fmt.Errorf("the columns _value and value would both be the field value; rename one, by rename() in Flux")
		}
		a.columns = append(a.columns, c)
	}
	return nil
}

// column returns what a column of a part becomes.
func (a *annotated) column(name, declared string, group bool) annotatedColumn {
	c := annotatedColumn{name: []byte(name), kind: fluxTypes[declared]}
	switch {
	case name == "_value":
		c.name = valueName
	case slices.Contains([]string{"", "result", "table", "_start", "_stop", "_measurement", "_time"}, name), name == "_field" && a.narrow:
		return annotatedColumn{}
	case group, name == "_field", a.narrow && c.kind == series.Text:
		// Beside a field's name and value, a text is a tag, which group() may have removed from the group
		// key. Without it, series would become one.
		c.tag, c.kind = true, 0
	}
	if c.kind == 0 && !c.tag {
		c.declared = declared
	}
	return c
}

// row reads a row.
func (a *annotated) row(cells [][]byte) (*Sample, error) {
	s := &a.sample
	s.Tags, s.Fields, s.Table = s.Tags[:0], s.Fields[:0], []byte("data")
	for i := range cells {
		c := &a.columns[i]
		if len(cells[i]) == 0 {
			cells[i] = c.fill
		}
		switch {
		case len(cells[i]) == 0:
		case c.tag:
			s.Tags = append(s.Tags, lineformat.Pair{Key: c.name, Value: cells[i]})
		case c.kind != 0 || c.declared != "":
			s.Fields = append(s.Fields, Field{c.name, cells[i], c.kind, c.declared})
		}
	}
	if s.Time = cells[a.time]; len(s.Time) == 0 {
		return nil, input.MissingTimeError("_time")
	}
	if a.table >= 0 && len(cells[a.table]) > 0 {
		s.Table = cells[a.table]
	}
	if !a.narrow {
		return s, nil
	}
	// A field is a table of its own: rows of several fields have equal times, and a system that keeps
	// one row per time would lose all but one.
	a.name = append(append(append(a.name[:0], s.Table...), '_'), cells[a.field]...)
	names, ok := a.known[string(a.name)]
	if !ok {
		names = [2]string{string(s.Table), string(cells[a.field])}
		a.known[string(a.name)] = names
	}
	if names[0] != string(s.Table) {
		return nil, fmt.Errorf("the field %s of %s would be the table %s, as the field %s of %s is; rename one, or write the fields of a measurement as columns, by pivot() in Flux", cells[a.field], s.Table, a.name, names[1], names[0])
	}
	s.Table = a.name
	return s, nil
}
