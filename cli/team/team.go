// Package team makes a run wait for agents, and tsmark one of them: the flags of both sides, and
// the connection of a run to its agents.
package team

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/listen"
	"github.com/tsmark/tsmark/internal/scratch"
	"github.com/tsmark/tsmark/monitor/buildinfo"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/agents"
	"github.com/tsmark/tsmark/run/agents/broker"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/run/shared"
)

// Flags are the flags of a run with agents. They do not belong to an experiment: it is the
// same with any number of clients.
type Flags struct {
	agents     int
	listen     string // an address, or the URL of a NATS server
	access     accessFlags
	lost, wait time.Duration
	needs      allow.Needs // of the command's runs
}

const (
	agentsFlag = "agents"
	listenFlag = "agents-listen"
	lostFlag   = "agents-lost"
	waitFlag   = "agents-wait"
)

// Add adds them.
func (g *Flags) Add(cmd *cobra.Command) {
	g.listen, g.lost = broker.DefaultAddress, agents.DefaultTiming().Lost
	f := cmd.Flags()
	f.Var(flag.Count(&g.agents, 0), agentsFlag, "number of agents to wait for and share the work with (0: no agents)")
	f.StringVar(&g.listen, listenFlag, g.listen, "`address` where agents join, or the URL of a NATS server of yours; an address that other machines reach needs --agents-token or certificates")
	g.access.add("agents-", "that agents need", "that signed the certificates of agents, or of your NATS server", "that agents, or your NATS server, check")(cmd)
	f.Var((*flag.Duration)(&g.lost), lostFlag, "silence after which an agent counts as lost")
	f.Var((*flag.Duration)(&g.wait), waitFlag, "how long to wait for agents to join; 0: until Ctrl-C")
	flag.NoValues(cmd, agentsFlag, listenFlag, lostFlag, waitFlag)
}

// leastLost is the minimum silence after which an agent may count as lost: heartbeats come
// each second.
const leastLost = 2 * time.Second

// Check refuses flags that do not go together, before anything runs.
func (g *Flags) Check(cmd *cobra.Command) error {
	f := cmd.Flags()
	if g.agents == 0 {
		for _, name := range []string{listenFlag, lostFlag, waitFlag, "agents-token", "agents-credentials", "agents-ca", "agents-cert", "agents-insecure"} {
			if f.Changed(name) {
				return fmt.Errorf("--%s needs a run with agents; add --%s N, or remove it", name, agentsFlag)
			}
		}
		return nil
	}
	if g.lost < leastLost {
		return fmt.Errorf("--%s: must be %v or more; agents report every second", lostFlag, leastLost)
	}
	access, err := g.access.read(cmd)
	if err != nil {
		return err
	}
	if !infile.IsURL(g.listen) {
		if access.Insecure {
			return fmt.Errorf("--agents-insecure is for a NATS server of yours; name its URL with --%s, or leave it out", listenFlag)
		}
		if access.Token != "" {
			if err := listen.CheckToken(access.Token); err != nil {
				return fmt.Errorf("--agents-token: %w", err)
			}
		}
		if err := (broker.Options{Listen: g.listen, Access: access}).Check(); err != nil {
			return fmt.Errorf("--%s: %w", listenFlag, err)
		}
		return nil
	}
	if err := (broker.Remote{URL: g.listen, Access: access}).Check(); err != nil {
		return fmt.Errorf("--%s: %w", listenFlag, err)
	}
	return nil
}

// divisible is a plan whose work agents may share.
type divisible interface {
	CheckAgents(agents int) error
	Needs() (allow.Needs, error)
}

// CheckShares refuses an experiment that agents cannot share, before any agent needs to join. It
// notes the requirements of the agents.
func (g *Flags) CheckShares(plan divisible) error {
	if g.agents == 0 {
		return nil
	}
	if err := plan.CheckAgents(g.agents); err != nil {
		return err
	}
	needs, err := plan.Needs()
	g.needs.Add(needs)
	return err
}

// KeepAgents makes resumed runs wait for the same number of agents as the first of them had,
// unless the flag sets it.
func (g *Flags) KeepAgents(cmd *cobra.Command, runs ...*result.Run) error {
	if !cmd.Flags().Changed(agentsFlag) {
		for _, run := range runs {
			g.agents = max(g.agents, run.Clients())
		}
	}
	return g.Check(cmd)
}

// meeting is the broker through which agents and coordinator communicate.
type meeting interface {
	agents.Broker
	Private() bool
	Close() error
}

// temporaryName is the prefix of folders for temporary files of agents and coordinators.
const temporaryName = "tsmark-agents"

// Fleet is the agents of a command's runs.
type Fleet struct {
	meeting     meeting
	coordinator *agents.Coordinator
	stopWithin  time.Duration
	temporary   *scratch.Folder // has results on their way to the run
}

// Close releases the agents, and ends the server that was started for them.
func (f *Fleet) Close() error {
	return errors.Join(f.coordinator.Close(), f.meeting.Close(), f.temporary.Close())
}

// Private implements shared.Agents.
func (f *Fleet) Private() bool { return f.meeting.Private() }

// Dismiss implements shared.Agents.
func (f *Fleet) Dismiss(member, sent string) { f.coordinator.Dismiss(member, sent) }

// StopWithin implements shared.Agents.
func (f *Fleet) StopWithin() time.Duration { return f.stopWithin }

// HasRequested implements shared.Agents.
func (f *Fleet) HasRequested(process string) bool { return f.coordinator.HasRequested(process) }

// Members implements shared.Agents.
func (f *Fleet) Members() (list []shared.Member) {
	for _, m := range f.coordinator.Members() {
		list = append(list, shared.Member{ID: m.ID, Name: m.Name, Process: m.Process, Host: m.Host, Tool: m.Tool, Clock: result.Clock{
			Offset: m.Clock.Offset.Seconds(), Uncertainty: m.Clock.Uncertainty.Seconds(), RoundTrip: m.Clock.RoundTrip.Seconds(),
		}})
	}
	return list
}

// Do implements shared.Agents.
func (f *Fleet) Do(ctx context.Context, parts map[string][]byte, w shared.PhaseObserver) (map[string]shared.Outcome, error) {
	commands := make(map[string]agents.Command, len(parts))
	for id, body := range parts {
		commands[id] = agents.Command{ID: rand.Text(), Body: body, StartsTogether: true}
	}
	done, err := f.coordinator.Do(ctx, commands, observer{w})
	outcomes := make(map[string]shared.Outcome, len(done))
	for id, o := range done {
		outcomes[id] = shared.Outcome{File: o.File, Err: o.Err, Lost: agents.IsLost(o.Err), CalledOff: o.CalledOff, Started: o.Started, Skew: o.Skew}
	}
	return outcomes, err
}

// observer is an agents.Observer for a runner.
type observer struct{ shared.PhaseObserver }

// MemberLost implements agents.Observer: CommandFailed reports it, too, if it matters.
func (observer) MemberLost(string, *agents.Lost) {}

// CommandFailed implements agents.Observer.
func (o observer) CommandFailed(member string, err error) {
	o.PhaseObserver.PartFailed(member, agents.IsLost(err))
}

// Gather waits for the agents that a command's flags request, if any. Its messages go to w.
func (g *Flags) Gather(cmd *cobra.Command, w io.Writer) (found *Fleet, err error) {
	if g.agents == 0 {
		return nil, nil
	}
	ctx := cmd.Context()
	access, err := g.access.read(cmd)
	if err != nil {
		return nil, err
	}
	temporary, err := scratch.New("", temporaryName)
	if err != nil {
		return nil, err
	}
	defer func() {
		if found == nil {
			err = errors.Join(err, temporary.Close())
		}
	}()
	var at meeting
	url := g.listen
	if infile.IsURL(url) {
		at = broker.Remote{URL: url, Access: access}
	} else {
		server, err := broker.Start(ctx, broker.Options{Listen: g.listen, Access: access, Agents: g.agents})
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", listenFlag, err)
		}
		at, url = server, server.URL()
	}
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed host"
	}
	timing := agents.DefaultTiming()
	timing.Lost = g.lost
	say := sayer(w)
	c, err := agents.NewCoordinator(ctx, at, agents.Options{Agents: g.agents, Tool: buildinfo.Tool(), Host: host, Needs: g.needs, Dir: temporary.Path(), Timing: timing, Say: say})
	if err != nil {
		return nil, errors.Join(err, at.Close())
	}
	found = &Fleet{at, c, timing.StopWithin(), temporary}
	return found, g.await(ctx, c, url, access, say)
}

// errFew is the cause of a wait for agents that took too long.
var errFew = errors.New("too few agents")

// await waits for all agents, and says how one joins.
func (g *Flags) await(ctx context.Context, c *agents.Coordinator, url string, access broker.Access, say func(string)) error {
	join := "tsmark agent --join " + url
	if access.Token != "" {
		join += " --token @FILE"
	}
	if access.Insecure {
		join += " --insecure"
	}
	if access.CA != "" {
		join += " --ca FILE --cert FILE,FILE"
	} else if access.Cert != "" {
		join += " --ca FILE"
	}
	join += g.needs.Flags()
	if g.wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.wait, errFew)
		defer cancel()
	}
	had := 0
	err := c.Await(ctx, g.agents, func(have int) {
		had = have
		say(fmt.Sprintf("waiting for %d of %d agents, which join by: %s", g.agents-have, g.agents, join))
	})
	if errors.Is(err, errFew) {
		return &app.Status{Code: app.ExitTarget, Text: fmt.Sprintf("%d of %d agents joined within %v; start the others by: %s", had, g.agents, g.wait, join)}
	}
	return err
}
