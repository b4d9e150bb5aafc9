package cli

import (
	"context"
	"io"
)

// execute runs the command line args, whose first element is the program's name,
// and returns the exit status.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer, known catalog) int {
	return (&app{args: args, stdout: stdout, stderr: stderr, catalog: known}).runArgs(ctx)
}
