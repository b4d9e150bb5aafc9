package owndata

import (
	"context"
	"slices"

	"github.com/tsmark/tsmark/workload/file/delimited"
	"github.com/tsmark/tsmark/workload/file/input"
)

// check returns an error where the settings name a column that no file has, or a table
// without a file, as far as the headers of files say. It looks at no more of them than it
// takes to find all columns. Its error is a *settingError.
func (l *layout) check(x *input.Index) error {
	if l.format == input.FormatObjects {
		for _, t := range x.Tables {
			t.Named = make([]bool, len(t.Columns(l.timeColumns()...)))
		}
	}
	if l.found || l.tagged() || l.format == input.FormatObjects {
		return nil // it is known, or the rows will tell
	}
	headers := make(map[*input.Table][]string)
	for _, f := range l.files {
		t, err := l.tableOf(x, f)
		if err != nil {
			return inSetting(setFiles, err)
		}
		if has, ok := headers[t]; ok && t.Lacks(has, l.timeColumns()) == "" {
			continue
		}
		header, err := l.header(f)
		if err != nil {
			return inSetting(setFiles, err)
		}
		headers[t] = append(headers[t], header...)
	}
	if unused := unusedColumns(headers, l.timeColumns()); len(unused) > 0 {
		l.note("columns that own.time, own.tags and own.fields do not name are left out: %s", input.ListSome(unused))
	}
	for _, t := range x.Tables {
		has, ok := headers[t]
		if !ok {
			return inSetting(setFields, unknownTable(t.Name, x.Names(headers)))
		}
		if name := t.Lacks(has, l.timeColumns()); name != "" {
			return inSetting(settingOf(t, name, l.timeColumns()), unknownColumn(name, input.RemoveDuplicates(has)))
		}
	}
	return nil
}

// unusedColumns returns the columns of headers that no table has.
func unusedColumns(headers map[*input.Table][]string, times []string) []string {
	var unused []string
	for t, header := range headers {
		columns := make(map[string]bool)
		for _, name := range t.Columns(times...) {
			columns[name] = true
		}
		for _, name := range header {
			if !columns[name] {
				unused = append(unused, name)
			}
		}
	}
	slices.Sort(unused)
	return slices.Compact(unused)
}

// settingOf names the setting that has a column of a table.
func settingOf(t *input.Table, name string, times []string) string {
	switch {
	case slices.Contains(times, name):
		return setTime
	case t.Tag(name) != nil:
		return setTags
	}
	return setFields
}

// header reads the names of a file's columns.
func (l *layout) header(f input.File) ([]string, error) {
	if l.format == input.FormatCSV {
		in, err := input.Open(f)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		_, columns, err := delimited.Open(in, l.delimiter, l.columns)
		if err != nil {
			return nil, &input.Error{File: f.Name, Line: 1, Err: err}
		}
		return columns, nil
	}
	return recordColumns(f, l.format)
}

// checkRows checks the settings that can only be checked after all rows were read. A column without
// any values still exists.
func (l *layout) checkRows(x *input.Index, o *observer) error {
	if l.found || !l.tagged() && l.format != input.FormatObjects {
		return nil
	}
	for _, t := range x.Tables {
		if o.tableRows[t.Place] == 0 {
			var names []string
			for _, of := range l.firstRows() {
				names = append(names, of.name)
			}
			return inSetting(setFields, unknownTable(t.Name, names))
		}
		var has []string
		for i, name := range t.Columns(l.timeColumns()...) {
			if l.format == input.FormatObjects && t.Named[i] {
				has = append(has, name)
			}
		}
		if l.tagged() {
			has = append(has, l.timeColumns()...)
			for i := range t.Set.Values {
				if t.Set.Values[i].Len() > 0 {
					has = append(has, t.Set.Tags[i].Key)
				}
			}
			for i := range t.Fields {
				if o.nulls[t.Place][i] < o.tableRows[t.Place] {
					has = append(has, t.Fields[i].Name)
				}
			}
		}
		if name := t.Lacks(has, l.timeColumns()); name != "" {
			return inSetting(settingOf(t, name, l.timeColumns()), unknownColumn(name, l.someNames(t, has)))
		}
	}
	return nil
}

// someNames adds the names of columns to a list that the first rows of a table have.
func (l *layout) someNames(t *input.Table, names []string) []string {
	found := l.firstRows()
	for _, of := range found {
		if len(found) == 1 || of.name == t.Name {
			names = append(names, of.names()...)
		}
	}
	return input.RemoveDuplicates(names)
}

// firstRows looks at the first rows of the first file: for errors, which offer its names.
func (l *layout) firstRows() []*profile {
	ctx, enough := context.WithCancel(context.Background())
	defer enough()
	found, _ := newProfiler(ctx, l, func(int) { enough() }).file(l.files[0]) // whose rows were read without an error
	return found
}
