package cli

import (
	"context"
	"io"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/catalog"
)

// execute runs the command line args, whose first element is the program's name,
// and returns the exit status.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer, known catalog.Catalog) int {
	return runArgs(ctx, &app.App{Args: args, Stdout: stdout, Stderr: stderr, Catalog: known})
}
