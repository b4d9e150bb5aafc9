package lineformat

import (
	"bytes"
	"errors"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
)

// PairedRows reads rows of timescaledb format.
type PairedRows struct {
	guesser
	lines   *PairedLines // if the caller passes lines, it is read no further than its header
	heads   *Heads
	columns []pairedColumns // per table
}

// pairedColumns is where the values of a table's rows belong.
type pairedColumns struct {
	known  bool
	values []pairedValue
	absent []int // fields of the table that the header does not have
}

// pairedValue is where a value of a row belongs.
type pairedValue struct {
	field int         // -1: it is not loaded
	fast  series.Type // Int and Float are read without looking for missing values; 0: others
}

// NewPairedRows returns the rows behind a header.
func NewPairedRows(lines *PairedLines, heads *Heads) *PairedRows {
	return &PairedRows{lines: lines, heads: heads, columns: make([]pairedColumns, len(heads.tables))}
}

// Next fills rows until the filler is full, or returns io.EOF after the last one.
func (p *PairedRows) Next(f *input.Filler) error {
	for {
		text, first, err := p.lines.next()
		if err != nil {
			return err
		}
		if full, err := p.Row(f, text, first); full || err != nil {
			return err
		}
	}
}

// Row adds the row of two lines to the filler, and reports whether that is full then. The second
// line, which has no end, begins at first.
func (p *PairedRows) Row(f *input.Filler, text []byte, first int) (full bool, err error) {
	h := p.guess()
	if h == nil || len(text) < len(h.text) || string(text[:len(h.text)]) != h.text {
		key := text[:first+bytes.IndexByte(text[first:], ',')+1]
		if h = p.heads.find(key); h == nil {
			if h, err = p.newHead(f, key, text, first); err != nil {
				return false, err
			}
		}
	}
	p.follow(h)
	if h.table == nil {
		f.Ignored++
		return false, nil
	}
	values := text[len(h.text):]
	at := bytes.IndexByte(values, ',')
	if at < 0 {
		return false, errUntimed
	}
	time, err := f.Time(input.TimeOfPoints, values[:at])
	if err != nil {
		return false, err
	}
	values = values[at+1:]
	f.BeginSeries(h.table)
	c, width := &p.columns[h.table.Place], int(h.width)
	if !c.known {
		if err := p.addColumns(c, f); err != nil {
			return false, err
		}
	}
	if width > len(c.values) {
		return false, mismatch("the series has %d fields, and the header of the file names %d; check the flags that say what generated the file", width, len(c.values))
	}
	if err := setValues(f, c.values[:width], values); err != nil {
		if cut := CheckWidth(values, width); cut != nil {
			return false, cut
		}
		return false, err
	}
	if !f.Generated {
		for _, value := range c.values[width:] {
			if value.field >= 0 {
				f.Omit(value.field)
			}
		}
	}
	for _, field := range c.absent {
		f.Omit(field)
	}
	return f.FinishSeries(h.series, time), nil
}

// errWidth is replaced by the error of CheckWidth.
var errWidth = errors.New("another number of values")

// setValues sets fields to the values of a row.
func setValues(f *input.Filler, values []pairedValue, line []byte) error {
	columns, row := f.Run.Columns, f.Row
	at := 0
	for i := range values {
		if i > 0 {
			if at >= len(line) {
				return errWidth
			}
			at++ // the comma
		}
		v := &values[i]
		begin := at
		if v.fast == series.Int {
			n := uint64(0)
			for ; at < len(line); at++ {
				d := line[at] - '0'
				if d > 9 {
					break
				}
				n = n*10 + uint64(d)
			}
			if at > begin && at <= begin+18 && (at == len(line) || line[at] == ',') {
				columns[v.field].Ints[row] = int64(n)
				continue
			}
		}
		for at < len(line) && line[at] != ',' {
			at++
		}
		text := line[begin:at]
		if v.fast == series.Float {
			if number, ok := number.Float(text); ok {
				columns[v.field].Floats[row] = number
				continue
			}
		}
		switch {
		case v.field < 0:
		case len(text) == 0:
			f.Omit(v.field)
		default:
			if err := f.Field(v.field, text, false); err != nil {
				return err
			}
		}
	}
	if at < len(line) {
		return errWidth
	}
	return nil
}

// newHead adds the head of a row, whose text is the key.
func (p *PairedRows) newHead(f *input.Filler, key, text []byte, first int) (*head, error) {
	if err := CheckTags(text[:first-1]); err != nil {
		return nil, err
	}
	row, err := cutPaired(text, first)
	if err != nil {
		return nil, err
	}
	if p.heads.generated != nil {
		return p.heads.resolve(key, row.Table)
	}
	t := p.heads.index.ByName[string(row.Table)]
	if t == nil {
		return p.heads.add(key, rows{}), nil
	}
	names, err := p.lines.FieldsOf(row.Table)
	if err != nil {
		return nil, err
	}
	width := 1 + bytes.Count(row.Values, []byte{','})
	if width > len(names) {
		return nil, errTooWide(width, len(names))
	}
	f.Finder.Begin(t)
	for rest := row.Tags; len(rest) > 0; {
		var tag Pair
		if tag, rest, err = CutPairedTag(rest); err != nil {
			return nil, err
		}
		if at, known := t.TagAt[string(tag.Key)]; known {
			if err := f.TagText(at, tag.Value, false); err != nil {
				return nil, err
			}
		}
	}
	found, err := f.Series()
	if err != nil {
		return nil, err
	}
	return p.heads.add(key, rows{table: t, series: found, width: int32(width)}), nil
}

// addColumns finds out where the values of the table at hand belong.
func (p *PairedRows) addColumns(c *pairedColumns, f *input.Filler) error {
	names, err := p.lines.FieldsOf([]byte(f.Table.Name))
	if err != nil {
		return err
	}
	found := make([]bool, len(f.Table.Fields))
	c.values, c.absent = c.values[:0], nil
	for _, name := range names {
		at, known := f.Table.FieldAt[name]
		value := pairedValue{field: at}
		switch {
		case known:
			found[at] = true
			if t := f.Table.Fields[at].Type; (t == series.Int || t == series.Float) && len(f.Null) == 0 {
				value.fast = t
			}
		case f.Generated:
			return mismatch("table %s has no field %q in this dataset; check the flags that say what generated the file", f.Table.Name, name)
		default:
			value.field = -1
		}
		c.values = append(c.values, value)
	}
	for at := range found {
		if !found[at] {
			c.absent = append(c.absent, at)
		}
	}
	c.known = true
	return nil
}

// Place returns the place of the row at hand, without the file.
func (p *PairedRows) Place() input.Error { return input.Error{Line: p.lines.Line} }
