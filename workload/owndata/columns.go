package owndata

import (
	"context"
	"slices"
)

// check returns an error where the settings name a column that no file has, or a table
// without a file, as far as the headers of files say. It looks at no more of them than it
// takes to find all columns. Its error is a *settingError.
func (l *layout) check(x *index) error {
	if l.format == formatObjects {
		for _, t := range x.tables {
			t.seen = make([]bool, len(t.columns(l.timeColumns()...)))
		}
	}
	if l.found || l.tagged() || l.format == formatObjects {
		return nil // it is known, or the rows will tell
	}
	headers := make(map[*table][]string)
	for _, f := range l.files {
		t, err := x.tableOf(f, l)
		if err != nil {
			return of(setFiles, err)
		}
		if has, ok := headers[t]; ok && t.lacks(has, l.timeColumns()) == "" {
			continue
		}
		header, err := l.header(f)
		if err != nil {
			return of(setFiles, err)
		}
		headers[t] = append(headers[t], header...)
	}
	for _, t := range x.tables {
		has, ok := headers[t]
		if !ok {
			return of(setFields, unknownTable(t.Name, x.names(headers)))
		}
		if name := t.lacks(has, l.timeColumns()); name != "" {
			return of(t.settingOf(name, l.timeColumns()), unknownColumn(name, distinct(has)))
		}
	}
	return nil
}

// lacks returns a column that is none of a list; empty: all are there.
func (t *table) lacks(names []string, times []string) string {
	has := make(map[string]bool, len(names))
	for _, name := range names {
		has[name] = true
	}
	for _, name := range t.columns(times...) {
		if !has[name] {
			return name
		}
	}
	return ""
}

// settingOf names the setting that has a column.
func (t *table) settingOf(name string, times []string) string {
	switch {
	case slices.Contains(times, name):
		return setTime
	case t.Tag(name) != nil:
		return setTags
	}
	return setFields
}

// names are those of tables that have files.
func (x *index) names(of map[*table][]string) []string {
	var names []string
	for _, t := range x.tables {
		if _, ok := of[t]; ok {
			names = append(names, t.Name)
		}
	}
	return names
}

// header reads the names of a file's columns.
func (l *layout) header(f inputFile) ([]string, error) {
	if l.format == formatCSV {
		in, err := open(f)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		_, columns, err := openCSV(in, l.delimiter, l.columns)
		if err != nil {
			return nil, &Error{File: f.name, Line: 1, Err: err}
		}
		return columns, nil
	}
	source, closer, err := openRecords(f, l.format, nil)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	schema, err := source.schema()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, field := range schema.Fields() {
		names = append(names, field.Name)
	}
	return names, nil
}

// checkRows is check of what only rows tell. A column that is there and has no values is
// none of those.
func (l *layout) checkRows(x *index, o *observer) error {
	if l.found || !l.tagged() && l.format != formatObjects {
		return nil
	}
	for _, t := range x.tables {
		if o.tableRows[t.place] == 0 {
			var names []string
			for _, of := range l.firstRows() {
				names = append(names, of.name)
			}
			return of(setFields, unknownTable(t.Name, names))
		}
		var has []string
		for i, name := range t.columns(l.timeColumns()...) {
			if l.format == formatObjects && t.seen[i] {
				has = append(has, name)
			}
		}
		if l.tagged() {
			has = append(has, l.timeColumns()...)
			for i := range t.set.values {
				if t.set.values[i].Len() > 0 {
					has = append(has, t.set.tags[i].Key)
				}
			}
			for i := range t.Fields {
				if o.nulls[t.place][i] < o.tableRows[t.place] {
					has = append(has, t.Fields[i].Name)
				}
			}
		}
		if name := t.lacks(has, l.timeColumns()); name != "" {
			return of(t.settingOf(name, l.timeColumns()), unknownColumn(name, l.someNames(t, has)))
		}
	}
	return nil
}

// someNames adds the names of columns to a list that the first rows of a table have.
func (l *layout) someNames(t *table, names []string) []string {
	found := l.firstRows()
	for _, of := range found {
		if len(found) == 1 || of.name == t.Name {
			names = append(names, of.names()...)
		}
	}
	return distinct(names)
}

// firstRows looks at the first rows of the first file: for errors, which offer its names.
func (l *layout) firstRows() []*profile {
	ctx, enough := context.WithCancel(context.Background())
	defer enough()
	found, _ := newProfiler(ctx, l, func(int) { enough() }).file(l.files[0]) // whose rows were read without an error
	return found
}
