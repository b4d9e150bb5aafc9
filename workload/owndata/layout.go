package owndata

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// layout says how the rows of files become tables: the settings, read.
type layout struct {
	files      []inputFile
	format     string
	table      string // of the only table; empty: not known yet
	time       string // column; empty: not known yet
	timeFormat string // empty: not known yet
	columns    []string
	delimiter  byte // 0: not known yet
	null       string
	tags       []section
	fields     []section // nil: not known yet

	notes []string // what who proposed the rest should tell, each a line
}

// The settings of the workload, by name.
const (
	setFiles      = "files"
	setFormat     = "format"
	setTable      = "table"
	setTime       = "time"
	setTimeFormat = "time-format"
	setTags       = "tags"
	setFields     = "fields"
	setColumns    = "columns"
	setDelimiter  = "delimiter"
	setNull       = "null"
	setContent    = "content"
)

const autoFormat = "auto"

// options lists the settings.
func options() []option.Option {
	return []option.Option{
		{Name: setFormat, Type: option.Choice(append([]string{autoFormat}, Formats()...)...), Default: autoFormat, Help: "format of the files"},
		{Name: setFiles, Help: "files, folders and patterns, separated by commas", Empty: "none"},
		{Name: setTable, Help: "name of the table", Empty: "by the first file's name"},
		{Name: setTime, Help: "column of the time", Empty: "by the values"},
		{Name: setTimeFormat, Help: "how times are written: rfc3339, s, ms, us, ns or a layout of Go", Empty: "by the values"},
		{Name: setTags, Help: "columns that are tags, which tell series apart", Empty: "by the values, where there are no fields"},
		{Name: setFields, Help: "columns that are fields, with types, as in fare:float", Empty: "by the values"},
		{Name: setColumns, Help: "names of the columns of CSV without a header", Empty: "the header's"},
		{Name: setDelimiter, Help: "of CSV: one character, or tab", Empty: "by the first line"},
		{Name: setNull, Help: "text of a missing value, beside no text", Empty: "none"},
		{Name: setContent, Help: "digest of the files, as tsmark inspect shows it", Empty: "not compared"},
	}
}

// settingError is what is wrong with a setting.
type settingError struct {
	setting string
	err     error
}

func (e *settingError) Error() string { return e.err.Error() }

func (e *settingError) Unwrap() error { return e.err }

func of(setting string, err error) error {
	if err == nil {
		return nil
	}
	return &settingError{setting, err}
}

// readLayout reads the settings and finds the files. Its error is a *settingError.
func readLayout(v option.Values) (*layout, error) {
	l := &layout{format: v[setFormat], table: v[setTable], time: v[setTime], timeFormat: v[setTimeFormat], null: v[setNull]}
	names, err := splitNames(v[setFiles])
	if err == nil && len(names) == 0 {
		err = errors.New("names no file with rows; write own.files, as in --own files=trips.csv")
	}
	if err == nil {
		l.files, err = expand(names)
	}
	if err != nil {
		return nil, of(setFiles, err)
	}
	if l.format == autoFormat {
		if l.format, err = formatOf(l.files[0]); err != nil {
			return nil, of(setFiles, err)
		}
	}
	if l.timeFormat != "" {
		if _, err := newClock(l.timeFormat); err != nil {
			return nil, of(setTimeFormat, err)
		}
	}
	if l.tags, err = parseList(v[setTags]); err != nil {
		return nil, of(setTags, err)
	}
	if l.fields, err = parseList(v[setFields]); err != nil {
		return nil, of(setFields, err)
	}
	columns, err := parseList(v[setColumns])
	if err != nil {
		return nil, of(setColumns, err)
	}
	for _, s := range columns {
		for _, c := range s.columns {
			l.columns = append(l.columns, c.name)
		}
	}
	if len(l.columns) > 0 && l.format != formatCSV {
		return nil, of(setColumns, fmt.Errorf("are for CSV, and %s is of format %s; leave them out", l.files[0].name, l.format))
	}
	switch d := v[setDelimiter]; {
	case d == "tab":
		l.delimiter = '\t'
	case len(d) == 1 && d != `"`:
		l.delimiter = d[0]
	case d != "":
		return nil, of(setDelimiter, fmt.Errorf("must be one character or tab, not %q", d))
	}
	if l.format == formatPoints && l.time == "" {
		l.time = timeOfPoints
	}
	return l, nil
}

// splitNames splits at commas outside of double quotes.
func splitNames(text string) ([]string, error) {
	var names []string
	for text = strings.TrimLeft(text, ", \t\n"); text != ""; text = strings.TrimLeft(text, ", \t\n") {
		name := text
		if text[0] == '"' {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, fmt.Errorf("%s is no name in quotes", text)
			}
			name, _ = strconv.Unquote(quoted)
			text = text[len(quoted):]
		} else {
			name, text, _ = strings.Cut(text, ",")
		}
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// complete reports whether nothing is left to find out.
func (l *layout) complete() bool {
	return l.fields != nil && l.time != "" && l.timeFormat != "" && (l.table != "" || l.fields[0].table != "") && (l.format != formatCSV || l.delimiter != 0)
}

// settings returns what the layout says as settings, all of them.
func (l *layout) settings() map[string]string {
	s := map[string]string{
		setFormat: l.format, setTime: l.time, setTimeFormat: l.timeFormat, setFields: formatList(l.fields), setTags: formatList(l.tags), setNull: l.null,
	}
	if l.fields[0].table == "" {
		s[setTable] = l.table
	}
	if l.format == formatPoints {
		delete(s, setTime)
	}
	if l.format == formatCSV && l.delimiter != ',' {
		s[setDelimiter] = string(l.delimiter)
		if l.delimiter == '\t' {
			s[setDelimiter] = "tab"
		}
	}
	var names []column
	for _, name := range l.columns {
		names = append(names, column{name: name})
	}
	if len(names) > 0 {
		s[setColumns] = formatList([]section{{columns: names}})
	}
	maps.DeleteFunc(s, func(_, value string) bool { return value == "" })
	return s
}

// delimiters are those that are looked for, the likeliest first.
const delimiters = ",;\t|"

// findDelimiter tells the delimiter by the first line.
func (l *layout) findDelimiter() error {
	in, err := open(l.files[0])
	if err != nil {
		return err
	}
	defer in.Close()
	line, err := newLineReader(in).next()
	if err != nil {
		return &Error{File: l.files[0].name, Line: 1, Err: err}
	}
	most := 0
	l.delimiter = delimiters[0]
	for _, d := range []byte(delimiters) {
		if n := strings.Count(string(line), string(d)); n > most {
			most, l.delimiter = n, d
		}
	}
	return nil
}

// propose finds out what the settings leave out, by a pass over all rows. Its error is a
// *settingError.
func (l *layout) propose(ctx context.Context, progress func(rows int)) error {
	if l.format == formatCSV && l.delimiter == 0 {
		if err := l.findDelimiter(); err != nil {
			return of(setFiles, err)
		}
	}
	if l.complete() {
		return nil
	}
	p := &profiler{layout: l, progress: progress, ctx: ctx}
	var all []*profile
	for _, f := range l.files {
		found, err := p.file(f)
		if err != nil {
			return of(setFiles, err)
		}
		if l.format == formatPoints {
			all = join(all, found)
		} else {
			all = append(all, found...)
		}
	}
	if l.format != formatPoints && !l.apart(all) {
		one := all[0]
		for _, other := range all[1:] {
			one.merge(other)
		}
		all = []*profile{one}
		one.name = l.table
		if one.name == "" {
			one.name = tableName(l.files[0].name)
		}
	}
	if len(all) == 0 || all[0].rows == 0 {
		return of(setFiles, fmt.Errorf("%s has no rows; give a file with rows, or leave it out", l.files[0].name))
	}
	return l.fill(all)
}

// join adds profiles to those of the same name.
func join(all, more []*profile) []*profile {
	for _, p := range more {
		if at := slices.IndexFunc(all, func(q *profile) bool { return q.name == p.name }); at >= 0 {
			all[at].merge(p)
		} else {
			all = append(all, p)
		}
	}
	return all
}

// merge adds what is known of another file.
func (p *profile) merge(other *profile) {
	p.rows += other.rows
	for _, c := range other.columns {
		p.column(c.name).merge(c)
	}
}

// apart reports whether each file is a table of its own: the settings say so, or the
// files have less than half of their columns in common, texts and times left out.
func (l *layout) apart(all []*profile) bool {
	switch {
	case len(all) < 2 || l.table != "":
		return false
	case l.fields != nil:
		return l.fields[0].table != ""
	}
	first := all[0].amounts()
	for _, p := range all[1:] {
		common, columns := 0, p.amounts()
		for _, name := range columns {
			if slices.Contains(first, name) {
				common++
			}
		}
		if p.rows > 0 && 2*common < max(len(columns), len(first)) {
			return true
		}
	}
	return false
}

// amounts are the names of columns that hold neither texts nor times.
func (p *profile) amounts() []string {
	var names []string
	for _, c := range p.columns {
		if kind, _ := c.kind(); kind != 0 && kind != series.Text && kind != series.Timestamp {
			names = append(names, c.name)
		}
	}
	return names
}

// tableName makes the name of a table from that of a file: yellow_tripdata of
// yellow_tripdata_2024-01.parquet.
func tableName(file string) string {
	begin := withoutExtension(file)
	if at := strings.IndexFunc(begin, func(r rune) bool { return r != '_' && r != '-' && (r|0x20 < 'a' || r|0x20 > 'z') }); at >= 0 {
		begin = begin[:at]
	}
	if begin = strings.ReplaceAll(strings.Trim(begin, "_-"), "-", "_"); begin == "" {
		return "data"
	}
	return begin
}

// fill takes what the settings leave out from profiles of the tables.
func (l *layout) fill(all []*profile) error {
	if l.time == "" {
		c := timeOf(all[0])
		if c == nil {
			return of(setTime, fmt.Errorf("no column of %s holds times; name one with own.time, or --time-column", l.files[0].name))
		}
		l.time = c.name
	}
	var zoneless int64
	unit := ""
	for _, p := range all {
		c := p.byName[l.time]
		if c == nil || c.values == 0 {
			return of(setTime, fmt.Errorf("table %s has no column %q with times; it has %s", p.name, l.time, some(p.names())))
		}
		zoneless += c.zoneless
		format, ok := c.timeFormat()
		if !ok {
			return of(setTime, fmt.Errorf("column %s of table %s has values that are no times; name another, or say with own.time-format how they are written", l.time, p.name))
		}
		if unit != "" && unit != format && l.timeFormat == "" {
			return of(setTimeFormat, fmt.Errorf("times of table %s look like %s, and those before like %s; say which with own.time-format", p.name, format, unit))
		}
		unit = format
	}
	if l.timeFormat == "" {
		l.timeFormat = unit
	}
	if zoneless > 0 && (l.timeFormat == asText || l.timeFormat == asColumn) {
		l.note("%d times have no zone, and are taken as UTC", zoneless)
	}
	if len(all) == 1 && (l.fields == nil || l.fields[0].table == "") {
		l.table = all[0].name
	}
	if l.fields != nil {
		return nil
	}
	given := l.tags != nil
	for _, p := range all {
		tags, fields := section{table: p.name}, section{table: p.name}
		if len(all) == 1 {
			tags.table, fields.table = "", ""
		}
		for _, c := range p.columns {
			l.choose(c, given, p.rows, &tags, &fields)
		}
		if len(fields.columns) == 0 {
			return of(setFields, fmt.Errorf("table %s has no column that can be a field; fields are numbers, truth values, times, and texts of at most %d bytes of UTF-8 that are no tags", p.name, series.MaxFreeText))
		}
		if !given && len(tags.columns) > 0 {
			l.tags = append(l.tags, tags)
		}
		l.fields = append(l.fields, fields)
	}
	return nil
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

// Text columns become tags where they have no more values than fewTags, or so few that
// each comes rowsPerTag times in the mean, and none is longer than longestTag bytes: then
// they are names rather than prose.
const (
	fewTags    = 100
	rowsPerTag = 5
	longestTag = 256
)

// choose makes a column a tag or a field, or leaves it out and says why.
func (l *layout) choose(c *columnProfile, given bool, rows int64, tags, fields *section) {
	switch {
	case c.name == l.time:
		return
	case given && slices.ContainsFunc(l.tags, func(s section) bool {
		return s.table == tags.table && slices.ContainsFunc(s.columns, func(t column) bool { return t.name == c.name })
	}):
		return
	}
	kind, size := c.kind()
	few := !c.many && (c.distinct.Len() <= fewTags || int64(c.distinct.Len())*rowsPerTag <= rows)
	switch {
	case c.tag:
		tags.columns = append(tags.columns, column{name: c.name})
	case kind == 0:
		l.note("column %s is left out: it has no values, or values of a type that cannot be loaded", c.name)
	case kind != series.Text:
		fields.columns = append(fields.columns, column{c.name, kind, 0})
		if kind.Integer() && c.typed == 0 && !c.many && c.distinct.Len() <= 20 && rows >= 10*int64(c.distinct.Len()) {
			l.note("field %s has %d different values: it may rather be a tag", c.name, c.distinct.Len())
		}
	case few && !given && l.format != formatPoints && c.longest <= longestTag:
		tags.columns = append(tags.columns, column{name: c.name})
	case c.noUTF8:
		l.note("column %s is left out: it has texts that are no UTF-8", c.name)
	case c.longest > series.MaxFreeText:
		l.note("column %s is left out: it has a text of %d bytes, and fields have at most %d", c.name, c.longest, series.MaxFreeText)
	default:
		fields.columns = append(fields.columns, column{c.name, kind, size})
	}
}

// timeFormat tells how the times of a column are written; false: they are none.
func (c *columnProfile) timeFormat() (string, bool) {
	switch kind, _ := c.kind(); kind {
	case series.Timestamp, series.Date:
		if c.typed == kind {
			return asColumn, true
		}
		return asText, true
	case series.Int, series.Int32:
		return unitOf(max(c.most, -c.least)), true
	case series.Float: // with decimals of a second
		if c.typed == 0 {
			return perSecond, true
		}
	}
	return "", false
}

// timeOf chooses the column that is most likely the time; nil: none can be.
func timeOf(p *profile) *columnProfile {
	var best *columnProfile
	most := 0
	for _, c := range p.columns {
		if score := c.timeScore(); score > most {
			best, most = c, score
		}
	}
	return best
}

// timeScore is how likely a column is the time of rows; 0: it is not.
func (c *columnProfile) timeScore() int {
	named := 0
	switch name := strings.ToLower(c.name); {
	case slices.Contains([]string{"time", "timestamp", "ts", "_time", "datetime", "date_time", "date time"}, name):
		named = 3
	case strings.Contains(name, "time"):
		named = 2
	case strings.Contains(name, "date"):
		named = 1
	}
	if c.values == 0 || c.tag {
		return 0
	}
	switch kind, _ := c.kind(); kind {
	case series.Timestamp:
		return 20 + named
	case series.Date:
		return 10 + named
	case series.Int:
		// Between 1980 and 2100.
		for _, u := range units {
			if in := 1e9 / float64(u.ns); float64(c.least) >= 3.1e8*in && float64(c.most) <= 4.2e9*in {
				return 11 + named
			}
		}
	}
	return 0
}
