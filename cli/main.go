package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the process's own command line until Ctrl-C, and returns the exit
// status.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends the process at once
	}()
	return Execute(ctx, os.Args, os.Stdout, os.Stderr)
}
