package owndata

import (
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
)

// States are texts that change within a series, such as a status. Their few values make them look like
// tags. The first rows tell: if some of the tags identify series whose times are unique and regular,
// a further tag that changes within such a series is a state.

const (
	maxStateRows     = 20_000 // rows of a table that are looked at
	leastRegular     = 0.9    // share of equal gaps in regular times
	leastSeries      = 6      // rows of a series whose times can be regular
	leastRowsOfValue = 3      // rows of a value of a tag that tell whether devices alternate
	// longerGap is how much longer, as a factor, the gaps of one tag value are than those of the series
	// where values belong to devices that alternate.
	longerGap = 1.5
	// maxIdentity is the maximum number of tags that identify series, if there are many tags.
	maxIdentity = 2
	manyTags    = 8
)

// findStates moves tags that are states to the fields, with a note. A row that cannot be read ends the
// look at its file; the survey reports it.
func (l *layout) findStates(ctx context.Context) error {
	if len(l.asFields) == 0 || !l.tagsFound {
		return nil
	}
	x, err := input.NewIndex(l.table, l.tags, l.fields)
	if err != nil {
		return nil // the survey reports it
	}
	seen := make([]stateRows, len(x.Tables))
	for _, f := range l.files {
		if err := l.lookForStates(ctx, f, x, seen); err != nil {
			return err
		}
	}
	x.Freeze()
	for _, t := range x.Tables {
		asTags := input.FormatList(l.tags)
		for _, name := range seen[t.Place].states(t) {
			l.makeField(t, name, asTags)
		}
	}
	return nil
}

// lookForStates adds the first rows of a file to those of their tables. Its error is the context's.
func (l *layout) lookForStates(ctx context.Context, f input.File, x *input.Index, seen []stateRows) error {
	t, err := l.tableOf(x, f)
	if err != nil || len(seen[t.Place].times) >= maxStateRows {
		return nil
	}
	opened, err := openRows(f, l, x)
	if err != nil {
		return nil
	}
	defer opened.Close()
	filler, err := newFiller(l, x)
	if err != nil {
		return nil
	}
	var batch series.Batch
	for rows := &seen[t.Place]; err == nil && len(rows.times) < maxStateRows; {
		filler.Reset(&batch, surveyRows)
		err = opened.Next(filler)
		filler.End()
		for i := range batch.Runs {
			rows.times = append(rows.times, batch.Runs[i].Times...)
			rows.series = append(rows.series, batch.Runs[i].Series...)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// makeField moves a tag of a table to its fields; asTags are the tags with it.
func (l *layout) makeField(t *input.Table, name, asTags string) {
	table := ""
	if l.fields[0].Table != "" {
		table = t.Name
	}
	for i := range l.tags {
		if l.tags[i].Table == table {
			l.tags[i].Columns = slices.DeleteFunc(l.tags[i].Columns, func(c input.Column) bool { return c.Name == name })
		}
	}
	l.tags = slices.DeleteFunc(l.tags, func(s input.Section) bool { return len(s.Columns) == 0 })
	for i := range l.fields {
		if l.fields[i].Table == table {
			l.fields[i].Columns = append(l.fields[i].Columns, l.asFields[table][name])
		}
	}
	l.notes = slices.DeleteFunc(l.notes, func(note string) bool { return strings.HasPrefix(note, "column "+name+" is taken for a tag") })
	l.note("column %s changes within a series, so it is a text field and not a tag; to make it a tag, name all tags with own.tags, as in --tags %s", name, shellName(asTags))
}

// stateRows are the times and series of rows of a table.
type stateRows struct {
	times  []int64
	series []uint32
}

// tagRow is a row with the values of its tags as small numbers.
type tagRow struct {
	time  int64
	codes []int32
}

// states returns the tags that are states.
func (s *stateRows) states(t *input.Table) []string {
	n := len(t.Tags)
	if n == 0 || n > bits.UintSize || len(s.times) < leastSeries {
		return nil
	}
	rows := s.rows(t)
	for size := range n {
		if size > maxIdentity && n > manyTags {
			break
		}
		for identity := uint(1)<<size - 1; identity < 1<<n; identity = nextSubset(identity) {
			if states, ok := statesWithin(rows, identity, n); ok {
				var names []string
				for _, i := range states {
					names = append(names, t.Tags[i].Key)
				}
				return names
			}
			if size == 0 {
				break
			}
		}
	}
	return nil
}

// nextSubset returns the next larger number with as many bits.
func nextSubset(s uint) uint {
	if s == 0 {
		return 0
	}
	lowest := s & -s
	next := s + lowest
	return next | (s^next)/lowest>>2
}

// rows returns the rows in the order of their times.
func (s *stateRows) rows(t *input.Table) []tagRow {
	codes := make(map[uint32][]int32)
	values := make([]map[string]int32, len(t.Tags))
	for i := range values {
		values[i] = make(map[string]int32)
	}
	rows := make([]tagRow, len(s.times))
	for r, number := range s.series {
		of := codes[number]
		if of == nil {
			of = make([]int32, len(t.Tags))
			for i := range t.Tags {
				of[i] = -1
				if text, ok := t.Tags[i].Values.Append(nil, number); ok {
					code, known := values[i][string(text)]
					if !known {
						code = int32(len(values[i]))
						values[i][string(text)] = code
					}
					of[i] = code
				}
			}
			codes[number] = of
		}
		rows[r] = tagRow{s.times[r], of}
	}
	slices.SortStableFunc(rows, func(a, b tagRow) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	return rows
}

// statesWithin returns the tags that are states if the tags of identity, a bit each, identify series;
// false: they do not.
func statesWithin(rows []tagRow, identity uint, tags int) (states []int, ok bool) {
	groups := groupRows(rows, identity)
	equal, gaps, within := 0, 0, 0
	for _, group := range groups {
		if len(group) < leastSeries {
			continue
		}
		within += len(group)
		same, unique := regular(group)
		if !unique {
			return nil, false
		}
		equal, gaps = equal+same, gaps+len(group)-1
	}
	if gaps == 0 || float64(equal) < leastRegular*float64(gaps) || float64(within) < leastRegular*float64(len(rows)) {
		return nil, false
	}
	for i := range tags {
		if identity&(1<<i) != 0 {
			continue
		}
		changes, alternating := false, false
		for _, group := range groups {
			if len(group) < leastSeries || !slices.ContainsFunc(group, func(r tagRow) bool { return r.codes[i] != group[0].codes[i] }) {
				continue
			}
			changes = true
			alternating = alternating || alternates(group, i)
		}
		switch {
		case alternating: // the tag identifies series, too
			return nil, false
		case changes:
			states = append(states, i)
		}
	}
	return states, true
}

// groupRows groups rows by some of their tags, in the order of their times.
func groupRows(rows []tagRow, by uint) map[string][]tagRow {
	groups := make(map[string][]tagRow)
	var key []byte
	for _, r := range rows {
		key = key[:0]
		for rest := by; rest != 0; rest &= rest - 1 {
			key = binary.LittleEndian.AppendUint32(key, uint32(r.codes[bits.TrailingZeros(rest)]))
		}
		groups[string(key)] = append(groups[string(key)], r)
	}
	return groups
}

// regular returns how many gaps between the times of rows are about the median one, and whether all
// times differ.
func regular(rows []tagRow) (equal int, unique bool) {
	typical := typicalGap(rows)
	for i := 1; i < len(rows); i++ {
		gap := rows[i].time - rows[i-1].time
		if gap == 0 {
			return 0, false
		}
		if off := gap - typical; max(off, -off) <= typical/10 {
			equal++
		}
	}
	return equal, true
}

// typicalGap is the median gap between the times of rows.
func typicalGap(rows []tagRow) int64 {
	gaps := make([]int64, 0, len(rows))
	for i := 1; i < len(rows); i++ {
		gaps = append(gaps, rows[i].time-rows[i-1].time)
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// alternates reports whether the rows of each value of a tag have regular times with longer gaps than
// all rows together, as those of devices that alternate have.
func alternates(rows []tagRow, tag int) bool {
	all := typicalGap(rows)
	equal, gaps := 0, 0
	for _, one := range groupRows(rows, 1<<tag) {
		if len(one) < leastRowsOfValue { // too few to tell
			continue
		}
		if float64(typicalGap(one)) < longerGap*float64(all) {
			return false
		}
		same, _ := regular(one)
		equal, gaps = equal+same, gaps+len(one)-1
	}
	return float64(equal) >= leastRegular*float64(gaps)
}
