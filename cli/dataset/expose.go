package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/generate/expose"
	"github.com/tsmark/tsmark/internal/listen"
	"github.com/tsmark/tsmark/run/experiment"
)

// exposeAddress is the default address of tsmark expose.
const exposeAddress = "127.0.0.1:9464"

func exposeCommand(a *app.App) *cobra.Command {
	e := experiment.Default()
	e.Workload.Name, e.Workload.Interval = "metrics", 15*time.Second
	var keys []string
	var address string
	cmd := &cobra.Command{
		Use:   "expose",
		Short: "Serve a dataset of metrics in real time to a scraper, such as Prometheus",
		Long: `Serves the targets of a dataset of metrics over HTTP, as OpenMetrics or Prometheus text: each
target at a path of its own, with new samples every --log-interval, until the dataset ends.
/targets lists the targets for a scraper's http_sd_configs:

  scrape_configs:
    - job_name: tsmark
      http_sd_configs: [{url: "http://` + exposeAddress + `/targets"}]

Series end by their absence, failed scrapes are answered with status 503, and a target that
was replaced leaves the list. Native histograms are left out: no text format has them.`,
		Example: `  tsmark expose --scale 100
  tsmark expose --scale 20 --log-interval 5s --listen 127.0.0.1:9000`,
		Args: app.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := listen.Parse(address, exposeAddress)
			if err != nil {
				return fmt.Errorf("--listen: %w", err)
			}
			if err := setting.SetKeys(e, keys); err != nil {
				return err
			}
			w, spec, err := checkedSpec(cmd.Context(), a, e)
			if err != nil {
				return err
			}
			dataset, err := w.Dataset(spec)
			if err != nil {
				return e.SpecProblem(err)
			}
			exporter, err := expose.New(dataset, spec.Start, spec.Interval)
			if err != nil {
				return fmt.Errorf("--use-case %s: %w", spec.Name, err)
			}
			if skipped := exporter.NativeHistograms(); len(skipped) > 0 {
				fmt.Fprintf(a.Stderr, "tsmark: native histograms are left out, since no text format has them: %s\n", strings.Join(skipped, ", "))
			}
			return serve(cmd.Context(), a, exporter, at)
		},
	}
	flags := flag.NewGroups(cmd)
	flags.Add("Output", func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&address, "listen", exposeAddress, "address; port 0: a free one")
	})
	flags.Add("Dataset", func(cmd *cobra.Command) {
		setting.SpecFlags(a.Catalog, cmd, &e.Workload)
		setting.SetFlag(cmd, &keys)
	})
	flags.Show()
	return cmd
}

// serve serves the exporter until the dataset or the context ends.
func serve(ctx context.Context, a *app.App, exporter *expose.Exporter, at listen.Address) error {
	if err := exporter.Advance(0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the dataset: %w", err)
	}
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		return fmt.Errorf("--listen: %w; choose another port, or 0 for a free one", err)
	}
	server := &http.Server{Handler: exporter, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	fmt.Fprintf(a.Stderr, "targets: http://%s/targets\n", l.Addr())
	err = exporter.Run(ctx)
	_ = server.Close()
	<-served
	if err == nil {
		fmt.Fprintln(a.Stderr, "the dataset has ended")
	}
	return err
}
