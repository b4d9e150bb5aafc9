package flag

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Groups puts the flags of a command under titles.
type Groups struct {
	cmd *cobra.Command
}

// NewGroups returns groups of a command's flags, which are still empty.
func NewGroups(cmd *cobra.Command) *Groups { return &Groups{cmd: cmd} }

// The keys of annotations: titleKey has the title of a flag's group, and of a command all titles in
// order, one a line. commonKey marks the flags that help shows first, and allKey a command that got
// --help-all.
const (
	titleKey  = "tsmark-group"
	commonKey = "tsmark-common"
	allKey    = "tsmark-all"
)

// Add adds flags to the command, under a title.
func (g *Groups) Add(title string, flags ...func(*cobra.Command)) {
	known := make(map[string]bool)
	g.cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	for _, add := range flags {
		add(g.cmd)
	}
	found := false
	g.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !known[f.Name] {
			g.annotate(f, titleKey, title)
			found = found || !f.Hidden
		}
	})
	if found {
		g.annotateCommand(titleKey, strings.TrimPrefix(g.cmd.Annotations[titleKey]+"\n"+title, "\n"))
	}
}

// ShowFirst has the command's help show these flags only, in this order; --help-all shows all of them,
// and further paragraphs of the description.
func (g *Groups) ShowFirst(more string, names ...string) {
	g.Add("Help", func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().BoolFunc("help-all", "help with all flags", func(string) error {
			g.annotateCommand(allKey, "yes")
			g.cmd.Long += "\n\n" + more
			return cmd.Flags().Set("help", "true")
		})
	})
	for i, name := range append(names, "help-all") {
		g.annotate(g.cmd.Flags().Lookup(name), commonKey, fmt.Sprintf("%02d", i))
	}
}

// Show completes the groups with the flag for help.
func (g *Groups) Show() { g.Add("Help", (*cobra.Command).InitDefaultHelpFlag) }

func (g *Groups) annotate(f *pflag.Flag, key, value string) {
	if err := g.cmd.Flags().SetAnnotation(f.Name, key, []string{value}); err != nil {
		panic(err) // the flag was looked up
	}
}

func (g *Groups) annotateCommand(key, value string) {
	if g.cmd.Annotations == nil {
		g.cmd.Annotations = make(map[string]string)
	}
	g.cmd.Annotations[key] = value
}

// Usage returns the function that writes how a command is used, for lines of the given width. It
// shows flags in their groups.
func Usage(width func() int) func(*cobra.Command) error {
	return func(cmd *cobra.Command) error {
		u := usage{cmd: cmd, width: width()}
		u.head()
		u.commands()
		u.flags()
		if cmd.HasAvailableSubCommands() {
			fmt.Fprintf(&u.text, "\nUse \"%s COMMAND --help\" for help about a command.\n", cmd.CommandPath())
		}
		_, err := io.WriteString(cmd.OutOrStderr(), u.text.String())
		return err
	}
}

// usage is the text about one command.
type usage struct {
	cmd   *cobra.Command
	width int
	text  strings.Builder
}

func (u *usage) head() {
	u.text.WriteString("Usage:")
	if u.cmd.Runnable() {
		u.text.WriteString("\n  " + u.cmd.UseLine())
	}
	if u.cmd.HasAvailableSubCommands() {
		u.text.WriteString("\n  " + u.cmd.CommandPath() + " COMMAND")
	}
	u.text.WriteString("\n")
	if u.cmd.HasExample() {
		u.text.WriteString("\nExamples:\n" + u.cmd.Example + "\n")
	}
}

// commands lists the commands below this one, in their groups.
func (u *usage) commands() {
	groups := u.cmd.Groups()
	if len(groups) == 0 && u.cmd.HasAvailableSubCommands() {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	for _, group := range groups {
		u.text.WriteString("\n" + group.Title + "\n")
		for _, c := range u.cmd.Commands() {
			if c.GroupID == group.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				fmt.Fprintf(&u.text, "  %-*s %s\n", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
}

func (u *usage) flags() {
	titles := strings.Split(u.cmd.Annotations[titleKey], "\n")
	if titles[0] == "" {
		u.section("Flags", u.cmd.LocalFlags(), func(*pflag.Flag) bool { return true })
	}
	common := u.common()
	if len(common) > 0 && u.cmd.Annotations[allKey] == "" {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		for _, f := range common {
			set.AddFlag(f)
		}
		u.section("Common flags", set, func(*pflag.Flag) bool { return true })
		u.text.WriteString("\nMore flags, with --help-all:\n")
		u.text.WriteString(wrap(strings.Join(titles, " · "), u.width))
	} else if titles[0] != "" {
		for _, title := range titles {
			u.section(title, u.cmd.Flags(), func(f *pflag.Flag) bool {
				return slices.Contains(f.Annotations[titleKey], title)
			})
		}
	}
	u.section("Flags of every command", u.cmd.InheritedFlags(), func(*pflag.Flag) bool { return true })
}

// common returns the flags that are shown first, in order.
func (u *usage) common() (list []*pflag.Flag) {
	u.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[commonKey] != nil {
			list = append(list, f)
		}
	})
	slices.SortFunc(list, func(a, b *pflag.Flag) int {
		return strings.Compare(a.Annotations[commonKey][0], b.Annotations[commonKey][0])
	})
	return list
}

// section lists the flags of a set that belong to it.
func (u *usage) section(title string, all *pflag.FlagSet, belongs func(*pflag.Flag) bool) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = all.SortFlags
	all.VisitAll(func(f *pflag.Flag) {
		if belongs(f) {
			set.AddFlag(f)
		}
	})
	if !set.HasAvailableFlags() {
		return
	}
	u.text.WriteString("\n" + title + ":\n")
	for line := range strings.Lines(set.FlagUsagesWrapped(u.width)) {
		u.text.WriteString(realign(line))
	}
}

// flagLine is a line that begins with a flag: the flag, the space behind it, and the rest.
var flagLine = regexp.MustCompile(`^(\s+(?:-\w, )?--\S+(?: \S+)*?)(\s{2,})(\S.*\n)$`)

// realign aligns a flag whose value has characters of several bytes, such as …, with the others:
// pflag counts bytes.
func realign(line string) string {
	part := flagLine.FindStringSubmatch(line)
	if part == nil {
		return line
	}
	return part[1] + strings.Repeat(" ", len(part[1])-utf8.RuneCountInString(part[1])) + part[2] + part[3]
}

// wrap breaks a text at spaces into indented lines of at most the given width.
func wrap(text string, width int) string {
	var lines strings.Builder
	used := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
			lines.WriteString("  ")
			used = 2
		case used+1+n > width:
			lines.WriteString("\n  ")
			used = 2
		default:
			lines.WriteByte(' ')
			used++
		}
		lines.WriteString(word)
		used += n
	}
	return lines.String() + "\n"
}
