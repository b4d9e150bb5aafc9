// Package terms describes the conditions under which targets were measured, and finds the
// ones in which two targets differ. It has the only list of conditions: comparisons, reports
// of one run and sites of many use it.
package terms

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/result"
)

// Names of conditions that functions of this package refer to.
const (
	durability  = "durability"
	safety      = "acknowledged rows"
	loadWorkers = "load workers"
	batchSize   = "batch size"
)

// Scope is which figures a condition bears on.
type Scope int

// The scopes.
const (
	Everything Scope = iota
	Queries
	Loads
	Mixed // figures of mixed phases, on which conditions of loads bear too
)

// condition is a term of a measurement that can explain a ratio of two.
type condition struct {
	name  string
	scope Scope
	// bars says that targets of different runs that differ in it are given no verdict.
	bars bool
	// read returns the condition of a target in words, or "" if it is unknown or does not apply.
	read func(*result.Run, *result.Target) string
}

// conditions returns all conditions, the barring ones first. Options add further ones:
// each under its own name.
func conditions() []condition {
	return []condition{
		{name: "dataset", bars: true, read: dataset},
		{name: "host", bars: true, read: Machine},
		{name: durability, bars: true, read: func(_ *result.Run, t *result.Target) string { return Level(t) }},
		{name: "disk", bars: true, read: disk},
		{name: "loop", bars: true, scope: Queries, read: queries(loop)},
		{name: "cache", bars: true, scope: Queries, read: queries(cache)},
		{name: "mixed phase", bars: true, scope: Mixed, read: loads(mixedRates)},

		{name: "result cache", scope: Queries, read: resultCache},
		{name: "place", read: place},
		{name: "query workers", scope: Queries, read: queries(func(q *result.Queries) string { return count(q.Workers) })},
		{name: "query time-out", scope: Queries, read: queries(func(q *result.Queries) string { return seconds(q.Timeout) })},
		{name: loadWorkers, scope: Loads, read: loads(func(l *result.Load) string { return count(l.Workers) })},
		{name: batchSize, scope: Loads, read: loads(func(l *result.Load) string { return count(l.BatchSize) })},
		{name: "load", scope: Loads, read: loads(kindOfLoad)},
		{name: safety, scope: Loads, read: func(_ *result.Run, t *result.Target) string { return string(t.Description.Safety) }},
		{name: "steps after the load", read: loads(steps)},
		{name: "clients", read: func(r *result.Run, _ *result.Target) string { return count(max(1, len(r.Agents))) }},
		{name: "server memory", read: memory},
		{name: "server settings", read: func(_ *result.Run, t *result.Target) string { return t.ServerSettingsText() }},
		{name: "server between turns", read: func(_ *result.Run, t *result.Target) string { return t.Idle }},
		{name: "profile", read: func(_ *result.Run, t *result.Target) string { return t.Profile }},
		{name: "existing data", read: func(_ *result.Run, t *result.Target) string { return t.Adopted }},
		{name: "system settings of the host", read: hostSettings},
		{name: "tsmark", read: func(r *result.Run, _ *result.Target) string { return joinNonEmpty(", ", r.Tool.Version, r.Tool.Commit) }},
	}
}

// Difference is a condition in which sides differ.
type Difference struct {
	Condition string  `json:"condition"`
	Values    []Value `json:"values"` // at least two
	Scope     Scope   `json:"-"`
	// Bars says that no verdict is given because of it.
	Bars bool `json:"bars,omitempty"`
}

// Value is a condition's value on some sides, in words.
type Value struct {
	Text string   `json:"text"`
	Of   []string `json:"of"` // names of these sides
}

// String names the condition, and the value on each side.
func (d Difference) String() string {
	parts := make([]string, len(d.Values))
	for i, v := range d.Values {
		parts[i] = v.Text + " (" + strings.Join(v.Of, ", ") + ")"
	}
	return d.Condition + ": " + strings.Join(parts, ", ")
}

// Concerns reports whether the difference bears on queries, on loads, or on mixed phases.
func (d Difference) Concerns(scope Scope) bool {
	return d.Scope == Everything || d.Scope == scope || d.Scope == Loads && scope == Mixed
}

// Measured is a target in a run.
type Measured struct {
	Run    *result.Run
	Target *result.Target
}

// Side is one target, in one or several runs.
type Side struct {
	Name string
	Of   []Measured
}

// Differences lists the differences between sides. Targets of one run differ in the properties that
// the run compares: these do not bar a verdict.
func Differences(sides ...Side) []Difference {
	oneRun := !slices.ContainsFunc(all(sides), func(m Measured) bool { return m.Run.ID != sides[0].Of[0].Run.ID })
	var list []Difference
	add := func(d Difference, read func(Measured) string) {
		compared := sides
		if d.OfSafety() { // which is unknown of some systems
			compared = slices.DeleteFunc(slices.Clone(sides), func(s Side) bool {
				return slices.ContainsFunc(s.Of, func(m Measured) bool { return read(m) == "" })
			})
		}
		if d.compare(compared, read) {
			list = append(list, d)
		}
	}
	for _, c := range conditions() {
		read := func(m Measured) string { return c.read(m.Run, m.Target) }
		if c.name == durability {
			// Settings of servers are a condition of their own. Where levels differ, they are named here, too.
			if !new(Difference).compare(sides, durabilityAmong(sides, chosenLevel)) {
				continue
			}
			read = durabilityAmong(sides, Level)
		}
		add(Difference{Condition: c.name, Scope: c.scope, Bars: c.bars && !oneRun}, read)
	}
	if ofOneSystem(sides) {
		for _, name := range optionNames(sides) {
			add(Difference{Condition: "option " + name}, func(m Measured) string { return m.Target.Options[name] })
		}
	}
	return list
}

// compare sets the values of the sides, and reports whether they differ.
func (d *Difference) compare(sides []Side, read func(Measured) string) bool {
	for _, s := range sides {
		text := words(s.Of, read)
		at := slices.IndexFunc(d.Values, func(v Value) bool { return v.Text == text })
		if at < 0 {
			at, d.Values = len(d.Values), append(d.Values, Value{Text: text})
		}
		d.Values[at].Of = append(d.Values[at].Of, s.Name)
	}
	return len(d.Values) > 1 || slices.ContainsFunc(sides, func(s Side) bool { return varies(s.Of, read) })
}

// OfWriters reports whether it is a difference that Writers describes.
func (d Difference) OfWriters() bool { return d.Condition == loadWorkers || d.Condition == batchSize }

// OfSafety reports whether it is a difference that UnequalDurability describes.
func (d Difference) OfSafety() bool { return d.Condition == safety }

// UnequalDurability says where rows are when a side acknowledges them, if that differs: rates of loads are then those
// of different work. Sides that do not report it are named. If no side reports it, or all are of one system, levels of
// durability take its place.
func UnequalDurability(sides ...Side) string {
	list, known := Differences(sides...), ""
	for _, d := range list {
		if d.Condition == safety {
			known = "unequal durability: " + d.String()
		}
	}
	var unknown []string
	for _, s := range sides {
		if slices.ContainsFunc(s.Of, func(m Measured) bool { return m.Target.Description.Safety == "" }) {
			unknown = append(unknown, s.Name)
		}
	}
	switch {
	case len(unknown) == 0:
		return known
	case len(unknown) < len(sides) && !ofOneSystem(sides):
		return strings.TrimPrefix(known+"; unknown durability: "+strings.Join(unknown, ", "), "; ")
	case known != "":
		return known
	}
	for _, d := range list {
		if d.Condition == durability {
			return "unequal " + d.String()
		}
	}
	return ""
}

func ofOneSystem(sides []Side) bool {
	list := all(sides)
	return !slices.ContainsFunc(list, func(m Measured) bool { return m.Target.Driver != list[0].Target.Driver })
}

// Writers says with how many workers and which batches each side was loaded. It is empty if the
// sides do not differ in them.
func Writers(sides ...Side) string {
	read := loads(func(l *result.Load) string { return plural(l.Workers, "worker") + " × " + plural(l.BatchSize, "row") })
	var d Difference
	sides = slices.DeleteFunc(slices.Clone(sides), func(s Side) bool {
		return !slices.ContainsFunc(s.Of, func(m Measured) bool { return read(m.Run, m.Target) != "" })
	})
	if !d.compare(sides, func(m Measured) string { return read(m.Run, m.Target) }) {
		return ""
	}
	parts := make([]string, len(d.Values))
	for i, v := range d.Values {
		parts[i] = strings.Join(v.Of, " and ") + " with " + v.Text
	}
	return strings.Join(parts, ", ")
}

func all(sides []Side) (list []Measured) {
	for _, s := range sides {
		list = append(list, s.Of...)
	}
	return list
}

// disk tells a disk that was made for crashes, on which forcing rows to disk takes longer.
func disk(_ *result.Run, t *result.Target) string {
	if t.Crash == nil || t.Crash.Disk == "" {
		return ""
	}
	return "made for crashes"
}

// words returns a side's condition: one value, or the differing values of its runs.
func words(of []Measured, read func(Measured) string) string {
	var values []string
	for _, m := range of {
		if v := cmp.Or(printable.OneLine(read(m)), "none"); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return strings.Join(values, " and ")
}

// varies reports whether the runs of a side differ in a condition.
func varies(of []Measured, read func(Measured) string) bool {
	return slices.ContainsFunc(of, func(m Measured) bool { return printable.OneLine(read(m)) != printable.OneLine(read(of[0])) })
}

// durabilityAmong reads levels of durability. If targets of one system have the same
// level but differ in durability because of single options, the
// system's own words follow the level.
func durabilityAmong(sides []Side, level func(*result.Target) string) func(Measured) string {
	described := make(map[string][]string) // by system and level
	key := func(t *result.Target) string { return t.Driver + " " + level(t) }
	for _, m := range all(sides) {
		if text := m.Target.Description.Durability; !slices.Contains(described[key(m.Target)], text) {
			described[key(m.Target)] = append(described[key(m.Target)], text)
		}
	}
	return func(m Measured) string {
		if len(described[key(m.Target)]) < 2 {
			return level(m.Target)
		}
		return joinNonEmpty(": ", level(m.Target), m.Target.Description.Durability)
	}
}

// optionNames lists the options of sides, except location and credentials.
func optionNames(sides []Side) []string {
	var names []string
	for _, m := range all(sides) {
		for name := range m.Target.Options {
			if !AboutPlace(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// AboutPlace reports whether an option says where a database is and as whom, which
// makes it no other system.
func AboutPlace(option string) bool {
	last := option[strings.LastIndexAny(option, "_-")+1:]
	return slices.Contains([]string{"host", "hosts", "port", "user", "password", "tls", "timeout", "database", "path", "token", "org", "bucket", "keyspace", "socket", "url", "address"}, last)
}

// Machine describes the machine: see result.SameMachine. A server outside
// it is on another one.
func Machine(r *result.Run, t *result.Target) string {
	h := &r.Host
	cores := ""
	if h.Cores > 0 {
		cores = plural(h.Cores, "core")
	}
	memory := ""
	if h.Memory > 0 {
		memory = humanize.IBytes(h.Memory)
	}
	text := joinNonEmpty(", ", h.CPU, h.Arch, cores, memory, h.Disk)
	if h.CPULimit > 0 {
		text += ", limit of " + strconv.FormatFloat(h.CPULimit, 'g', 4, 64) + " cores"
	}
	if h.MemoryLimit > 0 {
		text += ", limit of " + humanize.IBytes(h.MemoryLimit)
	}
	if !t.Embedded && !t.CoLocated {
		text = joinNonEmpty("; ", text, "server elsewhere")
	}
	return printable.OneLine(text)
}

// hostSettings returns the settings of a machine's operating system.
func hostSettings(r *result.Run, _ *result.Target) string {
	h := &r.Host
	turbo, governor := "", ""
	if h.Turbo != "" {
		turbo = "turbo " + h.Turbo
	}
	if h.Governor != "" {
		governor = "governor " + h.Governor
	}
	return joinNonEmpty(", ", h.OS, h.Kernel, h.FileSystem, governor, turbo)
}

// place describes how tsmark reaches a target.
func place(_ *result.Run, t *result.Target) string {
	switch {
	case t.Embedded:
		return "in tsmark's process"
	case t.CoLocated:
		return "a server on tsmark's host"
	}
	return "a server elsewhere"
}

func dataset(r *result.Run, _ *result.Target) string {
	d := &r.Dataset
	const enough = 12 // digits, to distinguish two
	name := d.Spec.Name
	if name != "" {
		name += " at scale " + count(int(d.Spec.Scale))
	}
	return joinNonEmpty(" ", name, d.Fingerprint[:min(enough, len(d.Fingerprint))])
}

// Level returns the chosen level of durability, by default that of the system as shipped. A server that tsmark
// started with settings of the user's is not as shipped.
func Level(t *result.Target) string {
	if t.Durability == "" && len(t.ServerSettings) > 0 {
		return "own settings"
	}
	return chosenLevel(t)
}

func chosenLevel(t *result.Target) string { return cmp.Or(t.Durability, driver.AsShipped) }

func memory(_ *result.Run, t *result.Target) string {
	if t.ServerMemory == 0 {
		return "all of its host's"
	}
	return "at most " + humanize.IBytes(uint64(t.ServerMemory))
}

// resultCache describes a cache that may have answered queries.
func resultCache(_ *result.Run, t *result.Target) string {
	if t.ResultCache.Answers() {
		return t.ResultCache.String()
	}
	return ""
}

func loop(q *result.Queries) string {
	switch o := q.Open; {
	case o == nil:
		return "closed"
	case o.Search != nil:
		return "open, at the highest rate with " + o.Search.Objective
	case !o.EachResponse:
		return "open, " + o.Schedule + ", by service times"
	default:
		return "open, " + o.Schedule
	}
}

func cache(q *result.Queries) string {
	switch {
	case q.Cache == "":
		return "warm"
	case q.Cold:
		return "cold"
	}
	return "not cold, though " + q.Cache
}

func kindOfLoad(l *result.Load) string {
	switch {
	case l.Mixed != nil:
		return "before a mixed phase"
	case l.Growth != nil:
		return "in steps"
	}
	return "of all rows"
}

// mixedRates describes the rates of a load's mixed phase; empty: it has none.
func mixedRates(l *result.Load) string {
	m := l.Mixed
	switch {
	case m == nil:
		return ""
	case m.Share > 0:
		return strconv.FormatFloat(100*m.Share, 'g', 3, 64) + " % of the operations are batches"
	}
	return "rows " + cmp.Or(m.RowRate, "without a rate") + ", queries " + cmp.Or(m.QueryRate, "without a rate")
}

func steps(l *result.Load) string {
	var names []string
	for _, s := range l.Steps {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// queries reads a condition of all query types that a target ran, and lists differing
// types side by side.
func queries(of func(*result.Queries) string) func(*result.Run, *result.Target) string {
	return func(_ *result.Run, t *result.Target) string {
		var values []string
		for _, r := range t.MeasuredRepeats() {
			for i := range r.Queries {
				if q := &r.Queries[i]; q.Executed > 0 && !slices.Contains(values, of(q)) {
					values = append(values, of(q))
				}
			}
		}
		return strings.Join(values, " and ")
	}
}

func loads(of func(*result.Load) string) func(*result.Run, *result.Target) string {
	return func(_ *result.Run, t *result.Target) string {
		var values []string
		for _, r := range t.MeasuredRepeats() {
			if r.Load != nil && !slices.Contains(values, of(r.Load)) {
				values = append(values, of(r.Load))
			}
		}
		return strings.Join(values, " and ")
	}
}

// ReasonUnranked returns why a target is not ranked, whatever its figures are. It is empty if the
// target is ranked. A wrong answer removes all of the target's figures from
// headlines, rankings and means: the cause of the error may have made the others fast.
func ReasonUnranked(t *result.Target) string {
	if why := t.Uncomparable(); why != "" {
		return why
	}
	var wrong, withheld []string
	add := func(name string, q result.Verdict, why string) {
		list := &withheld
		if q.Difference != "" {
			list = &wrong
		}
		if (q.Difference != "" || why != "") && !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	load := ""
	for _, r := range t.MeasuredRepeats() {
		for i := range r.Queries {
			if q := &r.Queries[i]; q.Texts != result.TextsOwn { // own texts may themselves be wrong
				add(q.Type, q.Verdict, q.Withheld)
			}
		}
		if r.Load == nil {
			continue
		}
		if r.Load.Withheld != "" {
			load = "the load is withheld"
		}
		if m := r.Load.Mixed; m != nil {
			for i := range m.Types {
				add(m.Types[i].Type+" (while rows were written)", m.Types[i].Verdict, m.Types[i].Withheld)
			}
		}
	}
	withheld = slices.DeleteFunc(withheld, func(name string) bool { return slices.Contains(wrong, name) })
	reasons := []string{load}
	if len(wrong) > 0 {
		reasons[0] = "wrong answers in " + strings.Join(wrong, ", ")
	}
	if len(withheld) > 0 {
		reasons = append(reasons, "figures of "+strings.Join(withheld, ", ")+" withheld")
	}
	return joinNonEmpty("; ", reasons...)
}

func count(n int) string {
	if n <= 0 {
		return ""
	}
	return humanize.Comma(int64(n))
}

func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return time.Duration(s * float64(time.Second)).String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}

// joinNonEmpty joins the parts that are not empty.
func joinNonEmpty(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}
