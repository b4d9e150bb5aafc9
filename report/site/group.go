package site

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// group holds comparable runs: of one dataset on one machine, of targets with one
// level of durability.
type group struct {
	values  [filters]string // the value of each filter
	dataset *result.Dataset
	rows    map[string]*row
	columns []column
	runs    []taker // that take part
}

// taker is a run that takes part in a group.
type taker struct {
	id, name string
	started  time.Time
	targets  []string
	doubt    string // see report.Doubt
	imported string // as result.Run.NotMeasuredHere

	described bool // it has an experiment
}

// The filters, in the order of a reader's choices.
const (
	byWorkload = iota
	bySize
	byMachine
	byDurability
	filters
)

// row is a system in one version, with the options that make it another one.
type row struct {
	system, options string
	cells           map[string]source // by the key of the column
	newest          source            // of the runs that take part
}

// source is the content of a cell: a target of a run.
type source struct {
	run    *result.Run
	target int
}

// column is a load or a query type, with its method of measurement: figures measured in
// different ways are not comparable.
type column struct {
	key       string           // of the whole
	what      string           // query type; empty: the load
	How, Help string           // number of workers and other conditions, and their explanation
	order     int              // among the columns of a run
	drawn     *result.QuerySet // of the first run that has the column; nil: not known
}

// is reports whether two columns are the same: subject, method and queries.
func (c *column) is(other *column) bool {
	if c.what != other.what || c.How != other.How || (c.drawn == nil) != (other.drawn == nil) {
		return false
	}
	return c.drawn == nil || c.drawn.SameDefinition(other.drawn)
}

// queries identifies a column's queries among others of the type.
func (c *column) queries() string {
	if c.drawn == nil {
		return "not known"
	}
	const enough = 8 // of 16 digits, to distinguish some columns
	return c.drawn.Definition[:min(enough, len(c.drawn.Definition))]
}

// Head is the column's name.
func (c column) Head() string {
	if c.what == "" {
		return "load, rows/s"
	}
	return c.what
}

// sort adds a run's targets to their groups.
func (s *Site) sort(r *result.Run) {
	names := make(map[string]int) // of rows, in this run
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Twin != "" {
			continue // a self-test is about the method, not about the system
		}
		g := s.groupOf(r, t)
		g.takes(r, t)
		system, options := systemOf(t), optionsOf(t)
		key := system + "\x00" + options
		if names[key]++; names[key] > 1 { // they differ in settings that are not options, such as the address
			options = format.Join(", ", options, "target "+t.Name)
			key = system + "\x00" + options
		}
		own := g.rows[key]
		if own == nil {
			own = &row{system: system, options: options, cells: make(map[string]source)}
			g.rows[key] = own
		}
		if own.newest.run == nil || newer(r, own.newest.run) {
			own.newest = source{r, i}
		}
		for _, c := range columnsOf(r, t) {
			at := slices.IndexFunc(g.columns, func(known column) bool { return known.is(&c) })
			if at < 0 {
				at, g.columns = len(g.columns), append(g.columns, c)
			}
			c.key = g.columns[at].key
			if known, ok := own.cells[c.key]; !ok || newer(r, known.run) {
				own.cells[c.key] = source{r, i}
			}
		}
	}
}

// takes notes that a target of a run takes part.
func (g *group) takes(r *result.Run, t *result.Target) {
	if n := len(g.runs); n == 0 || g.runs[n-1].id != r.ID {
		g.runs = append(g.runs, taker{id: r.ID, name: r.Name, started: r.Started, doubt: report.Doubt(r), imported: r.NotMeasuredHere(), described: r.Experiment != ""})
	}
	last := &g.runs[len(g.runs)-1]
	last.targets = append(last.targets, systemOf(t))
}

// newer reports whether a run began later than another one.
func newer(r, than *result.Run) bool {
	return cmp.Or(r.Started.Compare(than.Started), strings.Compare(r.ID, than.ID)) > 0
}

// groupOf returns the group of a target of a run. It makes the group if necessary.
func (s *Site) groupOf(r *result.Run, t *result.Target) *group {
	dataset := r.Dataset.Fingerprint
	if dataset == "" {
		dataset = "of run " + r.ID // it is unknown whether others have the same
	}
	machine, durability := terms.Machine(r, t), durabilityOf(t, s.opts.Levels(t.Driver))
	key := strings.Join([]string{dataset, machine, durability}, "\x00")
	g := s.groups[key]
	if g == nil {
		g = &group{dataset: &r.Dataset, rows: make(map[string]*row)}
		g.values = [filters]string{workloadOf(&r.Dataset), sizeOf(&r.Dataset, dataset), machine, durability}
		s.groups[key] = g
	}
	return g
}

func workloadOf(d *result.Dataset) string {
	return cmp.Or(printable.OneLine(d.Spec.Name), "not known")
}

// sizeOf returns the properties that distinguish a dataset from others of its workload. Settings
// and all other properties are in the fingerprint.
func sizeOf(d *result.Dataset, fingerprint string) string {
	span := d.Spec.End.Sub(d.Spec.Start)
	return fmt.Sprintf("scale %s, %s rows: %s from %s, every %v; dataset %s",
		humanize.Comma(int64(d.Spec.Scale)), humanize.Comma(d.Rows), spanText(span), d.Spec.Start.UTC().Format(time.DateOnly), d.Spec.Interval, fingerprint)
}

// spanText formats a span of time, in days if it is whole days.
func spanText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == day:
		return "1 day"
	case d > 0 && d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + " days"
	}
	return d.String()
}

// durabilityOf returns the level of durability of a target; by default, the level of the
// system as shipped. Changes by options follow the level.
func durabilityOf(t *result.Target, levels []driver.Profile) string {
	chosen := cmp.Or(t.Durability, driver.AsShipped)
	var wanted driver.Options
	names := make(map[string]bool) // of options that levels are made of
	for _, level := range levels {
		if level.Name == chosen {
			wanted = level.Options
		}
		for name := range level.Options {
			names[name] = true
		}
	}
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		want, set := wanted[name]
		value, configured := t.Options[name]
		if set && configured && value != want || !set && slices.ContainsFunc(t.Changes, func(c driver.Change) bool { return c.Name == name }) {
			changed = append(changed, name+"="+value)
		}
	}
	text := chosen
	if len(changed) > 0 {
		text += ", but " + strings.Join(changed, ", ")
	}
	return printable.OneLine(text)
}

func systemOf(t *result.Target) string {
	return printable.OneLine(t.System())
}

// optionsOf returns the profile and the options that differ from the defaults, except
// location and credentials.
func optionsOf(t *result.Target) string {
	var parts []string
	if t.Profile != "" {
		parts = append(parts, "profile "+t.Profile)
	}
	for _, c := range t.Changes {
		if !terms.AboutPlace(c.Name) {
			parts = append(parts, c.Name+"="+c.Value)
		}
	}
	if t.ServerMemory > 0 {
		parts = append(parts, "server-memory="+humanize.IBytes(uint64(t.ServerMemory)))
	}
	return printable.OneLine(strings.Join(parts, ", "))
}

// columnsOf returns the columns for which a target has a figure, or the reason for a missing
// one. A searched rate differs between targets, so service times at it are not
// comparable.
func columnsOf(r *result.Run, t *result.Target) []column {
	var list []column
	add := func(what, how, help string) {
		c := column{key: what + "\x00" + how, what: what, How: how, Help: help, order: len(list), drawn: r.QuerySet(what)}
		if c.drawn != nil {
			c.key += "\x00" + c.drawn.Definition
		}
		list = append(list, c)
	}
	if t.Load != nil {
		add("", howLoaded(r), "rows a second until all were visible and background work idle")
	}
	for i := range t.Queries {
		q := &t.Queries[i]
		if q.Outcome() == result.NotRun || q.Open != nil && q.Open.Search != nil {
			continue
		}
		add(q.Type, howQueried(r, q.Type), q.Help)
	}
	return list
}

// howLoaded describes how the loads of a run were done. A target that takes fewer writers
// still has its place beside the others.
func howLoaded(r *result.Run) string {
	workers, batch, more := 0, 0, ""
	for i := range r.Targets {
		l := r.Targets[i].Load
		if l == nil {
			continue
		}
		workers, batch = max(workers, l.Workers), max(batch, l.BatchSize)
		if l.Growth != nil {
			more = ", columns appear"
		}
		if l.Mixed != nil {
			more = ", before a mixed phase"
		}
	}
	return fmt.Sprintf("%s, batches of %s%s", workersText(workers), humanize.Comma(int64(batch)), more)
}

// howQueried describes how the queries of a type were run, and the origin of their texts.
func howQueried(r *result.Run, queryType string) string {
	workers, more, text := 0, "", ""
	for i := range r.Targets {
		for j := range r.Targets[i].Queries {
			q := &r.Targets[i].Queries[j]
			if q.Type != queryType {
				continue
			}
			workers = max(workers, q.Workers)
			if q.Cache != "" {
				more = ", caches dropped"
			}
			if q.Open != nil {
				more = ", " + q.Open.Schedule
			}
			text = cmp.Or(text, q.TextName())
		}
	}
	return format.Join(", ", workersText(workers)+more, text)
}

func workersText(n int) string {
	switch n {
	case 0:
		return "workers not known"
	case 1:
		return "1 worker"
	}
	return strconv.Itoa(n) + " workers"
}

// unequalDurability is terms.UnequalDurability of the rows.
func unequalDurability(rows []*row) string {
	var sides []terms.Side
	for _, r := range rows {
		sides = append(sides, terms.Side{Name: format.Join(" ", r.system, r.options), Of: []terms.Measured{{Run: r.newest.run, Target: &r.newest.run.Targets[r.newest.target]}}})
	}
	return terms.UnequalDurability(sides...)
}

// sortRows returns the rows by system, and those of a system by version, newest first.
func (g *group) sortRows() []*row {
	list := make([]*row, 0, len(g.rows))
	for _, r := range g.rows {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *row) int {
		return cmp.Or(byNumbers(a.system, b.system), strings.Compare(a.options, b.options))
	})
	return list
}

// byNumbers compares texts, with the numbers in them by their value.
func byNumbers(a, b string) int {
	for a != "" && b != "" {
		x, y := leadingDigits(a), leadingDigits(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		p, q := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if c := cmp.Or(len(p)-len(q), strings.Compare(p, q)); c != 0 {
			return c
		}
		a, b = a[len(x):], b[len(y):]
	}
	return len(a) - len(b)
}

func leadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

// sortColumns returns the columns: loads, then query types in the order run. Columns of the same name
// identify their queries.
func (g *group) sortColumns() []column {
	list := slices.Clone(g.columns)
	slices.SortStableFunc(list, func(a, b column) int {
		loads := 0
		if (a.what == "") != (b.what == "") {
			loads = 1
			if a.what == "" {
				loads = -1
			}
		}
		return cmp.Or(loads, a.order-b.order, strings.Compare(a.what, b.what), strings.Compare(a.How, b.How), strings.Compare(a.queries(), b.queries()))
	})
	named := func(c column) [2]string { return [2]string{c.what, c.How} }
	columns := make(map[[2]string]int)
	for _, c := range list {
		columns[named(c)]++
	}
	for i := range list {
		if c := &list[i]; columns[named(*c)] > 1 {
			c.How += ", queries " + c.queries()
		}
	}
	return list
}

// entries returns the board entries of the rows' cells in a column, in the order of the rows;
// an entry is nil if the row has no cell. boards caches boards of the same subjects.
func (g *group) entries(rows []*row, c *column, boards map[string]*report.Board) []*report.BoardEntry {
	var subjects []report.Subject
	var at []int
	key := ""
	for i, r := range rows {
		if of, ok := r.cells[c.key]; ok {
			subjects, at = append(subjects, report.Subject{Run: of.run, Target: of.target}), append(at, i)
			key += of.run.ID + " " + strconv.Itoa(of.target) + "\n"
		}
	}
	if boards[key] == nil {
		boards[key] = report.NewBoard(subjects...)
	}
	found := boards[key].Loads
	if c.what != "" {
		found = func() []report.BoardEntry { return boards[key].Type(c.what) }
	}
	list := make([]*report.BoardEntry, len(rows))
	for i, s := range found() {
		list[at[i]] = &s
	}
	return list
}
