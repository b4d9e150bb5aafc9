package owndata

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/delimited"
	"github.com/tsmark/tsmark/workload/file/input"
)

// findDelimiter detects the delimiter of CSV from the first file.
func (l *layout) findDelimiter() error {
	in, err := input.Open(l.files[0])
	if err != nil {
		return err
	}
	defer in.Close()
	if l.delimiter, err = delimited.FindDelimiter(in); err != nil {
		return &input.Error{File: l.files[0].Name, Line: 1, Err: err}
	}
	return nil
}

// propose finds out what the settings leave out, by a pass over all rows. Its error is a
// *settingError.
func (l *layout) propose(ctx context.Context, progress func(rows int)) error {
	if l.format == input.FormatCSV && l.delimiter == 0 {
		if err := l.findDelimiter(); err != nil {
			return inSetting(setFiles, err)
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
			return inSetting(setFiles, err)
		}
		for _, one := range found {
			if known := measurements[one.name]; l.tagged() && known != nil {
				known.merge(one)
			} else {
				all, measurements[one.name] = append(all, one), one
			}
		}
	}
	if p.commaCells > 0 && p.pointCells == 0 {
		l.decimal = ","
		l.note("the comma in numbers such as %q in %s is taken for the decimal point; own.decimal=., or --decimal ., reads them as texts", p.firstComma.text, p.firstComma.at.Place())
		return l.propose(ctx, progress)
	}
	if !l.tagged() && !l.separate(all) {
		one := all[0]
		for _, other := range all[1:] {
			one.merge(other)
		}
		all = []*profile{one}
		one.name = l.table
		if one.name == "" {
			one.name = tableName(l.files[0].Name)
		}
	}
	if len(all) == 0 || all[0].rows == 0 {
		if err := p.bad.err(nil); err != nil {
			return inSetting(setFiles, err)
		}
		return inSetting(setFiles, fmt.Errorf("%s has no rows; give a file with rows, or leave it out", l.files[0].Name))
	}
	if err := l.fill(all); err != nil {
		if p.bad.count > 0 {
			err = inSetting(setFiles, p.bad.err(err))
		}
		return err
	}
	return l.findStates(ctx)
}

// merge adds the profile of another file.
func (p *profile) merge(other *profile) {
	p.rows += other.rows
	for _, c := range other.columns {
		p.column(c.name).merge(c, p.file, other.file)
	}
}

// separate reports whether each file is a table of its own: the settings say so, or the
// files have less than half of their columns in common, texts and times left out.
func (l *layout) separate(all []*profile) bool {
	switch {
	case len(all) < 2 || l.table != "":
		return false
	case l.fields != nil:
		return l.fields[0].Table != ""
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
	begin := input.WithoutExtension(file)
	if at := strings.IndexFunc(begin, func(r rune) bool { return r != '_' && r != '-' && (r|0x20 < 'a' || r|0x20 > 'z') }); at >= 0 {
		begin = begin[:at]
	}
	if begin = strings.ReplaceAll(strings.Trim(begin, "_-"), "-", "_"); begin == "" {
		return "data"
	}
	return begin
}

// fill completes the settings from profiles of the tables, and checks the names in the settings
// against the profiles.
func (l *layout) fill(all []*profile) error {
	all, err := l.chosen(all)
	if err != nil {
		return err
	}
	if err := l.fillTime(all); err != nil {
		return err
	}
	if err := l.checkNames(setTags, l.tags, all); err != nil {
		return err
	}
	if err := l.checkNames(setFields, l.fields, all); err != nil {
		return err
	}
	l.found = true
	if len(all) == 1 && (l.fields == nil || l.fields[0].Table == "") {
		l.table = all[0].name
	}
	wantTags, wantFields := l.tags == nil && !l.pinned, l.fields == nil
	listed := map[string]map[string]map[string]bool{setTags: columnsOf(l.tags), setFields: columnsOf(l.fields)}
	for _, p := range all {
		tags, fields := input.Section{Table: p.name}, input.Section{Table: p.name}
		if len(all) == 1 && (wantFields || l.fields[0].Table == "") {
			tags.Table, fields.Table = "", ""
		}
		if !wantFields && listed[setFields][fields.Table] == nil {
			continue // the settings name no field of this table
		}
		for _, c := range p.columns {
			inTags, inFields := listed[setTags][tags.Table][c.name], listed[setFields][fields.Table][c.name]
			chosen := len(tags.Columns) + len(fields.Columns)
			switch {
			case l.tagged() && (c.tag && inTags || !c.tag && inFields):
				continue // lines declare tags and fields
			case l.tagged():
				l.choosePoint(c, p, !wantTags, !wantFields, &tags, &fields)
			case !slices.Contains(l.timeColumns(), c.name) && !inTags && !inFields:
				l.choose(c, !wantTags, !wantFields, p.rows, &tags, &fields)
			default:
				continue
			}
			if len(tags.Columns)+len(fields.Columns) == chosen {
				l.leftOut = append(l.leftOut, cmp.Or(c.name, "a column without a name"))
			}
		}
		if wantFields {
			if len(fields.Columns) == 0 {
				return inSetting(setFields, l.noField(p))
			}
			l.fields = append(l.fields, fields)
		}
		if wantTags && len(tags.Columns) > 0 {
			l.tags = append(l.tags, tags)
			l.tagsFound = !l.tagged()
		}
	}
	return l.merging
}

// columnsOf returns the names of the columns of a list, by table.
func columnsOf(list []input.Section) map[string]map[string]bool {
	names := make(map[string]map[string]bool, len(list))
	for _, s := range list {
		if names[s.Table] == nil {
			names[s.Table] = make(map[string]bool, len(s.Columns))
		}
		for _, c := range s.Columns {
			names[s.Table][c.Name] = true
		}
	}
	return names
}

// choosePoint is choose for a tag or field of line protocol. Names become column names in most
// systems, so a field cannot have the name of the time or of a tag.
func (l *layout) choosePoint(c *columnProfile, p *profile, userTags, userFields bool, tags, fields *input.Section) {
	what, listed := "field", userFields
	if c.tag {
		what, listed = "tag", userTags
	}
	switch {
	case c.name == input.TimeOfPoints:
		if c.tag && !listed && (c.many || c.distinct.Len() > 1) {
			l.refuseMerge("tag %s of table %s has the name of the time of rows; rename it in the file", c.name, p.name)
		}
		if !listed {
			l.note("%s %s of table %s is left out: the time of rows has its name, so that InfluxDB refuses it, too; rename it in the file", what, c.name, p.name)
		}
		return
	case !c.tag && p.tags[c.name] != nil:
		if kind, size := c.kind(); kind != 0 && !listed {
			l.note("field %s of table %s is left out: a tag has its name; rename one of them in the file, or add %s:%s to fields for a target that can hold both", c.name, p.name, input.QuoteName(c.name), input.TypeName(kind, size))
		}
		return
	}
	l.choose(c, userTags, userFields, p.rows, tags, fields)
}

// noField is the error of a table without a column that can be a field.
func (l *layout) noField(p *profile) error {
	why := ""
	for _, note := range l.notes[:min(len(l.notes), 3)] {
		why += "; " + note
	}
	return fmt.Errorf("table %s has no column that can be a field; fields are numbers, truth values, times, and texts of at most %d bytes of UTF-8 that are not tags%s",
		p.name, series.MaxFreeText, why)
}

// chosen returns the profiles of the tables that the settings choose.
func (l *layout) chosen(all []*profile) ([]*profile, error) {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	one := l.fields == nil || l.fields[0].Table == ""
	switch {
	case l.tagged() && l.table != "" && one:
		at := slices.Index(names, l.table)
		if at < 0 {
			return nil, inSetting(setTable, fmt.Errorf("no file has a measurement %q%s", l.table, suggest.NamesOr(l.table, names, "; there are "+input.ListSome(names))))
		}
		return all[at : at+1], nil
	case len(all) > 1 && len(l.tags) > 0 && l.tags[0].Table == "":
		return nil, inSetting(setTags, fmt.Errorf("the files have several tables, %s: write the tags of each in brackets, as in %s(%s)", input.ListSome(names), input.QuoteName(names[0]), input.FormatList(l.tags)))
	case len(all) > 1 && l.fields != nil && one:
		return nil, inSetting(setFields, fmt.Errorf("the files have several tables, %s: write the fields of each in brackets, as in %s(%s)", input.ListSome(names), input.QuoteName(names[0]), input.FormatList(l.fields)))
	}
	return all, nil
}

// checkNames returns an error where a list of the settings names a table or a column that no
// file has.
func (l *layout) checkNames(setting string, list []input.Section, all []*profile) error {
	for _, s := range list {
		in := all[0]
		if s.Table != "" && (len(all) > 1 || l.tagged()) {
			at := slices.IndexFunc(all, func(p *profile) bool { return p.name == s.Table })
			if at < 0 {
				var names []string
				for _, p := range all {
					names = append(names, p.name)
				}
				return inSetting(setting, unknownTable(s.Table, names))
			}
			in = all[at]
		}
		names := in.names()
		if l.tagged() { // lines declare tags and fields
			names = in.pointNames(setting == setTags)
		}
		for _, c := range s.Columns {
			switch {
			case slices.Contains(names, c.Name):
			case l.tagged() && (in.byName[c.Name] != nil || in.tags[c.Name] != nil):
				return inSetting(setting, fmt.Errorf("the lines of table %s have %q as a tag where fields name it, or the other way round; move it to the other list", in.name, c.Name))
			default:
				return inSetting(setting, unknownColumn(c.Name, names))
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
