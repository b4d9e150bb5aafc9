package owndata

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/delimited"
	"github.com/tsmark/tsmark/workload/file/input"
)

// fillTime finds the column of the time, and how times are written, as far as the settings
// do not say.
func (l *layout) fillTime(all []*profile) error {
	proposed := l.time == ""
	if proposed {
		c, err := l.timeOf(all[0])
		if err != nil {
			return err
		}
		l.time = c.name
		if l.format == input.FormatCSV && len(l.columns) == 0 && delimited.LikeValue([]byte(c.name)) {
			return inSetting(setFiles, &input.Error{File: all[0].file, Line: 1, Err: delimited.HeaderError(c.name)})
		}
		if kind, _ := c.kind(); kind.Numeric() && findColumn(c.name) == 0 {
			l.note("column %s is taken for the time, since its numbers look like times since 1970; own.time, or --time-column, names another", c.name)
		}
		l.findTimeOfDay(c, all)
	}
	var zoneless int64
	unit := ""
	for _, p := range all {
		c := p.timeColumn(l.time)
		switch {
		case c == nil:
			return inSetting(setTime, fmt.Errorf("table %s has no column %q with times%s", p.name, l.time, suggest.NamesOr(l.time, p.names(), "; it has "+input.ListSome(p.names()))))
		case c.left != "":
			return inSetting(setTime, fmt.Errorf("column %s of table %s cannot be the time: %s", l.time, p.name, c.left))
		case c.values == 0:
			return inSetting(setTime, fmt.Errorf("column %s of table %s has no values; it has %s", l.time, p.name, input.ListSome(p.names())))
		}
		day, err := l.timeOfDayColumn(p)
		switch {
		case err != nil:
			return err
		case day != nil:
			zoneless += day.zoneless
		default:
			zoneless += c.zoneless
		}
		if l.timeFormat != "" {
			continue // reading the rows will find the invalid ones
		}
		format, err := l.timeFormatOf(c, p)
		if err == nil && day != nil && isDate(format) {
			if joined := joinClock(format, day); joined != "" {
				format, day = joined, nil
			}
		}
		if err == nil && day != nil && (format != input.AsText || day.timesOfDay < day.values) {
			err = inSetting(setTimeFormat, fmt.Errorf("columns %s and %s make the time, and are not all written as 2006-01-02 and 15:04:05; say how both are written, as in --time-format '01/02/2006 3:04 PM'", l.time, l.timeOfDay))
		}
		if err != nil {
			return err
		}
		if unit != "" && unit != format {
			return inSetting(setTimeFormat, fmt.Errorf("times of table %s look like %s, and those before like %s; say which with own.time-format, or --time-format", p.name, format, unit))
		}
		unit = format
	}
	if l.timeFormat == "" {
		l.timeFormat = unit
		if strings.Contains(unit, "06") { // a layout
			column, text := l.time, all[0].timeColumn(l.time).notTime.texts[0]
			if day, _ := l.timeOfDayColumn(all[0]); day != nil {
				column, text = formatTime(l.time, l.timeOfDay), text+" "+day.notTime.texts[0]
			}
			l.note("times such as %q in column %s are read as %s%s; own.time-format, or --time-format, names another layout", text, column, unit, orderOf(unit))
		}
	}
	if zoneless > 0 && l.timeZone == "" && (l.timeFormat == input.AsText || l.timeFormat == input.AsColumn) {
		l.note("%d times have no zone, and are taken as UTC; own.time-zone, or --time-zone, names another", zoneless)
	}
	return nil
}

// timeFormatOf detects the format of the times in a column.
func (l *layout) timeFormatOf(c *columnProfile, p *profile) (string, error) {
	kind, _ := c.kind()
	switch {
	case kind == series.Timestamp || kind == series.Date:
		if c.typed == kind {
			return input.AsColumn, nil
		}
		return input.AsText, nil
	case kind.Numeric() && c.lowestOf() <= c.highestOf():
		unit, err := l.unitOf(c, c.lowestOf(), c.highestOf())
		if err == nil && !l.sinceEpoch(c.lowestOf(), c.highestOf()) {
			err = inSetting(setTimeFormat, fmt.Errorf("column %s of table %s has numbers from %s to %s, which are not times from 1980 to 2100 in any unit; say which unit they have with own.time-format, as in --time-format ns",
				c.name, p.name, humanize.Ftoa(c.lowestOf()), humanize.Ftoa(c.highestOf())))
		}
		return unit, err
	}
	if near, wrong, ok := c.almost(); ok && near != series.Bool {
		return "", l.badTime(c, wrong)
	}
	if kind == series.Text {
		switch list := c.timeLayouts(); len(list) {
		case 0:
		case 1:
			return list[0], nil
		default:
			return "", l.ambiguousTime(c, p, list)
		}
	}
	if kind == series.Text && !c.notTime.none() {
		return "", l.noTimes(c, "name another with own.time, or say with own.time-format how times are written, as in --time-format '01/02/2006 15:04'")
	}
	return "", inSetting(setTime, fmt.Errorf("column %s of table %s has values that are not times; name another, or say with own.time-format how they are written", c.name, p.name))
}

// noTimes returns the error of a column of texts whose first value is not a time; fix is the advice
// for an unknown format.
func (l *layout) noTimes(c *columnProfile, fix string) error {
	at := c.notTime.first
	at.Err = fmt.Errorf("column %s: %q %w", c.name, c.notTime.texts[0], c.notTime.why)
	if !errors.Is(c.notTime.why, input.ErrNoTime) {
		fix = input.CorrectLine + ", or leave it out"
	}
	at.Err = fmt.Errorf("%w; %s", at.Err, fix)
	return inSetting(setFiles, &at)
}

// likelyFormat is a time-format, as people write it on a command line, that a text may have.
func likelyFormat(text string) string {
	for _, layout := range [...]string{"20060102150405", "20060102", "20060102T150405Z0700", "2006/01/02 15:04:05", "2006/01/02 15:04", "02.01.2006 15:04:05", "02.01.2006 15:04", "02.01.2006"} {
		if t, err := time.ParseInLocation(layout, text, time.UTC); err == nil && t.Year() > 1900 && t.Year() < 2100 {
			return shellName(layout)
		}
	}
	if input.IsNumber([]byte(text)) {
		return input.PerSecond
	}
	return "'01/02/2006 15:04'"
}

// dateLayouts are common layouts of dates. Dates with dots and the year last begin with the day
// everywhere.
var dateLayouts = [...]string{"2.1.2006", "2/1/2006", "1/2/2006", "2-1-2006", "1-2-2006", "2006/1/2", "2006.1.2", "2-Jan-2006", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006"}

// clockLayouts are common layouts of times of day behind a date; the first one is a date alone.
var clockLayouts = [...]string{"", " 15:04:05", " 15:04", " 3:04:05 PM", " 3:04 PM"}

// layoutSet is a set of combinations of dateLayouts and clockLayouts, a bit each.
type layoutSet uint64

const allLayouts layoutSet = 1<<(len(dateLayouts)*len(clockLayouts)) - 1

// visit calls the function with the layouts of the set and their bits.
func (s layoutSet) visit(do func(layout string, bit layoutSet)) {
	for i, date := range dateLayouts {
		for j, clock := range clockLayouts {
			if bit := layoutSet(1) << (i*len(clockLayouts) + j); s&bit != 0 {
				do(date+clock, bit)
			}
		}
	}
}

// matching returns the layouts of the set that a text has.
func (s layoutSet) matching(text string) (has layoutSet) {
	const shortest = len("1.1.2006")
	if len(text) < shortest {
		return 0
	}
	s.visit(func(layout string, bit layoutSet) {
		if _, err := time.Parse(layout, text); err == nil {
			has |= bit
		}
	})
	return has
}

// layoutCount counts the values of a column by layout, without times such as 2006-01-02T15:04:05.
type layoutCount struct {
	values int64
	seen   layoutSet // layouts of the first value that has one
	hits   []int64   // values by the number of a layout's bit; nil: no layout was seen
}

// layoutTries is the number of values after which a column without a layout is one of other texts.
const layoutTries = 10

func (c *layoutCount) add(text []byte) {
	if c.values++; c.seen == 0 {
		if c.values > layoutTries {
			return
		}
		if c.seen = allLayouts.matching(string(text)); c.seen == 0 {
			return
		}
		c.hits = make([]int64, bits.Len64(uint64(allLayouts)))
	}
	c.seen.matching(string(text)).visit(func(_ string, bit layoutSet) { c.hits[bits.TrailingZeros64(uint64(bit))]++ })
}

func (c *layoutCount) merge(other *layoutCount) {
	c.values, c.seen = c.values+other.values, c.seen|other.seen
	if c.hits == nil {
		c.hits = slices.Clone(other.hits)
		return
	}
	for i, n := range other.hits {
		c.hits[i] += n
	}
}

// timeLayouts returns the layouts that the most values of a column have which are not times such as
// 2006-01-02T15:04:05; none: there are more than a few others.
func (c *columnProfile) timeLayouts() (list []string) {
	if c.layouts.hits == nil {
		return nil
	}
	most := slices.Max(c.layouts.hits)
	if few := (&others{count: c.layouts.values - most}); !few.none() && !few.few(c.layouts.values) {
		return nil
	}
	c.layouts.seen.visit(func(layout string, bit layoutSet) {
		if c.layouts.hits[bits.TrailingZeros64(uint64(bit))] == most && !slices.Contains(list, strings.Replace(layout, "January", "Jan", 1)) { // May is both
			list = append(list, layout)
		}
	})
	return list
}

// isDate reports whether a layout of timeLayouts has no time of day.
func isDate(layout string) bool { return slices.Contains(dateLayouts[:], layout) }

// ambiguousTime is the error of dates whose values do not say whether the day or the month is first.
func (l *layout) ambiguousTime(c *columnProfile, p *profile, layouts []string) error {
	columns := ""
	if day, err := l.timeOfDayColumn(p); err != nil {
		return err
	} else if day != nil {
		columns = "--time-column " + shellName(formatTime(l.time, l.timeOfDay)) + " "
		layouts = []string{joinClock(layouts[0], day), joinClock(layouts[1], day)}
	}
	at := c.notTime.first
	at.Err = fmt.Errorf("column %s: the day or the month may be first in all values, such as %q; say which with own.time-format, as in %s--time-format %s, or --time-format %s",
		c.name, c.notTime.texts[0], columns, shellName(layouts[0]), shellName(layouts[1]))
	return inSetting(setTimeFormat, &at)
}

// orderOf says whether day or month is first in a layout of timeLayouts.
func orderOf(layout string) string {
	switch layout[:2] {
	case "2.", "2/", "2-":
		return " (day first)"
	case "1/", "1-":
		return " (month first)"
	}
	return ""
}

// joinClock adds the layout of the times of day in a column to that of dates; empty: they have no
// common one.
func joinClock(date string, day *columnProfile) string {
	for _, clock := range clockLayouts[1:] {
		other := func(text string) bool { _, err := time.Parse(clock, " "+text); return err != nil }
		if day.timesOfDay+day.oddTimesOfDay == day.values && !slices.ContainsFunc(day.notTime.texts, other) {
			return date + clock
		}
	}
	return ""
}

// findTimeOfDay finds the column of the times of day where the proposed time has dates alone.
func (l *layout) findTimeOfDay(date *columnProfile, all []*profile) {
	if l.timeFormat != "" || !l.joinsTimes() {
		return
	}
	if kind, _ := date.kind(); kind != series.Date {
		if list := date.timeLayouts(); kind != series.Text || len(list) == 0 || !isDate(list[0]) {
			return
		}
	}
	var best *columnProfile
	only := true
	for _, c := range all[0].columns {
		if c.values == 0 || c.timesOfDay < c.values || c.values < date.values || c.left != "" {
			continue
		}
		switch {
		case best == nil || findColumn(c.name) > findColumn(best.name):
			best, only = c, true
		case findColumn(c.name) == findColumn(best.name):
			only = false
		}
	}
	if best == nil || !only {
		return
	}
	l.timeOfDay = best.name
	l.note("columns %s and %s together are the time; own.time, or --time-column, names others", date.name, best.name)
}

// joinsTimes reports whether two columns of the format may make the time.
func (l *layout) joinsTimes() bool {
	return l.format == input.FormatCSV || l.format == input.FormatObjects
}

// timeOfDayColumn returns the column of the times of day; nil: the time is one column.
func (l *layout) timeOfDayColumn(p *profile) (*columnProfile, error) {
	if l.timeOfDay == "" {
		return nil, nil
	}
	c := p.byName[l.timeOfDay]
	if c == nil || c.values == 0 || c.left != "" {
		return nil, inSetting(setTime, fmt.Errorf("table %s has no column %q with times of day%s", p.name, l.timeOfDay, suggest.NamesOr(l.timeOfDay, p.names(), "; it has "+input.ListSome(p.names()))))
	}
	return c, nil
}

// unitOf detects the unit of times since 1970 from the smallest and the largest.
func (l *layout) unitOf(c *columnProfile, least, most float64) (string, error) {
	low, high := input.UnitOf(least), input.UnitOf(most)
	if low != high && least*most > 0 {
		return "", inSetting(setTimeFormat, fmt.Errorf("times of column %s look like %s and like %s: they go from %s to %s; say which with own.time-format, or --time-format",
			c.name, low, high, humanize.FtoaWithDigits(least, 3), humanize.FtoaWithDigits(most, 3)))
	}
	if low != high && max(-least, most) == -least {
		high = low
	}
	return high, nil
}

// badTime returns the error of a column that contains times except for a few values.
func (l *layout) badTime(c *columnProfile, o *others) error {
	at := o.first
	fix := fmt.Sprintf("%s, or name another column with own.time, or --time-column", input.CorrectLine)
	if at.Line == 1 && len(l.columns) > 0 {
		fix = "leave own.columns, or --columns, out if the line is a header"
	}
	at.Err = fmt.Errorf("column %s: %q is not a time, as %s of %s values are; %s", c.name, o.texts[0], humanize.Comma(c.values-o.count), humanize.Comma(c.values), fix)
	if o.why != nil && !errors.Is(o.why, input.ErrNoTime) {
		at.Err = fmt.Errorf("column %s: %q %w; %s", c.name, o.texts[0], o.why, fix)
	}
	rows := badRows{shown: []error{&at}, count: o.count}
	for i := 1; i < len(o.rows); i++ {
		row := o.rows[i]
		if row.at.Err = fmt.Errorf("column %s: %q is not a time", c.name, row.text); row.why != nil {
			row.at.Err = fmt.Errorf("column %s: %q %w", c.name, row.text, row.why)
		}
		rows.shown = append(rows.shown, &row.at)
	}
	return inSetting(setFiles, rows.err(nil))
}

// timeOf chooses the column that is most likely the time.
func (l *layout) timeOf(p *profile) (*columnProfile, error) {
	var best, near *columnProfile
	var wrong *others
	most, mostNear := 0, 0
	for _, c := range p.columns {
		if score := l.timeScore(c); score > most {
			best, most = c, score
		}
		if score, o := l.nearScore(c); score > mostNear {
			near, wrong, mostNear = c, o, score
		}
	}
	switch {
	case near != nil && (best == nil || mostNear > most && findColumn(near.name) >= findColumn(best.name)):
		return nil, l.badTime(near, wrong)
	case best != nil:
		return best, nil
	}
	if l.timeFormat == "" {
		for _, c := range p.columns {
			if kind, _ := c.kind(); kind != series.Text || c.left != "" || c.tag || c.name == "" {
				continue
			}
			if score := layoutScore(c); score > most {
				best, most = c, score
			}
		}
		if best != nil {
			return best, nil
		}
	}
	for _, c := range p.columns {
		if c.badZone != nil {
			return nil, inSetting(setFiles, c.badZone)
		}
		if kind, _ := c.kind(); kind == series.Text && findColumn(c.name) > 0 && len(c.notTime.texts) > 0 && l.timeFormat == "" {
			return nil, l.noTimes(c, fmt.Sprintf("say how times are written with own.time and own.time-format, as in --time-column %s --time-format %s", shellName(c.name), likelyFormat(c.notTime.texts[0])))
		}
	}
	for _, c := range p.columns {
		if kind, _ := c.kind(); kind.Numeric() && findColumn(c.name) > 1 && c.left == "" && !c.tag && c.lowestOf() <= c.highestOf() {
			if _, err := l.unitOf(c, c.lowestOf(), c.highestOf()); err != nil {
				return nil, err
			}
			return nil, inSetting(setTime, fmt.Errorf("column %s of %s has numbers from %s to %s, which are not times from 1980 to 2100; say how they are written with own.time and own.time-format, as in --time-column %s --time-format %s",
				c.name, p.file, humanize.Ftoa(c.lowestOf()), humanize.Ftoa(c.highestOf()), shellName(c.name), likelyFormat(strconv.FormatFloat(c.highestOf(), 'f', -1, 64))))
		}
	}
	nested, most := "", -1
	for _, c := range p.columns {
		if c.left != "" && findColumn(c.name) > most {
			nested, most = fmt.Sprintf("; column %s cannot be the time: %s", c.name, c.left), findColumn(c.name)
		}
	}
	return nil, inSetting(setTime, fmt.Errorf("no column of %s holds times%s; name one with own.time, or --time-column; it has %s", l.files[0].Name, nested, input.ListSome(p.names())))
}

// layoutScore scores how likely a column of texts is the time by their layout; 0: they have none.
// Times are likelier than dates.
func layoutScore(c *columnProfile) int {
	switch list := c.timeLayouts(); {
	case len(list) == 0:
		return 0
	case isDate(list[0]):
		return 1 + findColumn(c.name)
	}
	return 11 + findColumn(c.name)
}

// shellName is a name as people write it on a command line.
func shellName(name string) string {
	if input.QuoteName(name) == name {
		return name
	}
	return "'" + name + "'"
}

// findColumn scores how much a name looks like the name of the time column.
func findColumn(name string) int {
	switch name = strings.ToLower(name); {
	case slices.Contains([]string{"time", "timestamp", "ts", "_time", "datetime", "date_time", "date time"}, name):
		return 3
	case strings.Contains(name, "time"):
		return 2
	case strings.Contains(name, "date"):
		return 1
	}
	return 0
}

// timeScore scores how likely a column is the time of rows; 0: it is not.
func (l *layout) timeScore(c *columnProfile) int {
	if c.values == 0 || c.tag || c.left != "" || c.name == "" {
		return 0
	}
	kind, _ := c.kind()
	if of, err := input.NewClock(l.timeFormat); err == nil && of.Layout != "" {
		if (c.typed == 0 || c.typed == series.Text) && !c.notLayout {
			return 20 + findColumn(c.name)
		}
		return 0
	}
	return l.scoreOf(c, kind)
}

// scoreOf is timeScore of a column that has the type.
func (l *layout) scoreOf(c *columnProfile, kind series.Type) int {
	texts := l.timeFormat == "" || l.timeFormat == input.AsText || l.timeFormat == input.AsColumn
	switch n := findColumn(c.name); {
	case kind == series.Timestamp && texts:
		return 20 + n
	case kind == series.Date && texts:
		return 10 + n
	case kind.Integer() && l.sinceEpoch(c.lowestOf(), c.highestOf()):
		return 11 + n
	case kind.Numeric() && n > 0 && l.sinceEpoch(c.lowestOf(), c.highestOf()): // amounts have decimals, too
		return 10 + n
	}
	return 0
}

// nearScore scores a column that contains times except for a few values.
func (l *layout) nearScore(c *columnProfile) (int, *others) {
	kind, wrong, ok := c.almost()
	if !ok || c.tag || c.left != "" || c.name == "" || kind == series.Bool {
		return 0, nil
	}
	if of, err := input.NewClock(l.timeFormat); err == nil && of.Layout != "" {
		return 0, nil
	}
	return l.scoreOf(c, kind), wrong
}

// lowestOf and highestOf are the bounds of all numbers of a column; of one without, the
// former is the larger one.
func (c *columnProfile) lowestOf() float64 {
	if c.least > c.most {
		return c.lowest
	}
	return min(c.lowest, float64(c.least))
}

func (c *columnProfile) highestOf() float64 {
	if c.least > c.most {
		return c.highest
	}
	return max(c.highest, float64(c.most))
}

// sinceEpoch reports whether numbers are from 1980 to 2100 in one of the units, or in that
// of the settings.
func (l *layout) sinceEpoch(least, most float64) bool {
	for _, u := range input.Units {
		if in := 1e9 / float64(u.Ns); (l.timeFormat == "" || l.timeFormat == u.Name) && least >= 3.1e8*in && most <= 4.2e9*in {
			return least <= most
		}
	}
	return false
}
