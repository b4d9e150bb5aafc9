package owndata

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/columnar"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/witness"
)

// layout says how the rows of files become tables: the settings, read.
type layout struct {
	files      []input.File
	format     string
	table      string // of the only table; empty: not known yet
	time       string // column; empty: not known yet
	timeOfDay  string // column of the times of day, where time has dates alone; empty: none
	timeFormat string // empty: not known yet
	timeZone   string // of times without an offset; empty: UTC
	columns    []string
	delimiter  byte   // 0: not known yet
	decimal    string // of CSV: point or comma; empty: not known yet
	null       string
	encoding   string // of texts; empty: UTF-8, or UTF-16 by the first bytes
	tags       []input.Section
	fields     []input.Section // nil: not known yet
	pinned     bool            // the settings include a digest: tags that they do not name do not exist
	found      bool            // the files were checked to have the columns
	tagsFound  bool            // by their values, and not by settings or line protocol

	merging error    // a tag was left out, without which series become one; nil: none was
	lost    []string // columns of unknown values that were left out, with the reason

	asFields map[string]map[string]input.Column // of columns taken for tags, by table and name: the fields that they would be

	leftOut []string // columns that are not loaded, where a pass over the rows has shown them

	notes []string // notes about the proposed settings, one line each
}

// The settings of the workload, by name.
const (
	setFiles      = "files"
	setFormat     = "format"
	setTable      = "table"
	setTime       = "time"
	setTimeFormat = "time-format"
	setTimeZone   = "time-zone"
	setTags       = "tags"
	setFields     = "fields"
	setColumns    = "columns"
	setDelimiter  = "delimiter"
	setDecimal    = "decimal"
	setNull       = "null"
	setEncoding   = "encoding"
	setContent    = "content"
)

const (
	autoFormat = "auto"
	noTags     = "none" // of tags; a column of that name is written in double quotes
)

// options lists the settings.
func options() []option.Option {
	return []option.Option{
		{Name: setFormat, Type: option.Choice(append([]string{autoFormat}, input.Formats()...)...), Default: autoFormat, Help: "format of the files"},
		{Name: setFiles, Help: "files, folders and patterns, separated by commas", Empty: "none"},
		{Name: setTable, Help: "name of the table", Empty: "by the first file's name"},
		{Name: setTime, Help: "column of the time, or two, of the date and the time of day", Empty: "by the values"},
		{Name: setTimeFormat, Help: "how times are written: rfc3339, s, ms, us, ns or a layout of Go, strptime or Java", Empty: "by the values"},
		{Name: setTimeZone, Help: "zone of times without an offset, such as Europe/Athens", Empty: "UTC"},
		{Name: setTags, Help: "columns that are tags, which tell series apart, or none", Empty: "by the values"},
		{Name: setFields, Help: "columns that are fields, with types, as in fare:float", Empty: "by the values"},
		{Name: setColumns, Help: "names of the columns of CSV without a header", Empty: "the header's"},
		{Name: setDelimiter, Help: "of CSV: one character, or tab", Empty: "by the first line"},
		{Name: setDecimal, Help: "character for decimals in numbers of CSV, . or ,", Empty: "by the values"},
		{Name: setNull, Help: "text of a missing value, beside no text", Empty: "none"},
		{Name: setEncoding, Help: "of texts: utf-16, latin1, windows-1252 and others of one byte a character", Empty: "UTF-8, or UTF-16 by the first bytes"},
		{Name: setContent, Help: "digest of the files, as tsmark inspect shows it", Empty: "not compared"},
	}
}

// settingError is the error of a setting.
type settingError struct {
	setting string
	err     error
}

func (e *settingError) Error() string { return e.err.Error() }

func (e *settingError) Unwrap() error { return e.err }

func inSetting(setting string, err error) error {
	if err == nil {
		return nil
	}
	return &settingError{setting, err}
}

// readLayout reads the settings and finds the files. Its error is a *settingError.
func readLayout(v option.Values) (*layout, error) {
	l := &layout{pinned: v[setContent] != "", format: v[setFormat], table: v[setTable], time: v[setTime], timeFormat: v[setTimeFormat], null: v[setNull], encoding: v[setEncoding], timeZone: v[setTimeZone], decimal: v[setDecimal]}
	names, err := input.SplitNames(v[setFiles])
	if err == nil && len(names) == 0 {
		err = errors.New("names no file with rows; write own.files, as in --own files=trips.csv")
	}
	if err == nil {
		l.files, err = input.Expand(names)
	}
	if err != nil {
		return nil, inSetting(setFiles, err)
	}
	if err := input.CheckEncoding(l.encoding); err != nil {
		return nil, inSetting(setEncoding, err)
	}
	for i := range l.files {
		l.files[i].Encoding = l.encoding
	}
	if l.format == autoFormat {
		if l.format, err = formatOf(l.files[0]); err != nil {
			return nil, inSetting(setFiles, err)
		}
	}
	if l.encoding != "" && l.columnar() {
		return nil, inSetting(setEncoding, fmt.Errorf("is for texts, and %s is of format %s; leave it out", l.files[0].Name, l.format))
	}
	if err := checkFormat(l.format); err != nil {
		return nil, inSetting(setFiles, fmt.Errorf("%s: %w", l.files[0].Name, err))
	}
	if l.format == input.FormatArrow {
		for _, f := range l.files {
			err := witness.CheckMetadata(f.Name)
			if errors.Is(err, witness.ErrCut) {
				return nil, inSetting(setFiles, fmt.Errorf("%s: %w; %s", f.Name, err, input.CopyAgain))
			} else if err != nil {
				return nil, inSetting(setFiles, fmt.Errorf("%s: is not Arrow that can be read (%w); %s, or %s", f.Name, err, input.NameFormat, input.CopyAgain))
			}
		}
	}
	if l.timeFormat != "" {
		if _, err := input.NewClock(l.timeFormat); err != nil {
			return nil, inSetting(setTimeFormat, err)
		}
	}
	if l.timeZone != "" {
		if _, err := input.NewZone(l.timeZone); err != nil {
			return nil, inSetting(setTimeZone, err)
		}
	}
	if l.tags, err = input.ParseList(v[setTags]); err != nil {
		return nil, inSetting(setTags, err)
	}
	if v[setTags] == noTags {
		l.tags = []input.Section{}
	}
	if l.fields, err = input.ParseList(v[setFields]); err != nil {
		return nil, inSetting(setFields, err)
	}
	columns, err := input.ParseList(v[setColumns])
	if err != nil {
		return nil, inSetting(setColumns, err)
	}
	for _, s := range columns {
		for _, c := range s.Columns {
			l.columns = append(l.columns, c.Name)
		}
	}
	if len(l.columns) > 0 && l.format != input.FormatCSV {
		return nil, inSetting(setColumns, fmt.Errorf("are for CSV, and %s is of format %s; leave them out", l.files[0].Name, l.format))
	}
	switch d := v[setDelimiter]; {
	case d == "tab":
		l.delimiter = '\t'
	case len(d) == 1 && d != `"`:
		l.delimiter = d[0]
	case d != "":
		return nil, inSetting(setDelimiter, fmt.Errorf("must be one character or tab, not %q", d))
	}
	switch {
	case l.decimal != "" && l.decimal != "." && l.decimal != ",":
		return nil, inSetting(setDecimal, fmt.Errorf("must be a point or a comma, not %q", l.decimal))
	case l.decimal != "" && l.format != input.FormatCSV:
		return nil, inSetting(setDecimal, fmt.Errorf("is for CSV, and %s is of format %s; leave it out", l.files[0].Name, l.format))
	}
	if l.tagged() {
		if l.time != "" && l.time != input.TimeOfPoints {
			where := "line protocol has the time of a row at the end of its line"
			if l.format == input.FormatPaired {
				where = "timescaledb format has the time of a row behind its table"
			} else if l.format != input.FormatPoints {
				where = "the format has a place for it"
			}
			return nil, inSetting(setTime, fmt.Errorf("names a column, and %s; leave it out", where))
		}
		l.time = input.TimeOfPoints
	}
	if strings.ContainsAny(l.time, `,"`) {
		names, err := input.SplitNames(l.time)
		switch {
		case err != nil:
			return nil, inSetting(setTime, err)
		case len(names) > 2 || len(names) == 2 && !l.joinsTimes():
			return nil, inSetting(setTime, fmt.Errorf("names %d columns: two, of dates and times of day, make the time of CSV and JSON, and one that of other formats; a name with a comma is in double quotes", len(names)))
		case len(names) == 2:
			l.timeOfDay = names[1]
		}
		l.time = names[0]
	}
	return l, nil
}

// complete reports whether nothing is left to find out.
func (l *layout) complete() bool {
	return l.fields != nil && (l.tags != nil || l.pinned) && l.time != "" && l.timeFormat != "" && (l.table != "" || l.fields[0].Table != "") && (l.format != input.FormatCSV || l.delimiter != 0)
}

// settings returns what the layout says as settings, all of them.
func (l *layout) settings() map[string]string {
	s := map[string]string{
		setFormat: l.format, setTime: formatTime(l.time, l.timeOfDay), setTimeFormat: l.timeFormat, setFields: input.FormatList(l.fields), setTags: input.FormatList(l.tags), setNull: l.null, setEncoding: l.encoding, setTimeZone: l.timeZone,
	}
	if s[setTags] == noTags {
		s[setTags] = strconv.Quote(noTags)
	}
	if l.fields[0].Table == "" {
		s[setTable] = l.table
	}
	if l.tagged() {
		delete(s, setTime)
	}
	if l.format == input.FormatCSV && l.delimiter != ',' {
		s[setDelimiter] = string(l.delimiter)
		if l.delimiter == '\t' {
			s[setDelimiter] = "tab"
		}
	}
	if l.decimal == "," {
		s[setDecimal] = l.decimal
	}
	var names []input.Column
	for _, name := range l.columns {
		names = append(names, input.Column{Name: name})
	}
	if len(names) > 0 {
		s[setColumns] = input.FormatList([]input.Section{{Columns: names}})
	}
	maps.DeleteFunc(s, func(_, value string) bool { return value == "" })
	return s
}

// formatTime is the setting that names the columns of the time.
func formatTime(time, ofDay string) string {
	if strings.ContainsAny(time, `,"`) || ofDay != "" && strings.TrimSpace(time) != time {
		time = strconv.Quote(time)
	}
	if ofDay == "" {
		return time
	}
	if strings.ContainsAny(ofDay, `,"`) || strings.TrimSpace(ofDay) != ofDay {
		ofDay = strconv.Quote(ofDay)
	}
	return time + ", " + ofDay
}

func unknownTable(name string, names []string) error {
	return fmt.Errorf("no file has a table %q%s", name, suggest.NamesOr(name, names, "; there are "+input.ListSome(names)))
}

func unknownColumn(name string, names []string) error {
	return fmt.Errorf("no file has a column %q%s", name, suggest.NamesOr(name, names, "; there are "+input.ListSome(names)))
}

func (l *layout) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

func (p *profile) names() []string {
	var names []string
	for _, c := range p.columns {
		names = append(names, c.name)
	}
	return names
}

// A text column becomes a tag if it has at most fewTags values, or so few that each occurs
// rowsPerTag times on average, and no value is longer than longestTag bytes: such values are names
// rather than prose.
const (
	fewTags    = 100
	rowsPerTag = 5
	longestTag = 256
)

// choose makes a column a tag or a field, or skips it with a reason. If the settings list tags, or
// fields, a column that they do not name is neither.
func (l *layout) choose(c *columnProfile, userTags, userFields bool, rows int64, tags, fields *input.Section) {
	note := func(format string, args ...any) {
		if !userFields {
			l.note(format, args...)
		}
	}
	field := func(kind series.Type, size int) {
		if !userFields {
			fields.Columns = append(fields.Columns, input.Column{Name: c.name, Kind: kind, Size: size})
		}
	}
	kind, size := c.kind()
	few := !c.many && (c.distinct.Len() <= fewTags || int64(c.distinct.Len())*rowsPerTag <= rows)
	near, wrong, almost := c.almost()
	commas := c.commas > 0 && c.commas == c.notFloat.count
	odd := c.dressed > 0 && c.dressed+c.commas+c.notFloat.missing == c.notFloat.count
	switch {
	case c.name == "":
		note("a column without a name is left out; name the columns with own.columns, and give the file without its header")
	case c.left != "":
		note("column %s is left out: %s", c.name, c.left)
		if !userTags {
			l.lost = append(l.lost, fmt.Sprintf("column %s is left out: %s", c.name, c.left))
		}
	case !c.notUTF8.none():
		if !userTags && !c.tag && few && c.longest <= longestTag && (c.many || c.distinct.Len() > 1) {
			l.refuseMerge("column %s has %q in %s, which is not valid UTF-8; %s", c.name, c.notUTF8.texts[0], c.notUTF8.first.Place(), input.GiveEncoding)
		}
		l.note("column %s is left out: %q in %s is not valid UTF-8; %s", c.name, c.notUTF8.texts[0], c.notUTF8.first.Place(), input.GiveEncoding)
	case c.tag:
		if !userTags {
			tags.Columns = append(tags.Columns, input.Column{Name: c.name})
		}
	case kind == 0:
		note("column %s is left out: it has no values", c.name)
	case kind != series.Text:
		field(kind, 0)
		l.noteRounded(c, kind, note)
		if len(c.types) > 1 {
			note("column %s is %s, so it is %s; InfluxDB would refuse the later ones", c.name, c.typesText(), kind)
		}
		if kind.Integer() && c.typed == 0 && !l.tagged() && !c.many && c.distinct.Len() <= 20 && rows >= 10*int64(c.distinct.Len()) {
			note("field %s has %d different values: it may rather be a tag", c.name, c.distinct.Len())
		}
	case c.values == 0:
		field(kind, 0)
	case c.timesOfDay+c.oddTimesOfDay == c.values && !l.tagged():
		field(series.Text, 0)
		l.noteTimeOfDay(c, note)
	case c.notTime.outside == c.values:
		field(series.Text, 0)
		note("column %s is a text: all its times are outside the years %d to %d, the first is %q in %s; leave it out of fields, or give --null (own.null) for what stands for a missing time",
			c.name, input.MinYear, input.MaxYear, c.notTime.texts[0], c.notTime.first.Place())
	case few && !userTags && !almost && !commas && !odd && len(c.types) < 2 && !l.tagged() && c.longest <= longestTag:
		tags.Columns = append(tags.Columns, input.Column{Name: c.name})
		if !userFields {
			if l.asFields == nil {
				l.asFields = make(map[string]map[string]input.Column)
			}
			if l.asFields[tags.Table] == nil {
				l.asFields[tags.Table] = make(map[string]input.Column)
			}
			l.asFields[tags.Table][c.name] = input.Column{Name: c.name, Kind: kind, Size: size}
		}
		l.noteMixed(c, "taken for a tag", "name the column in fields if it is not a tag")
	case c.longest > series.MaxFreeText:
		note("column %s is left out: it has a text of %d bytes, and fields have at most %d", c.name, c.longest, series.MaxFreeText)
	default:
		field(kind, size)
		switch {
		case userFields:
		case almost:
			l.noteAlmost(c, near, wrong)
		case commas:
			l.note("column %s has numbers with commas, such as %q in %s, so it is a text; --decimal , (own.decimal) reads the comma as that of decimals; write them with nothing for thousands",
				c.name, c.notFloat.texts[0], c.notFloat.first.Place())
		case odd:
			l.note("column %s has numbers with other signs, such as %q in %s, so it is a text; write digits alone, with a point for the decimals", c.name, c.firstDressed.text, c.firstDressed.at.Place())
		case len(c.types) > 1:
			l.note("column %s is %s, so it is a text; write one type for all values, or leave the column out of fields", c.name, c.typesText())
		default:
			l.noteMixed(c, "a text", "write one type for all values, or leave the column out of fields")
		}
	}
}

// refuseMerge stores the first tag that cannot be loaded, and without which series would become one.
func (l *layout) refuseMerge(format string, args ...any) {
	if l.merging == nil {
		l.merging = inSetting(setTags, fmt.Errorf("%s, or name all tags (own.tags, --tags) to load the rows without it, by which series may become one", fmt.Sprintf(format, args...)))
	}
}

// typesText lists the types of a column with the place of the first value of each.
func (c *columnProfile) typesText() string {
	var text strings.Builder
	for i, t := range c.types {
		switch {
		case i > 0 && i == len(c.types)-1:
			text.WriteString(" and ")
		case i > 0:
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%s in %s", t.kind, t.at)
	}
	return text.String()
}

// noteTimeOfDay notes how a column of times of day can become part of the time.
func (l *layout) noteTimeOfDay(c *columnProfile, note func(format string, args ...any)) {
	switch {
	case !l.joinsTimes():
		note("column %s has times of day, and is a text: only CSV and JSON have the time in two columns", c.name)
	case l.timeOfDay != "":
		note("column %s has times of day, and is a text", c.name)
	default:
		note("column %s has times of day, and is a text; if it belongs to the time, name both: --time-column %s (own.time), and --time-format unless they are written as 2006-01-02 and 15:04:05",
			c.name, shellName(formatTime(l.time, c.name)))
	}
}

// noteMixed notes that at least half of the values of a tag or a text are numbers or times; fix is
// the advice.
func (l *layout) noteMixed(c *columnProfile, what, fix string) {
	numbers, times := c.values-c.notFloat.count, c.values-c.notTime.count
	o, kind, n := &c.notFloat, "numbers", numbers
	if c.notFloat.gaveUp || numbers < times {
		o, kind, n = &c.notTime, "times", times
	}
	switch {
	case o.gaveUp || o.none() || c.code || c.typed != 0 || 2*n < c.values: // they are names
	case kind == "numbers" && 2*(c.values-c.quoted) < c.values:
	default:
		l.note("column %s is %s, though %s of %s values are %s; the first other value is %q in %s; %s",
			c.name, what, humanize.Comma(n), humanize.Comma(c.values), kind, o.texts[0], o.first.Place(), fix)
	}
}

// noteRounded notes that floats cannot represent all values of a column exactly.
func (l *layout) noteRounded(c *columnProfile, kind series.Type, note func(format string, args ...any)) {
	switch {
	case kind != series.Float:
	case c.rounded != nil:
		note("column %s is %s, which rounds %s in %s: it keeps %d to %d digits", c.name, kind, c.rounded.text, c.rounded.at.Place(), columnar.DigitsOfFloats, columnar.DigitsOfFloats+2)
	case c.digits > columnar.DigitsOfFloats:
		note("column %s has decimals of %d digits and is %s, which keeps %d to %d", c.name, c.digits, kind, columnar.DigitsOfFloats, columnar.DigitsOfFloats+2)
	case c.typed != 0 && c.least <= c.most && (c.most > input.MaxExact || c.least < -input.MaxExact):
		note("column %s is %s for its decimals, and has whole numbers of more than 53 bits, and rounds some of these", c.name, kind)
	}
}

// timeColumns returns the columns of the time: the column of dates and that of times of day, if
// there are two.
func (l *layout) timeColumns() []string {
	if l.timeOfDay != "" {
		return []string{l.time, l.timeOfDay}
	}
	return []string{l.time}
}
