package mysql

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
)

// form is how rows stand in a text: as LOAD DATA reads them by default, or as values
// of an INSERT.
type form struct {
	begin, between, end, null, quote string
}

var (
	loaded   = form{"", "\t", "\n", `\N`, ""}
	inserted = form{"(", ",", "),", "NULL", "'"}
)

// encoder writes rows of one table.
type encoder struct {
	form
	table  *series.Table
	wide   bool
	whole  bool     // times are integers
	tags   [][]byte // of series of a wide table, which were needed before; nil: there are too many
	second int64    // of moment
	moment []byte   // the text of the last time
}

// maxKept is how many series' tags are kept ready: memory stays small however many
// there are.
const maxKept = 65_536

func newEncoder(o driver.Options, s *series.Schema, t *series.Table) *encoder {
	e := &encoder{form: loaded, table: t, wide: o[optionLayout] == layoutWide, whole: o[optionTimes] == timesBigint}
	if o[optionMethod] == methodInsert {
		e.form = inserted
	}
	if e.wide && s.Series <= maxKept {
		e.tags = make([][]byte, s.Series)
	}
	return e
}

// row appends a row of the run.
func (e *encoder) row(dst []byte, run *series.Run, row int) (_ []byte, err error) {
	dst = e.time(append(dst, e.begin...), run.Times[row])
	if e.wide {
		if dst, err = e.tagsOf(dst, run.Series[row]); err != nil {
			return dst, err
		}
	} else {
		dst = strconv.AppendUint(append(dst, e.between...), uint64(run.Series[row]), 10)
	}
	for f := range run.Columns {
		dst = append(dst, e.between...)
		if run.Lacks(f, row) {
			dst = append(dst, e.null...)
			continue
		}
		c, field := &run.Columns[f], &e.table.Fields[f]
		switch field.Type {
		case series.Float, series.Float32: // of a single the double that equals it
			dst = strconv.AppendFloat(dst, c.Floats[row], 'g', -1, 64)
		case series.Bool, series.Int, series.Int32:
			dst = strconv.AppendInt(dst, c.Ints[row], 10)
		case series.Timestamp:
			dst = e.time(dst, c.Ints[row])
		case series.Date:
			dst = append(time.Unix(c.Ints[row]*86400, 0).UTC().AppendFormat(append(dst, e.quote...), time.DateOnly), e.quote...)
		default: // letters and digits
			dst = append(series.AppendText(append(dst, e.quote...), c.Ints[row], field.Length), e.quote...)
		}
	}
	return append(dst, e.end...), nil
}

// time appends a time, of which many in a row are often the same.
func (e *encoder) time(dst []byte, ns int64) []byte {
	if e.whole {
		return strconv.AppendInt(dst, ns, 10)
	}
	if e.moment == nil || ns != e.second {
		e.moment, e.second = time.Unix(0, ns).UTC().AppendFormat(append(e.moment[:0], e.quote...), "2006-01-02 15:04:05.999999"), ns
		e.moment = append(e.moment, e.quote...)
	}
	return append(dst, e.moment...)
}

// tagsOf appends the tags of a series, each behind what stands between columns.
func (e *encoder) tagsOf(dst []byte, s uint32) ([]byte, error) {
	if e.tags == nil {
		return e.appendTags(dst, s)
	}
	if int(s) >= len(e.tags) {
		return dst, fmt.Errorf("series %d is not of the schema that the database was prepared for", s)
	}
	if e.tags[s] == nil {
		var err error
		if e.tags[s], err = e.appendTags([]byte{}, s); err != nil {
			return dst, err
		}
	}
	return append(dst, e.tags[s]...), nil
}

func (e *encoder) appendTags(dst []byte, s uint32) ([]byte, error) {
	for i := range e.table.Tags {
		tag := &e.table.Tags[i]
		value, ok := tag.Values.Append(nil, s)
		dst = append(dst, e.between...)
		switch {
		case !ok:
			dst = append(dst, e.null...)
		case tag.Numeric():
			n, err := strconv.ParseFloat(string(value), 64)
			if err != nil {
				return dst, fmt.Errorf("tag %s of series %d: %w", tag.Key, s, err)
			}
			dst = strconv.AppendFloat(dst, n, 'g', -1, 64)
		default:
			dst = append(appendEscaped(append(dst, e.quote...), value), e.quote...)
		}
	}
	return dst, nil
}

// appendEscaped appends a text as both LOAD DATA and a literal have it.
func appendEscaped(dst, value []byte) []byte {
	for _, c := range value { // no byte of a longer character looks like one of these
		if i := slices.Index([]byte("\x00\n\t\\'"), c); i >= 0 {
			dst = append(dst, '\\', `0nt\'`[i])
			continue
		}
		dst = append(dst, c)
	}
	return dst
}
