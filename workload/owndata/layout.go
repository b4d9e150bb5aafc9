package owndata

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/owndata/witness"
)

// layout says how the rows of files become tables: the settings, read.
type layout struct {
	files      []inputFile
	format     string
	table      string // of the only table; empty: not known yet
	time       string // column; empty: not known yet
	timeOfDay  string // column of the times of day, where time has dates alone; empty: none
	timeFormat string // empty: not known yet
	columns    []string
	delimiter  byte // 0: not known yet
	null       string
	tags       []section
	fields     []section // nil: not known yet
	pinned     bool      // the settings hold a digest, so that tags that they leave out are none
	found      bool      // that the files have the columns was seen
	tagsFound  bool      // by their values, and not by settings or line protocol

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

const (
	autoFormat = "auto"
	noTags     = "none" // of tags; a column of that name stands in double quotes
)

// options lists the settings.
func options() []option.Option {
	return []option.Option{
		{Name: setFormat, Type: option.Choice(append([]string{autoFormat}, Formats()...)...), Default: autoFormat, Help: "format of the files"},
		{Name: setFiles, Help: "files, folders and patterns, separated by commas", Empty: "none"},
		{Name: setTable, Help: "name of the table", Empty: "by the first file's name"},
		{Name: setTime, Help: "column of the time, or two, of the date and the time of day", Empty: "by the values"},
		{Name: setTimeFormat, Help: "how times are written: rfc3339, s, ms, us, ns or a layout of Go", Empty: "by the values"},
		{Name: setTags, Help: "columns that are tags, which tell series apart, or none", Empty: "by the values"},
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
	l := &layout{pinned: v[setContent] != "", format: v[setFormat], table: v[setTable], time: v[setTime], timeFormat: v[setTimeFormat], null: v[setNull]}
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
	if l.format == formatArrow {
		for _, f := range l.files {
			err := witness.CheckMetadata(f.name)
			if errors.Is(err, witness.ErrCut) {
				return nil, of(setFiles, fmt.Errorf("%s: %w; %s", f.name, err, copyAgain))
			} else if err != nil {
				return nil, of(setFiles, fmt.Errorf("%s: is no Arrow that can be read (%w); %s, or %s", f.name, err, giveFormat, copyAgain))
			}
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
	if v[setTags] == noTags {
		l.tags = []section{}
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
	if l.tagged() {
		if l.time != "" && l.time != timeOfPoints {
			where := "line protocol has the time of a row at the end of its line"
			if l.format == formatPaired {
				where = "timescaledb format has the time of a row behind its table"
			}
			return nil, of(setTime, fmt.Errorf("names a column, and %s; leave it out", where))
		}
		l.time = timeOfPoints
	}
	if strings.ContainsAny(l.time, `,"`) {
		names, err := splitNames(l.time)
		switch {
		case err != nil:
			return nil, of(setTime, err)
		case len(names) > 2 || len(names) == 2 && !l.joinsTimes():
			return nil, of(setTime, fmt.Errorf("names %d columns: two, of dates and times of day, make the time of CSV and JSON, and one that of other formats; a name with a comma stands in double quotes", len(names)))
		case len(names) == 2:
			l.timeOfDay = names[1]
		}
		l.time = names[0]
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
	return l.fields != nil && (l.tags != nil || l.pinned) && l.time != "" && l.timeFormat != "" && (l.table != "" || l.fields[0].table != "") && (l.format != formatCSV || l.delimiter != 0)
}

// settings returns what the layout says as settings, all of them.
func (l *layout) settings() map[string]string {
	s := map[string]string{
		setFormat: l.format, setTime: formatTime(l.time, l.timeOfDay), setTimeFormat: l.timeFormat, setFields: formatList(l.fields), setTags: formatList(l.tags), setNull: l.null,
	}
	if s[setTags] == noTags {
		s[setTags] = strconv.Quote(noTags)
	}
	if l.fields[0].table == "" {
		s[setTable] = l.table
	}
	if l.tagged() {
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

// findDelimiter tells the delimiter of CSV by the first file.
func (l *layout) findDelimiter() error {
	in, err := open(l.files[0])
	if err != nil {
		return err
	}
	defer in.Close()
	if l.delimiter, err = findDelimiter(in); err != nil {
		return &Error{File: l.files[0].name, Line: 1, Err: err}
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
	p := newProfiler(ctx, l, progress)
	var all []*profile
	measurements := make(map[string]*profile)
	for _, f := range l.files {
		found, err := p.file(f)
		if err != nil {
			return of(setFiles, err)
		}
		for _, one := range found {
			if known := measurements[one.name]; l.tagged() && known != nil {
				known.merge(one)
			} else {
				all, measurements[one.name] = append(all, one), one
			}
		}
	}
	if !l.tagged() && !l.apart(all) {
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

// merge adds what is known of another file.
func (p *profile) merge(other *profile) {
	p.rows += other.rows
	for _, c := range other.columns {
		p.column(c.name).merge(c, p.file, other.file)
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

// fill takes what the settings leave out from profiles of the tables, and holds what they
// name to these.
func (l *layout) fill(all []*profile) error {
	all, err := l.chosen(all)
	if err != nil {
		return err
	}
	if err := l.fillTime(all); err != nil {
		return err
	}
	if err := l.known(setTags, l.tags, all); err != nil {
		return err
	}
	if err := l.known(setFields, l.fields, all); err != nil {
		return err
	}
	l.found = true
	if len(all) == 1 && (l.fields == nil || l.fields[0].table == "") {
		l.table = all[0].name
	}
	wantTags, wantFields := l.tags == nil && !l.pinned, l.fields == nil
	listed := map[string]map[string]map[string]bool{setTags: columnsOf(l.tags), setFields: columnsOf(l.fields)}
	for _, p := range all {
		tags, fields := section{table: p.name}, section{table: p.name}
		if len(all) == 1 && (wantFields || l.fields[0].table == "") {
			tags.table, fields.table = "", ""
		}
		if !wantFields && listed[setFields][fields.table] == nil {
			continue // a table of which the settings name no field
		}
		for _, c := range p.columns {
			inTags, inFields := listed[setTags][tags.table][c.name], listed[setFields][fields.table][c.name]
			switch {
			case l.tagged(): // whose lines say what is a tag, and what a field
				if c.tag && !inTags || !c.tag && !inFields {
					l.choosePoint(c, p, !wantTags, !wantFields, &tags, &fields)
				}
			case !slices.Contains(l.timeColumns(), c.name) && !inTags && !inFields:
				l.choose(c, !wantTags, !wantFields, p.rows, &tags, &fields)
			}
		}
		if wantFields {
			if len(fields.columns) == 0 {
				return of(setFields, l.noField(p))
			}
			l.fields = append(l.fields, fields)
		}
		if wantTags && len(tags.columns) > 0 {
			l.tags = append(l.tags, tags)
			l.tagsFound = !l.tagged()
		}
	}
	return nil
}

// columnsOf returns the names of the columns of a list, by table.
func columnsOf(list []section) map[string]map[string]bool {
	names := make(map[string]map[string]bool, len(list))
	for _, s := range list {
		if names[s.table] == nil {
			names[s.table] = make(map[string]bool, len(s.columns))
		}
		for _, c := range s.columns {
			names[s.table][c.name] = true
		}
	}
	return names
}

// choosePoint is choose of a tag or field of line protocol. Names are those of columns in
// most systems, so that a field cannot have the one of the time or of a tag.
func (l *layout) choosePoint(c *columnProfile, p *profile, givenTags, givenFields bool, tags, fields *section) {
	what, given := "field", givenFields
	if c.tag {
		what, given = "tag", givenTags
	}
	switch {
	case c.name == timeOfPoints:
		if !given {
			l.note("%s %s of table %s is left out: the time of rows has its name, so that InfluxDB refuses it, too; rename it in the file", what, c.name, p.name)
		}
		return
	case !c.tag && p.tags[c.name] != nil:
		if kind, size := c.kind(); kind != 0 && !given {
			l.note("field %s of table %s is left out: a tag has its name; rename one of them in the file, or add %s:%s to fields for a target that can hold both", c.name, p.name, quoteName(c.name), typeName(kind, size))
		}
		return
	}
	l.choose(c, givenTags, givenFields, p.rows, tags, fields)
}

// noField is the error of a table without a column that can be a field.
func (l *layout) noField(p *profile) error {
	why := ""
	for _, note := range l.notes[:min(len(l.notes), 3)] {
		why += "; " + note
	}
	return fmt.Errorf("table %s has no column that can be a field; fields are numbers, truth values, times, and texts of at most %d bytes of UTF-8 that are no tags%s",
		p.name, series.MaxFreeText, why)
}

// chosen are the profiles of those tables that the settings choose.
func (l *layout) chosen(all []*profile) ([]*profile, error) {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	one := l.fields == nil || l.fields[0].table == ""
	switch {
	case l.tagged() && l.table != "" && one:
		at := slices.Index(names, l.table)
		if at < 0 {
			return nil, of(setTable, fmt.Errorf("no file has a measurement %q%s", l.table, suggest.NamesOr(l.table, names, "; there are "+some(names))))
		}
		return all[at : at+1], nil
	case len(all) > 1 && len(l.tags) > 0 && l.tags[0].table == "":
		return nil, of(setTags, fmt.Errorf("the files have several tables, %s: write the tags of each in brackets, as in %s(%s)", some(names), quoteName(names[0]), formatList(l.tags)))
	case len(all) > 1 && l.fields != nil && one:
		return nil, of(setFields, fmt.Errorf("the files have several tables, %s: write the fields of each in brackets, as in %s(%s)", some(names), quoteName(names[0]), formatList(l.fields)))
	}
	return all, nil
}

// known returns an error where a list of the settings names a table or a column that no
// file has.
func (l *layout) known(setting string, list []section, all []*profile) error {
	for _, s := range list {
		in := all[0]
		if s.table != "" && (len(all) > 1 || l.tagged()) {
			at := slices.IndexFunc(all, func(p *profile) bool { return p.name == s.table })
			if at < 0 {
				var names []string
				for _, p := range all {
					names = append(names, p.name)
				}
				return of(setting, unknownTable(s.table, names))
			}
			in = all[at]
		}
		names := in.names()
		if l.tagged() { // of which the lines say what is a tag, and what a field
			names = in.pointNames(setting == setTags)
		}
		for _, c := range s.columns {
			switch {
			case slices.Contains(names, c.name):
			case l.tagged() && (in.byName[c.name] != nil || in.tags[c.name] != nil):
				return of(setting, fmt.Errorf("the lines of table %s have %q as a tag where fields name it, or the other way round; move it to the other list", in.name, c.name))
			default:
				return of(setting, unknownColumn(c.name, names))
			}
		}
	}
	return nil
}

// pointNames are the names of the tags, or of the fields, of lines.
func (p *profile) pointNames(tags bool) []string {
	var names []string
	for _, c := range p.columns {
		if c.tag == tags {
			names = append(names, c.name)
		}
	}
	return names
}

func unknownTable(name string, names []string) error {
	return fmt.Errorf("no file has a table %q%s", name, suggest.NamesOr(name, names, "; there are "+some(names)))
}

func unknownColumn(name string, names []string) error {
	return fmt.Errorf("no file has a column %q%s", name, suggest.NamesOr(name, names, "; there are "+some(names)))
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

// choose makes a column a tag or a field, or leaves it out and says why. Tags, or fields,
// may be given: then a column is none that the settings do not name.
func (l *layout) choose(c *columnProfile, givenTags, givenFields bool, rows int64, tags, fields *section) {
	note := func(format string, args ...any) {
		if !givenFields {
			l.note(format, args...)
		}
	}
	field := func(kind series.Type, size int) {
		if !givenFields {
			fields.columns = append(fields.columns, column{c.name, kind, size})
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
	case !c.notUTF8.none():
		l.note("column %s is left out: %q in %s is not valid UTF-8; convert the file", c.name, c.notUTF8.texts[0], c.notUTF8.first.where())
	case c.tag:
		if !givenTags {
			tags.columns = append(tags.columns, column{name: c.name})
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
			c.name, minYear, maxYear, c.notTime.texts[0], c.notTime.first.where())
	case few && !almost && !commas && !odd && len(c.types) < 2 && !l.tagged() && c.longest <= longestTag:
		if !givenTags {
			tags.columns = append(tags.columns, column{name: c.name})
			l.noteTag(c)
		} else {
			field(kind, size)
		}
	case c.longest > series.MaxFreeText:
		note("column %s is left out: it has a text of %d bytes, and fields have at most %d", c.name, c.longest, series.MaxFreeText)
	default:
		field(kind, size)
		switch {
		case givenFields:
		case almost:
			l.noteAlmost(c, near, wrong)
		case commas:
			l.note("column %s has numbers with commas, such as %q in %s, so it is a text; write them with a point for the decimals, and with nothing for thousands",
				c.name, c.notFloat.texts[0], c.notFloat.first.where())
		case odd:
			l.note("column %s has numbers with other signs, such as %q in %s, so it is a text; write digits alone, with a point for the decimals", c.name, c.firstDressed.text, c.firstDressed.at.where())
		case len(c.types) > 1:
			l.note("column %s is %s, so it is a text; write one type for all values, or leave the column out of fields", c.name, c.typesText())
		}
	}
}

// typesText lists the types of a column and where each stands first.
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

// noteTimeOfDay says of a column of times of day how they become part of the time.
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

// noteTag says of a tag that most of its values are numbers or times.
func (l *layout) noteTag(c *columnProfile) {
	numbers, times := c.values-c.notFloat.count, c.values-c.notTime.count
	o, kind, n := &c.notFloat, "numbers", numbers
	if c.notFloat.gaveUp || numbers < times {
		o, kind, n = &c.notTime, "times", times
	}
	switch {
	case o.gaveUp || o.none() || c.code || c.typed != 0 || 2*n < c.values: // they are names
	case kind == "numbers" && 2*(c.values-c.quoted) < c.values:
	default:
		l.note("column %s is taken for a tag, though %s of %s values are %s; the first other value is %q in %s; name the column in fields if it is no tag",
			c.name, humanize.Comma(n), humanize.Comma(c.values), kind, o.texts[0], o.first.where())
	}
}

// noteRounded says of a column of floats that these do not hold all that is written.
func (l *layout) noteRounded(c *columnProfile, kind series.Type, note func(format string, args ...any)) {
	switch {
	case kind != series.Float:
	case c.rounded != nil:
		note("column %s is %s, which rounds %s in %s: it keeps %d to %d digits", c.name, kind, c.rounded.text, c.rounded.at.where(), digitsOfFloats, digitsOfFloats+2)
	case c.digits > digitsOfFloats:
		note("column %s has decimals of %d digits and is %s, which keeps %d to %d", c.name, c.digits, kind, digitsOfFloats, digitsOfFloats+2)
	case c.typed != 0 && c.least <= c.most && (c.most > exact || c.least < -exact):
		note("column %s is %s for its decimals, and has whole numbers of more than 53 bits, some of which that rounds", c.name, kind)
	}
}
