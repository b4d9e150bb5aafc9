package flag

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Groups shows the flags of a command under titles, in the order in which
// they were added.
type Groups struct {
	cmd   *cobra.Command
	texts strings.Builder
}

// NewGroups returns groups of a command's flags, which are still empty.
func NewGroups(cmd *cobra.Command) *Groups { return &Groups{cmd: cmd} }

// Add adds flags to the command, under a title.
func (g *Groups) Add(title string, flags ...func(*cobra.Command)) {
	known := make(map[string]bool)
	g.cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	for _, add := range flags {
		add(g.cmd)
	}
	group := pflag.NewFlagSet(title, pflag.ContinueOnError)
	g.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !known[f.Name] {
			group.AddFlag(f)
		}
	})
	if group.HasAvailableFlags() {
		g.texts.WriteString(title + ":\n" + strings.TrimRight(group.FlagUsages(), "\n") + "\n\n")
	}
}

// Show has the command's help show the groups.
func (g *Groups) Show() {
	g.Add("Help", (*cobra.Command).InitDefaultHelpFlag)
	const flat = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	template := g.cmd.UsageTemplate()
	if !strings.Contains(template, flat) {
		panic("cobra's template of the usage has changed: it has no " + flat)
	}
	text := strings.TrimRight(strings.ReplaceAll(g.texts.String(), "{{", "{{`{{`}}"), "\n")
	g.cmd.SetUsageTemplate(strings.Replace(template, flat, text, 1))
}
