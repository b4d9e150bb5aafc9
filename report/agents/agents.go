// Package agents shows what each agent did in a run that several machines shared.
package agents

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// work is the part of a measurement that agents share: rows or queries.
type work struct {
	Unit    string // of its rate
	Count   func(*result.Part) int64
	Latency func(*result.Part) *result.Latency
}

func rowWork() work {
	return work{"rows/s", func(p *result.Part) int64 { return p.Rows }, func(p *result.Part) *result.Latency { return p.Batches }}
}

func queryWork() work {
	return work{"queries/s", func(p *result.Part) int64 { return p.Queries }, func(p *result.Part) *result.Latency { return p.Service }}
}

// Shared is a measurement that agents shared, or one kind of work in it, with
// valid figures.
type Shared struct {
	Name string // of the measurement
	work
	Cells []*result.Cell // of its repeats
	// Rate and Latency are those of the measurement itself: of all agents as if
	// they were one client.
	Rate    float64
	Latency result.Latency
}

// SharedWork lists the work on a target that agents shared.
func SharedWork(t *result.Target) []Shared {
	var list []Shared
	add := func(name string, w work, cells []*result.Cell, rate float64, latencies ...*result.Latency) {
		if !slices.ContainsFunc(cells, func(c *result.Cell) bool { return len(c.Parts) > 0 }) {
			return
		}
		all, _ := result.MergedLatency(latencies...) // without a histogram there is no latency to show
		list = append(list, Shared{name, w, cells, rate, all})
	}
	for _, m := range rank.Measurements(t) {
		if m.Name != compare.LoadSubject {
			if q := rank.FindQueries(t, m.Name); q != nil {
				add(m.Name, queryWork(), m.Cells, q.PerSecond, &q.Service)
			}
			continue
		}
		rows, seconds := int64(0), 0.0
		var batches []*result.Latency
		for _, l := range listLoads(t) {
			if l.HasFigures() {
				rows, seconds, batches = rows+l.Rows, seconds+cmp.Or(l.Acked, l.Sent), append(batches, &l.Batches)
			}
		}
		add(m.Name, rowWork(), m.Cells, result.PerSecond(rows, seconds), batches...)
	}
	if t.Load.HasFigures() && t.Load.Mixed != nil {
		m := t.Load.Mixed
		cells := []*result.Cell{&m.Writes.Cell}
		add(compare.MixedSubject+": rows", rowWork(), cells, result.PerSecond(m.Writes.Rows, m.Wall), &m.Writes.Batches)
		queries, times := 0.0, []*result.Latency(nil)
		for i := range m.Types {
			if q := &m.Types[i]; q.Withheld == "" && q.Failed == nil {
				queries, times = queries+q.PerSecond, append(times, &q.Service)
			}
		}
		add(compare.MixedSubject+": queries", queryWork(), cells, queries, times...)
	}
	return list
}

// listLoads returns the loads of a target's repeats.
func listLoads(t *result.Target) []*result.Load {
	var list []*result.Load
	for _, r := range t.MeasuredRepeats() {
		if r.Load != nil {
			list = append(list, r.Load)
		}
	}
	return list
}

// Use is one agent's part in shared work, over all repeats, or the sum over all
// agents.
type Use struct {
	Name    string
	Shares  []int // that it had, each once
	Rate    float64
	Latency result.Latency
	// CPU is a share of all cores of its machine; Sent and Received are bytes a
	// second of the whole machine. The rest is the worst of the repeats.
	CPU, PauseMax, Scheduling, Sent, Received result.Value
	User, System                              result.Value // CPU seconds of all repeats
	Skew                                      float64      // of the repeat in which it was largest, of shares that it had first
	Bound, Lost, TakenOver, Noisy             string
}

// Uses lists the agents by their first share.
func (s *Shared) Uses() []Use {
	var names []string
	parts := map[string][]*result.Part{}
	skews := map[string]float64{}
	for _, c := range s.Cells {
		for i, p := range c.Parts {
			if parts[p.Agent] == nil {
				names = append(names, p.Agent)
			}
			parts[p.Agent] = append(parts[p.Agent], &c.Parts[i])
			if c.First(i) && math.Abs(p.Skew) > math.Abs(skews[p.Agent]) {
				skews[p.Agent] = p.Skew
			}
		}
	}
	list := make([]Use, 0, len(names))
	for _, name := range names {
		u := s.use(name, parts[name])
		u.Skew = skews[name]
		list = append(list, u)
	}
	slices.SortStableFunc(list, func(a, b Use) int { return cmp.Compare(a.Shares[0], b.Shares[0]) })
	return list
}

func (s *Shared) use(agent string, parts []*result.Part) Use {
	no := result.Absent()
	u := Use{Name: agent, CPU: no, PauseMax: no, Scheduling: no, Sent: no, Received: no, User: no, System: no}
	n, wall := int64(0), 0.0
	var latencies []*result.Latency
	var used, user, system, available, sent, received, watched result.Value
	known := false
	for _, p := range parts {
		if !slices.Contains(u.Shares, p.Share) {
			u.Shares = append(u.Shares, p.Share)
		}
		n, wall, latencies = n+s.Count(p), wall+p.Wall, append(latencies, s.work.Latency(p))
		u.Bound, u.Lost, u.TakenOver = cmp.Or(u.Bound, p.ClientBound), cmp.Or(u.Lost, lostReason(agent, p.Lost)), cmp.Or(u.TakenOver, p.TakenOver)
		u.Noisy = cmp.Or(u.Noisy, p.Noise.Noisy())
		if c := p.Client; c != nil {
			known = true
			user, system = user+c.User, system+c.System
			used, available = used+c.CPU, available+result.Value(c.Wall*float64(c.Cores))
			sent, received, watched = sent+c.NetSent, received+c.NetReceived, watched+result.Value(c.Wall)
			rank.KeepWorst(&u.PauseMax, result.Value(c.GCPauseMax))
			rank.KeepWorst(&u.Scheduling, c.SchedulingP99)
		}
	}
	u.Rate = result.PerSecond(n, wall)
	u.Latency, _ = result.MergedLatency(latencies...) // without a histogram there is no latency to show
	if known && available > 0 {
		u.User, u.System = user, system
		u.CPU, u.Sent, u.Received = used/available, sent/watched, received/watched
	}
	return u
}

// spread returns the time between the first agent's begin and the last one's.
func (s *Shared) spread() float64 {
	most := 0.0
	for _, c := range s.Cells {
		most = max(most, c.StartSpread())
	}
	return most
}

// tooWide reports whether in some repeat the agents began too far apart.
func (s *Shared) tooWide() bool { return slices.ContainsFunc(s.Cells, (*result.Cell).SpreadTooWide) }

// Table shows the agents of a run, and the offsets of their clocks. It is nil for a run
// without agents.
func Table(r *result.Run) *doc.Table {
	if len(r.Agents) == 0 {
		return nil
	}
	view := &doc.Table{Title: "Agents", Columns: []doc.Column{
		{Head: "agent"},
		{Head: "machine", Help: "processor and system", Words: true, Rank: 4},
		{Head: "cores"},
		{Head: "tsmark", Help: "version of the program", Words: true, Rank: 3},
		{Head: "clock ahead", Help: "by how much its clock was ahead of the coordinator's before the first phase; below 0: behind"},
		{Head: "±", Help: "how uncertain that is: half of the shortest round trip", Follows: true},
		{Head: "at the end", Help: "the same after the last phase"},
		{Head: "±", Help: "how uncertain that is", Follows: true},
		{Head: "round trip", Help: "the shortest one to the coordinator and back", Rank: 1},
		{Head: "finding", Words: true},
	}}
	for i := range r.Agents {
		a := &r.Agents[i]
		finding := doc.Plain("there until the end")
		if a.Set() {
			finding = doc.Bad("clock was set during the run: it moved by " + format.Duration(a.Drift()))
		}
		if a.Lost != "" {
			finding = doc.Bad("lost: " + lostReason(a.Name, a.Lost))
		}
		begin, end := clockCells(a.Begin), clockCells(a.End)
		trip := doc.None()
		if c := a.Clock(); c != nil {
			trip = doc.Plain(format.Duration(c.RoundTrip))
		}
		view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(a.Name), doc.Plain(format.Join(", ", a.Host.CPU, a.Host.OS)), doc.Plain(format.Count(int64(a.Host.Cores))),
			doc.Plain(a.Tool.Version), begin[0], begin[1], end[0], end[1], trip, finding}})
	}
	view.Notes = append(view.Notes, doc.Dim("All times of an agent are by its own clock, which ran for it alone, so that no latency depends on these differences. They bear on when agents began, on the time line, and on the order of operations of different agents."))
	return view
}

func clockCells(c *result.Clock) []doc.Span {
	if c == nil {
		return []doc.Span{doc.None(), doc.None()}
	}
	return []doc.Span{doc.Plain(format.SignedDuration(c.Offset)), doc.Plain(format.Duration(c.Uncertainty))}
}

// PartsTable shows each agent's part of each measurement, and all of them as if
// they were one client. It is nil if no two agents shared a measurement.
func PartsTable(r *result.Run) *doc.Table {
	view := &doc.Table{Title: "Agents: what each did", Terminal: doc.Doubtful, Columns: []doc.Column{
		{Head: "target"}, {Head: "measurement", Words: true, Names: true}, {Head: "agent", Words: true, Names: true},
		{Head: "share", Help: "which part of the rows or queries it had, from 1", Words: true, Rank: 5},
		{Head: "rate", Help: "rows or queries a second, over the time that its own share took"},
		{Head: "median", Help: "of batches from handing over to acknowledgement, of queries from sending to the last byte"},
		{Head: "p99", Help: "99 of 100 took no longer"},
		{Head: "CPU", Help: "share of all cores of its machine that tsmark used"},
		{Head: "start", Help: "by how much it began later than all were told to, in the worst repeat; of all: from the first to the last"},
		{Head: "finding", Words: true},
		{Head: "GC pause max", Help: "longest pause in which tsmark collected garbage; it lengthens latencies", Rank: 3},
		{Head: "wait p99", Help: "scheduling delay: how long a goroutine that could go on waited for a processor, 99th percentile of the worst repeat", Rank: 2},
		{Head: "sent/s", Help: "bytes a second that its machine sent", Rank: 4},
		{Head: "received/s", Help: "bytes a second that its machine received", Rank: 4},
	}}
	left := 0
	for i := range r.Targets {
		t := &r.Targets[i]
		for _, s := range SharedWork(t) {
			uses := s.Uses()
			few := notableAgents(uses)
			left = max(left, len(uses)-len(few))
			for _, u := range few {
				view.Rows = append(view.Rows, doc.Row{Cells: append([]doc.Span{doc.Plain(t.Label()), doc.Plain(s.Name)}, u.cells(s.Unit)...)})
			}
			view.Rows = append(view.Rows, doc.Row{Cells: append([]doc.Span{doc.Plain(t.Label()), doc.Plain(s.Name)}, s.cells()...), Total: true})
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = append(view.Notes, doc.Dim("Rows of all are the figures of the measurement, computed from all operations of all agents, not averages of the rows above them. The rates of agents can add up to more, since each rate covers only the time of the agent's own share."))
	if left > 0 {
		view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("Of many agents these are the fastest one, the slowest one, the one that began last, and those with a finding; up to %d more of a measurement are in JSON and CSV.", left)))
	}
	return view
}

// manyAgents is the maximum number of agents of a measurement that are all shown.
const manyAgents = 16

// notableAgents returns all agents, or only the ones worth showing if there are many: see manyAgents.
func notableAgents(all []Use) []Use {
	if len(all) <= manyAgents {
		return all
	}
	byRate := func(a, b Use) int { return cmp.Compare(a.Rate, b.Rate) }
	slowest, fastest := slices.MinFunc(all, byRate), slices.MaxFunc(all, byRate)
	last := slices.MaxFunc(all, func(a, b Use) int { return cmp.Compare(a.Skew, b.Skew) })
	return slices.DeleteFunc(slices.Clone(all), func(u Use) bool {
		return u.finding().Tone != format.ToneBad && !slices.Contains([]string{slowest.Name, fastest.Name, last.Name}, u.Name)
	})
}

func (u *Use) cells(unit string) []doc.Span {
	return append([]doc.Span{doc.Plain(u.Name), doc.Plain(u.ShareList()), cell.Rate(u.Rate, unit)},
		append(cell.Latencies(&u.Latency), cell.Share(u.CPU), doc.Plain(format.SignedDuration(u.Skew)), u.finding(),
			cell.Delay(u.PauseMax), cell.Delay(u.Scheduling), cell.Figure(u.Sent, format.PartialSize), cell.Figure(u.Received, format.PartialSize))...)
}

// lostReason returns why an agent was lost, without its name, which is in the cell beside it.
func lostReason(agent, lost string) string {
	return strings.TrimPrefix(lost, "agent "+agent+" was lost: ")
}

// ShareList numbers the shares from 1, as people do.
func (u *Use) ShareList() string {
	shares := make([]string, len(u.Shares))
	for i, n := range u.Shares {
		shares[i] = fmt.Sprint(n + 1)
	}
	return strings.Join(shares, ", ")
}

func (u *Use) finding() doc.Span {
	switch {
	case u.Lost != "" && u.TakenOver != "":
		return doc.Bad("not finished: " + u.Lost + "; loaded again by " + u.TakenOver)
	case u.Lost != "":
		return doc.Bad("not finished: " + u.Lost)
	case u.Bound != "":
		return doc.Bad("client-bound: " + u.Bound)
	case u.Noisy != "":
		return doc.Bad("noisy host: " + u.Noisy)
	}
	return doc.Plain("not the limit")
}

// cells returns the cells for all agents together.
func (s *Shared) cells() []doc.Span {
	start := doc.Plain(format.Duration(s.spread()))
	finding := doc.Span{}
	if s.tooWide() {
		start.Tone = format.ToneBad
		finding = doc.Bad("began too far apart")
	}
	nothing := doc.None()
	return append([]doc.Span{doc.Strong("all"), {}, cell.Rate(s.Rate, s.Unit)},
		append(cell.Latencies(&s.Latency), nothing, start, finding, nothing, nothing, nothing, nothing)...)
}

// Notes are warnings about a run's agents, shown before all figures: shares that were
// lost or loaded again, agents that were the limit, starts
// too far apart, and clocks too uncertain to order operations.
func Notes(r *result.Run) []doc.Span {
	if len(r.Agents) == 0 {
		return nil
	}
	var list []doc.Span
	warn := func(format string, args ...any) { list = append(list, doc.Bad(fmt.Sprintf(format, args...))) }
	for i := range r.Targets {
		t := &r.Targets[i]
		for _, p := range listParts(t) {
			if p.Complete() {
				continue
			}
			what := fmt.Sprintf("Target %s, %s: agent %s did not finish share %d: %s.", t.Name, p.of, p.Agent, p.Share+1, lostReason(p.Agent, p.Lost))
			switch {
			case p.TakenOver != "":
				what += " Agent " + p.TakenOver + " loaded it again from its beginning: rows may have been sent twice, and the time has both."
			default:
				what += " Nobody took it over."
			}
			list = append(list, doc.Bad(what))
		}
	}
	var bound, wide, blurred []string
	uncertain := r.ClockUncertainty()
	for i := range r.Targets {
		t := &r.Targets[i]
		for _, s := range SharedWork(t) {
			name := t.Name + ", " + s.Name
			for _, u := range s.Uses() {
				if u.Bound != "" {
					bound = append(bound, fmt.Sprintf("agent %s in %s (%s)", u.Name, name, u.Bound))
				}
			}
			if s.tooWide() {
				wide = append(wide, fmt.Sprintf("%s (%s)", name, format.Duration(s.spread())))
			}
			if s.Latency.Holds(0.5) && uncertain > s.Latency.Median {
				blurred = append(blurred, fmt.Sprintf("%s (%s)", name, format.Duration(s.Latency.Median)))
			}
		}
	}
	if len(bound) > 0 {
		warn("Client-bound: %s. The system may be faster than shown; add agents or cores.", format.Few(bound))
	}
	if len(wide) > 0 {
		warn("Agents began further apart than %g %% of the phase: %s. In that time not all of them worked.", 100*result.MostSpread, format.Few(wide))
	}
	if len(blurred) > 0 {
		warn("Clocks of two agents are uncertain against each other by up to %s, longer than the median latency of %s: which of two operations of different agents came first cannot be told. Latencies and rates do not depend on it.",
			format.Duration(uncertain), format.Few(blurred))
	}
	return list
}

// OnlyMissing reports whether the figures of a query type are withheld for shares that
// agents did not finish, and for no answer that was wrong.
func OnlyMissing(t *result.Target, name string) bool {
	missing := false
	for _, r := range t.MeasuredRepeats() {
		for i := range r.Queries {
			q := &r.Queries[i]
			if q.Type != name || q.Withheld == "" {
				continue
			}
			if len(q.Missing()) == 0 || q.Verdict.Difference != "" {
				return false
			}
			missing = true
		}
	}
	return missing
}

// measuredPart is a part with its measurement.
type measuredPart struct {
	*result.Part
	of string
}

// listParts returns all parts of a target, including those of withheld figures.
func listParts(t *result.Target) []measuredPart {
	var list []measuredPart
	repeats := t.MeasuredRepeats()
	for _, r := range repeats {
		add := func(of string, c *result.Cell) {
			if len(repeats) > 1 {
				of += fmt.Sprintf(" of repeat %d", r.Number)
			}
			for i := range c.Parts {
				list = append(list, measuredPart{&c.Parts[i], of})
			}
		}
		if r.Load != nil {
			add(compare.LoadSubject, &r.Load.Cell)
			if r.Load.Mixed != nil {
				add(compare.MixedSubject, &r.Load.Mixed.Writes.Cell)
			}
		}
		for i := range r.Queries {
			add(r.Queries[i].Type, &r.Queries[i].Cell)
		}
	}
	return list
}

// Summary returns the number of agents of a run and the offsets of their clocks, or "" without
// agents.
func Summary(r *result.Run) string {
	if len(r.Agents) == 0 {
		return ""
	}
	names := make([]string, len(r.Agents))
	for i := range r.Agents {
		names[i] = r.Agents[i].Name
	}
	text := format.Plural(len(names), "agent") + ": " + format.Few(names)
	apart := 0.0
	for i := range r.Targets {
		for _, s := range SharedWork(&r.Targets[i]) {
			apart = max(apart, s.spread())
		}
	}
	text += "; began at most " + format.Duration(apart) + " apart"
	if uncertain := r.ClockUncertainty(); uncertain > 0 {
		text += "; clocks known to each other to ±" + format.Duration(uncertain)
	}
	return text
}
