// Command tsmark measures time series databases. See package cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tsmark/tsmark/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends the process at once
	}()
	os.Exit(cli.Execute(ctx, os.Args, os.Stdout, os.Stderr))
}
