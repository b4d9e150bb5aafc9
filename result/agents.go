package result

import (
	"fmt"
	"math"
	"slices"
)

// Agent is a client of a distributed run: a process controlled by a coordinator, usually on its own
// machine.
type Agent struct {
	Name string `json:"name" redact:"-"` // unique in the run; parts refer to it
	// Process is the random ID of the agent's process. When a killed run is resumed, it shows that
	// the agent has stopped.
	Process string `json:"process,omitempty" redact:"-"`
	Host    Host   `json:"host"` // the machine that it ran on
	Tool    Tool   `json:"tool"` // the agent's program: the same version as the coordinator
	// Begin and End are measurements of the agent's clock against the coordinator's, before the
	// first phase and after the last one; nil: not measured, for example if the agent was lost.
	Begin *Clock `json:"begin,omitempty"`
	End   *Clock `json:"end,omitempty"` // see Begin
	// Lost is why the coordinator gave the agent up; empty: it was there until the end.
	Lost string `json:"lost,omitempty"`
}

// Clock is the measured offset of an agent's clock from the coordinator's. Of several exchanges the
// one with the shortest round trip counts; the true offset is within Uncertainty of Offset.
type Clock struct {
	At          float64 `json:"at"`          // seconds since the run's start, by the coordinator's clock
	Offset      float64 `json:"offset"`      // seconds by which the agent's clock is ahead; negative: behind
	Uncertainty float64 `json:"uncertainty"` // seconds: half of the round trip, plus the possible drift since
	RoundTrip   float64 `json:"round_trip"`  // seconds
}

// Clock returns the less certain of the agent's two clock measurements; nil: none.
func (a *Agent) Clock() *Clock {
	if a.End == nil || a.Begin != nil && a.Begin.Uncertainty > a.End.Uncertainty {
		return a.Begin
	}
	return a.End
}

// Drift is the minimum number of seconds by which the clock drifted from the coordinator's between
// Begin and End: the change of the offset, less both uncertainties. 0: no drift is certain, or it
// is unknown.
func (a *Agent) Drift() float64 {
	if a.Begin == nil || a.End == nil {
		return 0
	}
	return max(0, math.Abs(a.End.Offset-a.Begin.Offset)-a.Begin.Uncertainty-a.End.Uncertainty)
}

// steadiest is the largest relative drift between two unadjusted clocks: quartz is accurate to 100
// parts per million.
const steadiest = 200e-6

// Set reports whether the clock moved faster than any clock drifts: a user or a time service set it
// during the run.
func (a *Agent) Set() bool {
	moved := a.Drift()
	return moved > 0 && moved > steadiest*(a.End.At-a.Begin.At)
}

// Agent returns the agent of that name; nil: it does not exist.
func (r *Run) Agent(name string) *Agent {
	for i := range r.Agents {
		if r.Agents[i].Name == name {
			return &r.Agents[i]
		}
	}
	return nil
}

// Clients is the number of agents at the start of the run; 0: the process that recorded it was the
// only client. Agents that later replaced lost ones do not count.
func (r *Run) Clients() int {
	most := 0
	count := func(c *Cell) {
		for _, p := range c.Parts {
			most = max(most, p.Share+1)
		}
	}
	for i := range r.Targets {
		for j := range r.Targets[i].Repeats {
			repeat := &r.Targets[i].Repeats[j]
			if repeat.Load != nil {
				count(&repeat.Load.Cell)
			}
			for k := range repeat.Queries {
				count(&repeat.Queries[k].Cell)
			}
		}
	}
	if most == 0 { // it never reached a phase
		return len(r.Agents)
	}
	return most
}

// Part is one agent's share of a phase: rows, queries, or both in a mixed phase. Its times are by
// the agent's own clock. The figures of the phase are computed from all operations and not from its
// parts.
type Part struct {
	Agent string `json:"agent" redact:"-"` // name of the agent
	Share int    `json:"share"`            // index of the share, from 0; two parts have the same index if one agent took over from another
	// Skew is the delay of the agent's start after the common start time in seconds, by the
	// coordinator's clock; negative: early. It is as uncertain as the agent's clock.
	Skew float64 `json:"skew"`
	// Wall is the number of seconds for the part's rate: from its start to its last acknowledgement
	// or answer. For queries alone it is defined as in Queries.
	Wall    float64 `json:"wall"`
	Rows    int64   `json:"rows,omitempty"`    // accepted
	Queries int64   `json:"queries,omitempty"` // run and recorded
	// Batches are the times from handing over a batch to its acknowledgement; Service are the times
	// from sending a query to the last byte of its answer. Nil: no such operations.
	Batches *Latency `json:"batches,omitempty"`
	Service *Latency `json:"service,omitempty"` // see Batches
	// Client is the resource usage of the agent's process, and the network traffic of its machine;
	// nil: unknown.
	Client *Client `json:"client,omitempty"`
	// ClientBound says why the agent rather than the target may have set the pace;
	// empty: it did not.
	ClientBound string `json:"client_bound,omitempty"`
	// Noise is the activity of other processes on the agent's machine during the phase; nil: not
	// observed.
	Noise *Noise `json:"noise,omitempty"`
	// Lost is why the share did not finish, such as "no heartbeat for 5s"; empty: it finished. The
	// figures cover the work done before.
	Lost string `json:"lost,omitempty"`
	// TakenOver is the agent that executed a lost share again, from the start; empty: none did.
	TakenOver string `json:"taken_over,omitempty" redact:"-"`
}

// Complete reports whether the share finished.
func (p *Part) Complete() bool { return p.Lost == "" }

// RowRate is the number of rows per second; 0: the part had no rows.
func (p *Part) RowRate() float64 { return PerSecond(p.Rows, p.Wall) }

// QueryRate is the number of queries per second; 0: the part had no queries.
func (p *Part) QueryRate() float64 { return PerSecond(p.Queries, p.Wall) }

// PerSecond returns a rate; 0: no time passed.
func PerSecond(n int64, wall float64) float64 {
	if wall <= 0 {
		return 0
	}
	return float64(n) / wall
}

// Missing returns the parts whose shares no agent finished.
func (c *Cell) Missing() []*Part {
	var list []*Part
	for i := range c.Parts {
		p := &c.Parts[i]
		done := slices.ContainsFunc(c.Parts, func(other Part) bool { return other.Share == p.Share && other.Complete() })
		if !done {
			list = append(list, p)
		}
	}
	return list
}

// First reports whether the part belongs to the first agent of its share. Parts of agents that took
// over come later.
func (c *Cell) First(part int) bool {
	return slices.IndexFunc(c.Parts, func(p Part) bool { return p.Share == c.Parts[part].Share }) == part
}

// StartSpread is the time from the first agent's start to the last one's, in seconds, excluding
// agents that took over; 0: fewer than two agents.
func (c *Cell) StartSpread() float64 {
	first, last := math.Inf(1), math.Inf(-1)
	for i, p := range c.Parts {
		if c.First(i) {
			first, last = min(first, p.Skew), max(last, p.Skew)
		}
	}
	return max(0, last-first)
}

// MostSpread is the largest StartSpread as a share of the duration of the phase. Beyond it the
// total rate includes a time in which some agents were idle.
const MostSpread = 0.01

// SpreadTooWide reports whether the agents of a phase started too far apart: see MostSpread. It
// uses the duration of the shortest part.
func (c *Cell) SpreadTooWide() bool {
	shortest := math.Inf(1)
	for i := range c.Parts {
		if p := &c.Parts[i]; p.Complete() && p.Wall > 0 {
			shortest = min(shortest, p.Wall)
		}
	}
	return c.StartSpread() > MostSpread*shortest
}

// Bound says why the client, or which agent and why, may have limited the rate rather than the
// target; empty: none did.
func (c *Cell) Bound() string {
	if c.ClientBound != "" {
		return c.ClientBound
	}
	first, more := "", 0
	for i := range c.Parts {
		switch p := &c.Parts[i]; {
		case p.ClientBound == "":
		case first == "":
			first = "agent " + p.Agent + ": " + p.ClientBound
		default:
			more++
		}
	}
	if more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return first
}

// ClientTimes returns the seconds of CPU time that tsmark itself used in programs and in the kernel,
// all agents together; absent: unknown, of an agent too.
func (c *Cell) ClientTimes() (user, system Value) {
	if c.Client != nil {
		return c.Client.User, c.Client.System
	}
	if len(c.Parts) == 0 {
		return Absent(), Absent()
	}
	for i := range c.Parts {
		used := c.Parts[i].Client
		if used == nil {
			return Absent(), Absent()
		}
		user, system = user+used.User, system+used.System
	}
	return user, system
}

// ClockUncertainty is the largest error between times that two agents took: the sum of the two
// largest uncertainties. The offset of a clock that was set during the run is as uncertain as the
// clock moved. 0: fewer than two agents with measured clocks.
func (r *Run) ClockUncertainty() float64 {
	var all []float64
	for i := range r.Agents {
		a := &r.Agents[i]
		if c := a.Clock(); c != nil {
			uncertain := c.Uncertainty
			if a.Set() {
				uncertain += a.Drift()
			}
			all = append(all, uncertain)
		}
	}
	if len(all) < 2 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)-1] + all[len(all)-2]
}

// MergedLatency merges latencies, for example of the same agent in several repeats, or of all
// agents of a phase. Latencies without operations do not count. Merging more than one requires
// histograms.
func MergedLatency(all ...*Latency) (Latency, error) {
	var some []Latency
	for _, l := range all {
		if l != nil && l.Count > 0 {
			some = append(some, *l)
		}
	}
	if len(some) == 1 {
		return some[0], nil
	}
	return poolLatencies(some)
}
