package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/internal/buildinfo"
	"github.com/tsmark/tsmark/internal/listen"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/run/agents"
	"github.com/tsmark/tsmark/run/agents/broker"
)

func (a *app) agentCommand() *cobra.Command {
	remote, name, once := broker.Remote{}, "", false
	var access accessFlags
	cmd := &cobra.Command{
		Use:   "agent --join URL",
		Short: "Be one of several clients of a run that another machine coordinates",
		Long: `Waits for a run that was started with --agents, joins it, and does its share of each
phase: it loads a part of the rows and runs a part of the queries. Then it waits for
the next run; with --once it ends.

It stops what it does when its run is stopped, and within seconds when the run is no
longer there. It takes part only in runs of its own version of tsmark. What it tells
of others is in docs/scale-out.md.`,
		Example: `  tsmark agent --join nats://coordinator:4222 --token @token
  tsmark agent --join nats://127.0.0.1:4222 --name a --once
  tsmark agent --join tls://coordinator:4222 --ca ca.pem --cert agent.pem --key agent.key`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("join") {
				return errors.New("tsmark agent needs to know where its coordinator is, as in tsmark agent --join nats://coordinator:4222")
			}
			if cmd.Flags().Changed("name") && name == "" {
				return errors.New("--name: is empty; leave it out for the name of the host")
			}
			var err error
			if remote.Access, err = access.read(cmd); err != nil {
				return err
			}
			if err := remote.Check(); err != nil {
				return fmt.Errorf("--join: %w", err)
			}
			if name == "" {
				if name, err = os.Hostname(); err != nil {
					return fmt.Errorf("finding the name of the host: %w; give --name", err)
				}
			}
			return a.serveAgent(cmd.Context(), remote, name, once)
		},
	}
	flags := flagGroups{cmd: cmd}
	flags.add("The coordinator", func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&remote.URL, "join", "", "`URL` that tsmark run prints, such as nats://coordinator:4222, or that of a NATS server where both meet; several servers of a cluster with commas")
	}, access.add("", "that the coordinator was given", "that the server is to have been signed by", "that the server asks for"))
	flags.add("This agent", func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&name, "name", "", "its `name` in reports, which no other agent of the run has (default the name of the host)")
		cmd.Flags().BoolVar(&once, "once", false, "end when a run has ended, in place of waiting for the next one")
		noValues(cmd, "join", "name")
	})
	flags.done()
	return cmd
}

// serveAgent is an agent until ctx ends.
func (a *app) serveAgent(ctx context.Context, remote broker.Remote, name string, once bool) error {
	agent := agents.Agent{
		URL: remote.URL, Name: name, Once: once, Tool: buildinfo.Tool(), Host: monitor.Host(ctx, os.TempDir()), Say: sayer(a.stderr),
	}
	return agent.Serve(ctx, remote, a.agentWork())
}

// sayer writes lines, which may come from several goroutines.
func sayer(w io.Writer) func(string) {
	var mu sync.Mutex
	return func(text string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(w, "tsmark: "+printable.Line(text))
	}
}

// accessFlags are the flags of what agents and their coordinator show each other.
type accessFlags struct {
	prefix string
	broker.Access
}

// add adds them under names that begin with prefix; the texts say whose token it is, and what
// the two certificates are for.
func (g *accessFlags) add(prefix, token, authority, certificate string) func(*cobra.Command) {
	g.prefix = prefix
	return func(cmd *cobra.Command) {
		f := cmd.Flags()
		f.StringVar(&g.Token, prefix+"token", "", "`@FILE` with the token "+token+", at least 16 characters")
		f.StringVar(&g.Credentials, prefix+"credentials", "", "`file` of NATS credentials, for a NATS server of yours that asks for them")
		f.StringVar(&g.CA, prefix+"ca", "", "PEM `file` of the certificate authority "+authority)
		f.StringVar(&g.Cert, prefix+"cert", "", "PEM `file` of the certificate "+certificate)
		f.StringVar(&g.Key, prefix+"key", "", "PEM `file` of its key")
	}
}

// read is what they say.
func (g *accessFlags) read(cmd *cobra.Command) (access broker.Access, err error) {
	access = g.Access
	f := cmd.Flags()
	for _, name := range []string{"token", "credentials", "ca", "cert", "key"} {
		if name = g.prefix + name; f.Changed(name) && f.Lookup(name).Value.String() == "" {
			return access, fmt.Errorf("--%s: is empty; name a file", name)
		}
	}
	if access.Token != "" {
		if access.Token, err = tokenOf(access.Token); err != nil {
			return access, fmt.Errorf("--%stoken: %w", g.prefix, err)
		}
	}
	return access, nil
}

// fleetFlags are the flags of a run with agents. They are no part of an experiment: it is the
// same with any number of clients.
type fleetFlags struct {
	agents       int
	listen, nats string
	access       accessFlags
	lost, wait   time.Duration
}

const (
	agentsFlag = "agents"
	listenFlag = "agents-listen"
	natsFlag   = "agents-nats"
	lostFlag   = "agents-lost"
	waitFlag   = "agents-wait"
)

// add adds them.
func (g *fleetFlags) add(cmd *cobra.Command) {
	g.listen, g.lost = broker.DefaultAddress, agents.DefaultTiming().Lost
	f := cmd.Flags()
	f.Var(count(&g.agents, 0), agentsFlag, "wait for so many tsmark agent, and share the work among them; 0: this process does it")
	f.StringVar(&g.listen, listenFlag, g.listen, "`address` where agents join; one that other machines reach needs --agents-token or certificates")
	f.StringVar(&g.nats, natsFlag, "", "`URL` of a NATS server of yours with JetStream, where agents join in place of here")
	g.access.add("agents-", "that agents need", "that signed the certificates of agents, or of your NATS server", "that agents, or your NATS server, are shown")(cmd)
	f.Var(span{&g.lost}, lostFlag, "silence after which an agent counts as lost")
	f.Var(span{&g.wait}, waitFlag, "how long to wait for agents to join; 0: until Ctrl-C")
	noValues(cmd, agentsFlag, listenFlag, natsFlag, lostFlag, waitFlag)
}

// noValues lets the shell offer nothing for flags.
func noValues(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		complete(cmd, name, nil)
	}
}

// leastLost is the shortest silence after which an agent may count as lost: heartbeats come
// each second.
const leastLost = 2 * time.Second

// check refuses flags that do not go together, before anything runs.
func (g *fleetFlags) check(cmd *cobra.Command) error {
	f := cmd.Flags()
	if g.agents == 0 {
		for _, name := range []string{listenFlag, natsFlag, lostFlag, waitFlag, "agents-token", "agents-credentials", "agents-ca", "agents-cert", "agents-key"} {
			if f.Changed(name) {
				return fmt.Errorf("--%s is for a run with agents; add --%s N, or leave it out", name, agentsFlag)
			}
		}
		return nil
	}
	if g.lost < leastLost {
		return fmt.Errorf("--%s: must be %v or more; agents are heard of each second", lostFlag, leastLost)
	}
	access, err := g.access.read(cmd)
	if err != nil {
		return err
	}
	if !f.Changed(natsFlag) {
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
	if f.Changed(listenFlag) {
		return fmt.Errorf("--%s and --%s are two places where agents join; leave one of them out", listenFlag, natsFlag)
	}
	if err := (broker.Remote{URL: g.nats, Access: access}).Check(); err != nil {
		return fmt.Errorf("--%s: %w", natsFlag, err)
	}
	return nil
}

// fleet is the agents of a command's runs.
type fleet struct {
	*agents.Coordinator
	closeServer func() error
}

// Close releases the agents, and ends the server that was started for them.
func (f *fleet) Close() error { return errors.Join(f.Coordinator.Close(), f.closeServer()) }

// gather waits for the agents that flags ask for.
func (a *app) gather(cmd *cobra.Command, g *fleetFlags) (*fleet, error) {
	ctx := cmd.Context()
	access, err := g.access.read(cmd)
	if err != nil {
		return nil, err
	}
	var meeting interface {
		agents.Broker
		Close() error
	}
	url := g.nats
	if url != "" {
		meeting = broker.Remote{URL: url, Access: access}
	} else {
		server, err := broker.Start(ctx, broker.Options{Listen: g.listen, Access: access})
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", listenFlag, err)
		}
		meeting, url = server, server.URL()
	}
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed host"
	}
	timing := agents.DefaultTiming()
	timing.Lost = g.lost
	say := sayer(a.stderr)
	c, err := agents.NewCoordinator(ctx, meeting, agents.Options{Agents: g.agents, Tool: buildinfo.Tool(), Host: host, Timing: timing, Say: say})
	if err != nil {
		return nil, errors.Join(err, meeting.Close())
	}
	f := &fleet{c, meeting.Close}
	if err := f.await(ctx, g, url, access, say); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// errFew is the cause of a wait for agents that took too long.
var errFew = errors.New("too few agents")

// await waits for all agents, and says how one joins.
func (f *fleet) await(ctx context.Context, g *fleetFlags, url string, access broker.Access, say func(string)) error {
	join := "tsmark agent --join " + url
	if access.Token != "" {
		join += " --token @FILE"
	}
	if access.CA != "" {
		join += " --ca FILE --cert FILE --key FILE"
	} else if access.Cert != "" {
		join += " --ca FILE"
	}
	if g.wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.wait, errFew)
		defer cancel()
	}
	had := 0
	err := f.Await(ctx, g.agents, func(have int) {
		had = have
		say(fmt.Sprintf("waiting for %d of %d agents, which join by: %s", g.agents-have, g.agents, join))
	})
	if errors.Is(err, errFew) {
		return &status{exitTarget, fmt.Sprintf("%d of %d agents joined within %v; start the others by: %s", had, g.agents, g.wait, join)}
	}
	return err
}
