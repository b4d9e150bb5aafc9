package setting

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/session"
)

// confirmValue is the value of --force without a place.
const confirmValue = "confirm"

// ForceFlag adds --force. It does not belong to an experiment: an experiment file that is
// passed on must not drop anybody's data.
func ForceFlag(cmd *cobra.Command) {
	cmd.Flags().StringArray("force", nil, "drop existing data that tsmark did not create and that is in the way, from the `place` of a target; without a place, list it and ask for confirmation")
	cmd.Flags().Lookup("force").NoOptDefVal = confirmValue
}

// Force returns the function that decides for --force, or nil without the flag.
func Force(cmd *cobra.Command, a *app.App) session.Confirm {
	places, err := cmd.Flags().GetStringArray("force")
	if err != nil || len(places) == 0 {
		return nil
	}
	return dropping{places: places, in: a.Terminal(), out: a.Stderr}.decide
}

// dropping decides which data may be dropped that tsmark did not create.
type dropping struct {
	places []string  // that --force names
	in     io.Reader // for the user's answer; nil: not interactive
	out    io.Writer
}

// decide implements session.Confirm.
func (d dropping) decide(_ context.Context, place string, named []string) error {
	lost := printable.Line(fmt.Sprintf("from %s would be lost: %s", place, strings.Join(named, ", ")))
	switch {
	case slices.Contains(d.places, place):
		return nil
	case !slices.Contains(d.places, confirmValue):
		return fmt.Errorf("%s; --force names %s; name this place too if it may be dropped: --force=%s", lost, strings.Join(d.places, ", "), place)
	case d.in == nil:
		return fmt.Errorf("%s; there is no terminal for a confirmation; name the place if it may be dropped: --force=%s", lost, place)
	}
	fmt.Fprintf(d.out, "F%s\nDrop it? Type yes: ", lost[1:])
	answer, _ := bufio.NewReader(d.in).ReadString('\n') // no input means no
	if strings.TrimSpace(answer) != "yes" {
		return fmt.Errorf("%s; it stays", lost)
	}
	return nil
}
