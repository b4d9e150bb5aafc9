package result

import (
	"fmt"
	"math"
	"slices"
)

// Agent is one of several clients of a run: a process that a coordinator told what
// to do, in most cases on a machine of its own.
type Agent struct {
	Name string `json:"name" redact:"-"` // unique in the run; parts refer to it
	// Process tells its process from others, by chance. Who resumes a killed run knows by it that the agent has stopped.
	Process string `json:"process,omitempty" redact:"-"`
	Host    Host   `json:"host"` // the machine that it ran on
	Tool    Tool   `json:"tool"` // the program that it was: the coordinator's version
	// Begin and End are its clock as the coordinator saw it before the first phase and
	// after the last one; nil: it was not measured, as of an agent that was lost.
	Begin *Clock `json:"begin,omitempty"`
	End   *Clock `json:"end,omitempty"` // see Begin
	// Lost is why the coordinator gave the agent up; empty: it was there until the end.
	Lost string `json:"lost,omitempty"`
}

// Clock is how an agent's clock was found to differ from the coordinator's. Of
// several exchanges that with the shortest round trip counts: the true offset is
// within Uncertainty of Offset.
type Clock struct {
	At          float64 `json:"at"`          // seconds since the run's start, by the coordinator's clock
	Offset      float64 `json:"offset"`      // seconds by which the agent's clock was ahead; below 0: behind
	Uncertainty float64 `json:"uncertainty"` // seconds: half of the round trip, and what clocks may have drifted since
	RoundTrip   float64 `json:"round_trip"`  // seconds
}

// Clock is the less certain one of its clocks; nil: none was measured.
func (a *Agent) Clock() *Clock {
	if a.End == nil || a.Begin != nil && a.Begin.Uncertainty > a.End.Uncertainty {
		return a.Begin
	}
	return a.End
}

// Drift is by how many seconds the clock moved against the coordinator's between
// Begin and End, for certain: less what both are uncertain by. 0: it may have kept
// its pace, or nobody knows.
func (a *Agent) Drift() float64 {
	if a.Begin == nil || a.End == nil {
		return 0
	}
	return max(0, math.Abs(a.End.Offset-a.Begin.Offset)-a.Begin.Uncertainty-a.End.Uncertainty)
}

// steadiest is by how much the pace of a clock that nobody sets may differ from
// another's: quartz is good to 100 parts in a million.
const steadiest = 200e-6

// Set reports whether the clock moved faster than any clock drifts: somebody, such as
// a time service, set it during the run.
func (a *Agent) Set() bool {
	moved := a.Drift()
	return moved > 0 && moved > steadiest*(a.End.At-a.Begin.At)
}

// Agent returns the agent of that name; nil: there is none.
func (r *Run) Agent(name string) *Agent {
	for i := range r.Agents {
		if r.Agents[i].Name == name {
			return &r.Agents[i]
		}
	}
	return nil
}

// Clients is how many agents the run began with; 0: none, as the process that made it was the
// only client. Those that joined in the place of lost ones do not count.
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
	if most == 0 { // it came to no phase
		return len(r.Agents)
	}
	return most
}

// Part is what one agent did of a phase: a share of the rows, of the queries, or of
// both in a mixed phase. Its times are by the agent's own clock, which ran for it
// alone. What a share comes to with the others is the figures of the phase, which
// are joined from all operations and not from these.
type Part struct {
	Agent string `json:"agent" redact:"-"` // name of the agent
	Share int    `json:"share"`            // which share, from 0; two parts have the same where one agent took over from another
	// Skew is by how many seconds the agent began later than all were told to, by the
	// coordinator's clock; below 0: earlier. It is as uncertain as the agent's clock.
	Skew float64 `json:"skew"`
	// Wall is the seconds that its rate is of: from its begin to its last acknowledgement or
	// answer; where it ran queries alone, as Queries has it of the whole.
	Wall    float64 `json:"wall"`
	Rows    int64   `json:"rows,omitempty"`    // accepted
	Queries int64   `json:"queries,omitempty"` // run and recorded
	// Batches are from handing a batch over to its acknowledgement; Service is from
	// sending a query to the last byte of its answer. Nil: it had none.
	Batches *Latency `json:"batches,omitempty"`
	Service *Latency `json:"service,omitempty"` // see Batches
	// Client is what the agent's process needed, and the network traffic of its
	// machine; nil: not known.
	Client *Client `json:"client,omitempty"`
	// ClientBound says why the agent rather than the target may have set the pace;
	// empty: it did not.
	ClientBound string `json:"client_bound,omitempty"`
	// Noise is what others took of the agent's machine meanwhile; nil: nobody looked.
	Noise *Noise `json:"noise,omitempty"`
	// Lost is why the share did not come to its end, such as "no heartbeat for 5s"; empty:
	// it did. The figures are of what it did before that.
	Lost string `json:"lost,omitempty"`
	// TakenOver is the agent that did a lost share again, from its beginning; empty:
	// nobody did.
	TakenOver string `json:"taken_over,omitempty" redact:"-"`
}

// Complete reports whether the share came to its end.
func (p *Part) Complete() bool { return p.Lost == "" }

// RowRate is the rows a second of the part; 0: it had none.
func (p *Part) RowRate() float64 { return PerSecond(p.Rows, p.Wall) }

// QueryRate is the queries a second of the part; 0: it had none.
func (p *Part) QueryRate() float64 { return PerSecond(p.Queries, p.Wall) }

// PerSecond is a rate; 0: no time passed.
func PerSecond(n int64, wall float64) float64 {
	if wall <= 0 {
		return 0
	}
	return float64(n) / wall
}

// Missing returns the parts whose shares nobody came to the end of.
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

// First reports whether the part is that of the agent which had the share first: those
// that took over stand behind it.
func (c *Cell) First(part int) bool {
	return slices.IndexFunc(c.Parts, func(p Part) bool { return p.Share == c.Parts[part].Share }) == part
}

// StartSpread is the time from the first agent's begin to the last one's, in
// seconds, of those that did not take over from another; 0: fewer than two agents.
func (c *Cell) StartSpread() float64 {
	first, last := math.Inf(1), math.Inf(-1)
	for i, p := range c.Parts {
		if c.First(i) {
			first, last = min(first, p.Skew), max(last, p.Skew)
		}
	}
	return max(0, last-first)
}

// MostSpread is the part of the time of a phase by which its agents may begin
// apart. Beyond it the rate of all is of a time in which not all of them worked.
const MostSpread = 0.01

// SpreadTooWide reports whether the agents of a phase began too far apart: see
// MostSpread. The shortest part counts.
func (c *Cell) SpreadTooWide() bool {
	shortest := math.Inf(1)
	for i := range c.Parts {
		if p := &c.Parts[i]; p.Complete() && p.Wall > 0 {
			shortest = min(shortest, p.Wall)
		}
	}
	return c.StartSpread() > MostSpread*shortest
}

// Bound says why the client, or which of the agents and why, may have set the pace
// rather than the target; empty: none did.
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

// ClockUncertainty is by how many seconds times that two agents took may at most be
// wrong against each other: the two largest uncertainties, added. The offset of a clock
// that was set during the run is as uncertain as it moved. 0: fewer than two agents with
// clocks.
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

// MergedLatency is the figures of all operations of several latencies together: of
// the same agent in several repeats, or of all agents of a phase. Those without
// operations do not count; without a histogram there are no figures of more than one.
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
