package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// Run runs a command by sh and returns when it has ended, even if it left processes in the
// background, such as the server it was meant to start. The output of the command and of these
// processes is appended to the file log. When ctx ends the command is killed with all processes it
// started. An error includes the end of the output.
func Run(ctx context.Context, command, log string) error {
	// Who reads a pipe to its end waits for all that have it open; a file has none.
	said, err := openLog(log)
	if err != nil {
		return err
	}
	defer said.Close()
	begin := sizeOf(said)
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdout, cmd.Stderr = said, said
	ownGroup(cmd) // background processes survive the terminal's Ctrl-C
	cmd.Cancel = func() error { return errors.Join(killGroup(cmd.Process.Pid), cmd.Process.Kill()) }
	err = cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, tail(Command{Log: log}, begin))
	}
	return nil
}
