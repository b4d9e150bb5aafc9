package team

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/scratch"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/monitor/buildinfo"
	"github.com/tsmark/tsmark/run/agents"
	"github.com/tsmark/tsmark/run/agents/broker"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/run/shared"
)

// AgentCommand returns the command tsmark agent.
func AgentCommand(a *app.App) *cobra.Command {
	remote, name, once := broker.Remote{}, "", false
	var access accessFlags
	var allowed allow.List
	cmd := &cobra.Command{
		Use:   "agent --join URL",
		Short: "Run as an agent of a run that another machine coordinates",
		Long: `Waits for a run that was started with --agents, joins it, and does its share of each
phase: it loads a part of the rows and runs a part of the queries. Then it waits for
the next run, or ends with --once.

It connects only to databases that --allow names and reads only files that --allow-files
names. It runs no commands and opens no embedded databases. tsmark run prints the flags
that its run needs.

It stops when its run stops, and within seconds when the run disappears. It joins only
runs of its own version of tsmark. See docs/scale-out.md.`,
		Example: `  tsmark agent --join tls://coordinator:4222 --token @token --allow questdb@db1
  tsmark agent --join nats://127.0.0.1:4222 --name a --once --allow postgres@db1:5432
  tsmark agent --join tls://coordinator:4222 --ca ca.pem --cert agent.pem,agent.key --allow iotdb@db1`,
		Args: app.NoArguments,
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
			for _, text := range allowed.Targets {
				if err := allow.CheckTarget(text, a.Catalog.CheckRemote); err != nil {
					return fmt.Errorf("--allow: %w", err)
				}
			}
			if name == "" {
				if name, err = os.Hostname(); err != nil {
					return fmt.Errorf("finding the name of the host: %w; give --name", err)
				}
			}
			return serveAgent(cmd.Context(), a, remote, name, once, allowed)
		},
	}
	flags := flag.NewGroups(cmd)
	flags.Add("The coordinator", func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&remote.URL, "join", "", "`URL` that tsmark run prints, such as nats://coordinator:4222, or that of a NATS server where both meet; several servers of a cluster with commas")
	}, access.add("", "that the coordinator uses", "that must have signed the server's certificate", "that the server requires"))
	flags.Add("This agent", func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&name, "name", "", "`name` in reports, unique among the agents of a run (default: the name of the host)")
		cmd.Flags().BoolVar(&once, "once", false, "end after one run instead of waiting for the next")
		cmd.Flags().StringArrayVar(&allowed.Targets, "allow", nil, "database that it may load and query, as `DRIVER@HOST[:PORT]`; may be repeated (default none)")
		cmd.Flags().StringArrayVar(&allowed.Files, "allow-files", nil, "`file` or folder of own data that it may read; may be repeated (default none)")
		flag.NoValues(cmd, "join", "name", "allow")
	})
	flags.Show()
	return cmd
}

// serveAgent works as an agent until ctx ends.
func serveAgent(ctx context.Context, a *app.App, remote broker.Remote, name string, once bool, allowed allow.List) (err error) {
	temporary, err := scratch.New("", temporaryName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temporary.Close()) }()
	agent := agents.Agent{
		URL: remote.URL, Name: name, Once: once, Tool: buildinfo.Tool(), Host: monitor.Host(ctx, os.TempDir()), Dir: temporary.Path(), Say: sayer(a.Stderr), Allow: allowed.Check,
	}
	return agent.Serve(ctx, remote, &agentWork{shared.Agent{Catalog: a.Catalog.PlanCatalog(), Allow: allowed.Check}})
}

// agentWork has an agent do the parts that a runner elsewhere gives it.
type agentWork struct{ agent shared.Agent }

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

// accessFlags are the flags by which agents and their coordinator authenticate each other.
type accessFlags struct {
	prefix string
	pair   string // files of the certificate and its key
	broker.Access
}

// add adds the flags under names that begin with prefix. The texts name the owner of the token and
// the uses of the two certificates.
func (g *accessFlags) add(prefix, token, authority, certificate string) func(*cobra.Command) {
	g.prefix = prefix
	return func(cmd *cobra.Command) {
		f := cmd.Flags()
		f.StringVar(&g.Token, prefix+"token", "", "`@FILE` with the token "+token+", at least 16 characters")
		f.StringVar(&g.Credentials, prefix+"credentials", "", "`file` of NATS credentials, if your NATS server requires them")
		f.StringVar(&g.CA, prefix+"ca", "", "PEM `file` of the certificate authority "+authority)
		f.StringVar(&g.pair, prefix+"cert", "", "`CERT[,KEY]`, PEM files of the certificate "+certificate+" and of its key; one file may hold both")
		f.BoolVar(&g.Insecure, prefix+"insecure", false, "use your NATS server without TLS: others on the network can read and change everything")
	}
}

// read returns the access that the flags define.
func (g *accessFlags) read(cmd *cobra.Command) (access broker.Access, err error) {
	access = g.Access
	f := cmd.Flags()
	for _, name := range []string{"token", "credentials", "ca", "cert"} {
		if name = g.prefix + name; f.Changed(name) && f.Lookup(name).Value.String() == "" {
			return access, fmt.Errorf("--%s: is empty; name a file", name)
		}
	}
	access.Cert, access.Key = flag.SplitPair(g.pair)
	if access.Token != "" {
		if access.Token, err = flag.ReadToken(access.Token); err != nil {
			return access, fmt.Errorf("--%stoken: %w", g.prefix, err)
		}
	}
	return access, nil
}
