package agents

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// phase is the commands of one Do.
type phase struct {
	id       string
	runs     map[string]*run // by member
	events   chan struct{}   // has an element after progress of a run
	telling  sync.Mutex
	observer Observer
	values   map[string]map[string]int64 // shared, by name and member
	least    map[string]int64            // minimums, as last sent
}

// run is a command at its member. The coordinator's lock guards it.
type run struct {
	phase     *phase
	member    *member
	command   Command
	ready     bool
	delivered bool // the agent has ended it, and its result is at the server
	ended     bool
	progress  int64
	outcome   Outcome
	sent      time.Time // time when it was sent, by the coordinator's clock
	intake    intake
}

// finish ends a run with an outcome, unless it already has one.
func (r *run) finish(o Outcome) {
	if r.ended {
		return
	}
	r.ended, r.outcome = true, o
	if r.member.run == r {
		r.member.run = nil
	}
	r.phase.signal()
}

func (p *phase) signal() {
	select {
	case p.events <- struct{}{}:
	default:
	}
}

// notify calls the observer, one call at a time.
func (p *phase) notify(say func(Observer)) {
	p.telling.Lock()
	defer p.telling.Unlock()
	if p.observer != nil {
		say(p.observer)
	}
}

// stopNotifying stops all calls of the observer.
func (p *phase) stopNotifying() {
	p.telling.Lock()
	defer p.telling.Unlock()
	p.observer = nil
}

// leastNow returns the minimums of the shared values, and whether any rose. The coordinator's lock
// is held.
func (p *phase) leastNow() (least map[string]int64, rose bool) {
	for name, values := range p.values {
		if len(values) < len(p.runs) {
			continue
		}
		lowest, first := int64(0), true
		for _, v := range values {
			if first || v < lowest {
				lowest, first = v, false
			}
		}
		if last, ok := p.least[name]; !ok || lowest > last {
			p.least[name], rose = lowest, true
		}
	}
	return maps.Clone(p.least), rose
}

// Do executes commands on members, by member ID, and waits until all have ended. If a command with
// a common start fails or is lost before that, all are called off. When ctx ends, the running
// commands are stopped. The error is the cause of that, or describes invalid commands; then none is
// executed. Each command has its own outcome.
func (c *Coordinator) Do(ctx context.Context, commands map[string]Command, observer Observer) (map[string]Outcome, error) {
	p := &phase{id: rand.Text(), runs: map[string]*run{}, events: make(chan struct{}, 1), observer: observer, values: map[string]map[string]int64{}, least: map[string]int64{}}
	if err := c.begin(p, commands); err != nil {
		return nil, err
	}
	var requests sync.WaitGroup
	over, cancel := context.WithCancel(c.ctx)
	for _, r := range c.unfinishedRuns(p) {
		requests.Go(func() {
			if err := c.requestMember(over, r, doSubject, order{p.id, r.command}); err != nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				if why := c.lost[r.member.ID]; why != nil {
					err = why
				} else {
					err = fmt.Errorf("agent %s did not take the command: %w", r.member.Name, err)
				}
				r.finish(Outcome{Err: err})
			}
		})
	}
	stop := func(why string) *time.Timer {
		for _, r := range c.unfinishedRuns(p) {
			requests.Go(func() {
				_ = c.requestMember(over, r, stopSubject, about{Command: r.command.ID, Text: why})
			})
		}
		return time.AfterFunc(c.options.Timing.Stop, func() {
			for _, r := range c.unfinishedRuns(p) {
				c.lose(r.member, &Lost{Name: r.member.Name, How: Stuck, Silence: c.options.Timing.Stop})
			}
		})
	}
	var started bool
	var culprits map[string]error // errors that called off all commands, by member; nil: not called off
	reported := map[string]bool{} // members whose failure the observer knows
	var stopped *time.Timer
	ended, interrupted := ctx.Done(), error(nil)
	p.signal()
	for {
		select {
		case <-p.events:
		case <-ended:
			ended, interrupted = nil, context.Cause(ctx)
			if stopped == nil {
				stopped = stop(interrupted.Error())
			}
		}
		all, prepared, failed := c.state(p)
		if all {
			break
		}
		switch {
		case stopped != nil:
		case started:
			for member, err := range c.failures(p, reported) {
				reported[member] = true
				p.notify(func(o Observer) { o.CommandFailed(member, err) })
			}
		case failed != nil:
			culprits = c.failures(p, nil)
			stopped = stop("called off: " + failed.Error())
		case prepared:
			started = true
			at := c.instant(p)
			for _, r := range c.unfinishedRuns(p) {
				if r.command.StartsTogether {
					requests.Go(func() {
						c.mu.Lock()
						local := at.Add(r.member.clocks.estimateAt(c.options.Now()).Offset)
						c.mu.Unlock()
						_ = c.requestMember(over, r, startSubject, start{r.command.ID, local.UnixNano()}) // an error means that the member is lost
					})
				}
			}
		}
	}
	cancel()
	requests.Wait()
	for _, r := range p.runs {
		r.intake.drop()
	}
	if stopped != nil {
		stopped.Stop()
	}
	p.stopNotifying()
	if started {
		c.waitStopped(p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.phases, p.id)
	outcomes := map[string]Outcome{}
	for id, r := range p.runs {
		o := r.outcome
		o.CalledOff = culprits != nil && culprits[id] == nil && r.command.StartsTogether && o.Err != nil && !IsLost(o.Err)
		outcomes[id] = o
	}
	return outcomes, interrupted
}

// waitStopped waits until the lost members of a phase have stopped working for it: until they
// request to join again, or must have noticed their loss.
func (c *Coordinator) waitStopped(p *phase) {
	for said := false; ; said = true {
		var names []string
		longest := time.Duration(0)
		c.mu.Lock()
		changed := c.changed
		for _, r := range p.runs {
			if rest := time.Until(c.stopBy[r.member.Process]); rest > 0 {
				names, longest = append(names, r.member.Name), max(longest, rest)
			}
		}
		c.mu.Unlock()
		if len(names) == 0 {
			return
		}
		if slices.Sort(names); !said {
			c.options.Say(fmt.Sprintf("waiting up to %v for agent %s, which may still work", longest.Round(100*time.Millisecond), strings.Join(names, ", ")))
		}
		timer := time.NewTimer(longest)
		select {
		case <-changed:
		case <-timer.C:
		case <-c.ctx.Done():
		}
		timer.Stop()
		if c.ctx.Err() != nil {
			return
		}
	}
}

// begin registers a phase.
func (c *Coordinator) begin(p *phase, commands map[string]Command) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, command := range commands {
		switch m := c.members[id]; {
		case command.ID == "" || c.commandIDs[command.ID]:
			return fmt.Errorf("the ID %q is empty or belongs to an earlier command", command.ID)
		case len(command.Body) > MostBody:
			return fmt.Errorf("a command of %d bytes is larger than %d", len(command.Body), MostBody)
		case m != nil && m.run != nil:
			return fmt.Errorf("agent %s already has a command", m.Name)
		case m == nil && c.lost[id] == nil:
			return fmt.Errorf("no agent has the ID %s", id)
		}
		c.commandIDs[command.ID] = true
	}
	for id, command := range commands {
		r := &run{phase: p, member: c.members[id], command: command, sent: c.options.Now()}
		p.runs[id] = r
		if r.member == nil {
			r.member = &member{hello: hello{ID: id, Name: c.lost[id].Name}}
			r.finish(Outcome{Err: c.lost[id]})
			continue
		}
		r.member.run = r
	}
	c.phases[p.id] = p
	return nil
}

// requestMember repeats a request to a run's member until it is accepted or the member is lost.
func (c *Coordinator) requestMember(ctx context.Context, r *run, subject string, m any) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	unhook := context.AfterFunc(r.member.gone, func() { cancel(errors.New("it is no longer there")) })
	defer unhook()
	return request(ctx, c.control, fmt.Sprintf(subject, r.member.ID), m, 2*c.options.Timing.Beat)
}

// state reports whether all runs have ended, whether the commands with a common start are ready,
// and why they never will be; the last two only for a phase that has not started.
func (c *Coordinator) state(p *phase) (all, prepared bool, failed error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, prepared = true, true
	for _, r := range p.runs {
		all = all && r.ended
		if r.command.StartsTogether {
			prepared = prepared && (r.ready || r.ended)
			if r.ended && r.outcome.Err != nil {
				failed = r.outcome.Err
			}
		}
	}
	return all, prepared, failed
}

// failures returns the errors of failed runs by member, without the ones already reported.
func (c *Coordinator) failures(p *phase, reported map[string]bool) map[string]error {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]error{}
	for id, r := range p.runs {
		if r.ended && r.outcome.Err != nil && !reported[id] {
			found[id] = r.outcome.Err
		}
	}
	return found
}

// unfinishedRuns returns the runs that have not ended.
func (c *Coordinator) unfinishedRuns(p *phase) (list []*run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range p.runs {
		if !r.ended && !r.delivered {
			list = append(list, r)
		}
	}
	return list
}

// instant returns the common start time of a phase: every member is informed by then.
func (c *Coordinator) instant(p *phase) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.options.Now()
	var longest time.Duration
	for _, r := range p.runs {
		longest = max(longest, r.member.clocks.estimateAt(now).RoundTrip)
	}
	return now.Add(c.options.Timing.Margin + 4*longest)
}

// runOf returns a member's run of a command; nil: the run no longer exists. The lock is held.
func (c *Coordinator) runOf(id, command string) *run {
	if m := c.heardOf(id); m != nil && m.run != nil && m.run.command.ID == command {
		return m.run
	}
	return nil
}

// ready handles the message of a member that is prepared.
func (c *Coordinator) ready(member string, a about) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.runOf(member, a.Command); r != nil && !r.ready {
		r.ready = true
		r.phase.signal()
	}
	return ""
}

// mostShared is the maximum number of values that the commands of a phase may share.
const mostShared = 16

// shares handles shared values of a member.
func (c *Coordinator) shares(member string, s shares) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runOf(member, s.Command)
	if r == nil {
		return ""
	}
	for name, v := range s.Values {
		values := r.phase.values[name]
		if values == nil {
			if len(r.phase.values) >= mostShared || len(name) > maxText {
				return "it shares too many values"
			}
			values = map[string]int64{}
			r.phase.values[name] = values
		}
		if last, ok := values[member]; !ok || v > last {
			values[member] = v
		}
	}
	select {
	case c.shared <- struct{}{}:
	default:
	}
	return ""
}

// clockSlack is the maximum error of a member's reported start time: clocks are adjusted while it
// works.
const clockSlack = time.Minute

// handleDone handles the outcome of a member's command.
func (c *Coordinator) handleDone(member string, d done) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runOf(member, d.Command)
	if r == nil || r.delivered {
		return "" // repeated request
	}
	now := c.options.Now()
	o := Outcome{Skew: time.Duration(d.Skew), Clock: r.member.clocks.estimateAt(now)}
	if d.Began != 0 {
		o.Started = time.Unix(0, d.Began).Add(-o.Clock.Offset)
		if o.Started.Before(r.sent.Add(-clockSlack)) || o.Started.After(now.Add(clockSlack)) {
			return "its command began when it cannot have begun"
		}
	}
	if o.Skew < 0 || o.Skew > now.Sub(r.sent)+clockSlack || d.Size < 0 {
		return "its figures are impossible"
	}
	r.delivered = true
	if d.Error != "" {
		o.Err = errors.New(d.Error[:min(len(d.Error), maxText)])
	}
	c.tasks.Go(func() { // a chunk may still be in transfer to a slow disk
		file, err := r.intake.take(d.Size)
		o.File = file
		if err != nil {
			o.Err = errors.Join(o.Err, fmt.Errorf("the result of agent %s could not be read: %w", r.member.Name, err))
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		r.finish(o)
	})
	return ""
}
