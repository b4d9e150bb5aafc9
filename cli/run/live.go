package run

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/report/live"
	"github.com/tsmark/tsmark/report/live/page"
)

// The flags that show runs in progress. They do not belong to an experiment: watching
// does not change it.
const (
	webFlag   = "web"
	tokenFlag = "token"
	certFlag  = "web-cert"
)

// anyPort is the default address of a page.
const anyPort = "127.0.0.1:0"

// liveFlags adds them.
func liveFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String(webFlag, "", "show the running benchmark at this `address`: a page, and metrics for Prometheus at /metrics; --web alone: on a free port of 127.0.0.1")
	f.Lookup(webFlag).NoOptDefVal = anyPort
	f.String(tokenFlag, "", "`@FILE` with the token that readers of --web need; required for an address that other machines can reach")
	f.String(certFlag, "", "serve --web over TLS with `CERT[,KEY]`, PEM files of the certificate, followed by its intermediate certificates, and of its key; one file may hold both")
}

// CheckWeb refuses an address that follows --web after a blank, since it is then
// an argument of the command: an experiment, a target or a run.
func CheckWeb(cmd *cobra.Command, args []string) error {
	f := cmd.Flags().Lookup(webFlag)
	if f == nil || !f.Changed || f.Value.String() != anyPort {
		return nil
	}
	for _, arg := range args {
		if _, port, err := net.SplitHostPort(arg); err == nil && port != "" && strings.Trim(port, "0123456789") == "" {
			return fmt.Errorf("--%s takes its address with =, not with a blank: write --%s=%s", webFlag, webFlag, arg)
		}
	}
	return nil
}

// audience shows the runs of a command to the people who watch them.
type audience struct {
	run    *live.Run
	server *live.Server
}

// watch begins to show the runs of a command if its flags request it.
func (s *Executor) watch(cmd *cobra.Command) error {
	if s.audience != nil { // by a run before
		return nil
	}
	options, err := liveOptions(cmd)
	if err != nil || options.Address == "" {
		return err
	}
	run := live.NewRun()
	server, err := live.Start(run, options)
	if err != nil {
		return fmt.Errorf("showing the run: %w", err)
	}
	s.audience = &audience{run, server}
	if options.Bare() {
		fmt.Fprintf(s.app.Stderr, "live page: token and figures cross the network without TLS; give --%s, or listen on 127.0.0.1 and use a tunnel\n", certFlag)
	}
	fmt.Fprintf(s.app.Stderr, "live page: %s\n", server.URL)
	return nil
}

// liveOptions returns the options from a command's flags, if it has them.
func liveOptions(cmd *cobra.Command) (o live.Options, err error) {
	f := cmd.Flags()
	if f.Lookup(webFlag) == nil {
		return o, nil
	}
	if o.Address = f.Lookup(webFlag).Value.String(); f.Changed(webFlag) && o.Address == "" {
		return o, fmt.Errorf("--%s: is empty; give HOST:PORT, such as 127.0.0.1:9464", webFlag)
	}
	if f.Changed(tokenFlag) {
		if o.Token, err = flag.ReadToken(f.Lookup(tokenFlag).Value.String()); err != nil {
			return o, fmt.Errorf("--%s: %w", tokenFlag, err)
		}
	}
	if o.Certificate, err = flag.ReadCertificate(f.Lookup(certFlag).Value.String()); err != nil {
		return o, fmt.Errorf("--%s: %w", certFlag, err)
	}
	if err := o.Check(); err != nil {
		return o, fmt.Errorf("--%s: %w", webFlag, err)
	}
	return o, nil
}

// Unwatch reports the end of the command to the people who watch, and stops the display.
func (s *Executor) Unwatch(code int, text string) {
	if s.audience == nil {
		return
	}
	end := page.End{Text: text, Failed: code != app.ExitDone}
	switch {
	case text != "":
	case code == app.ExitDone:
		end.Text = "The run has ended."
	default:
		end.Text = fmt.Sprintf("The run has ended with exit status %d.", code)
	}
	if page, err := filepath.Abs(s.page); s.page != "" && err == nil {
		end.Page = page
	}
	s.audience.server.End(end)
}
