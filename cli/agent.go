package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/internal/buildinfo"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/scratch"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/run/agents"
	"github.com/tsmark/tsmark/run/agents/broker"
	"github.com/tsmark/tsmark/run/runner"
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
func (a *app) serveAgent(ctx context.Context, remote broker.Remote, name string, once bool) (err error) {
	temporary, err := scratch.New("", temporaryName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temporary.Close()) }()
	agent := agents.Agent{
		URL: remote.URL, Name: name, Once: once, Tool: buildinfo.Tool(), Host: monitor.Host(ctx, os.TempDir()), Dir: temporary.Path(), Say: sayer(a.stderr),
	}
	return agent.Serve(ctx, remote, &agentWork{runner.Agent{Catalog: a.catalog.forRunner()}})
}

// agentWork has an agent do the parts that a runner elsewhere gives it.
type agentWork struct{ agent runner.Agent }

// Do implements agents.Work.
func (w *agentWork) Do(ctx context.Context, c agents.Command, t agents.Task) error {
	return w.agent.Do(ctx, c.Body, t)
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
