// Command manual writes the files that a release has beside the program: manual pages into
// FOLDER/man, and the completion scripts of shells into FOLDER/completions.
//
//	go -C tools run ./release/manual FOLDER VERSION
//
// Both are made from the commands' own help. The pages have the date in
// SOURCE_DATE_EPOCH, in seconds since 1970; without it, today's.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/cli"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: manual FOLDER VERSION")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write makes both folders.
func write(folder, version string) error {
	pages, scripts := filepath.Join(folder, "man"), filepath.Join(folder, "completions")
	for _, dir := range []string{pages, scripts} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("making the output folder: %w", err)
		}
	}
	root := cli.Command()
	for name, generate := range map[string]func(file string) error{
		"tsmark.bash": func(file string) error { return bash(root, file) },
		"_tsmark":     root.GenZshCompletionFile,
		"tsmark.fish": func(file string) error { return root.GenFishCompletionFile(file, true) },
	} {
		if err := generate(filepath.Join(scripts, name)); err != nil {
			return fmt.Errorf("writing the completion %s: %w", name, err)
		}
	}
	literal(root)
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Source: "tsmark " + version, Manual: "tsmark"}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return fmt.Errorf("writing manual pages: %w", err)
	}
	return nil
}

// bash writes the script for bash.
func bash(root *cobra.Command, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(cli.BashCompletion(root, out, true), out.Close())
}

// literal escapes the help of a command and its subcommands, so that it is read literally: the
// generator of the pages reads it as Markdown.
func literal(cmd *cobra.Command) {
	cmd.Short, cmd.Long, cmd.Use = escape(cmd.Short), escape(cmd.Long), escape(cmd.Use)
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(f.Usage, `\`) { // else it was seen already, as one of a command above
				_, usage := pflag.UnquoteUsage(f)
				f.Usage = escape(usage)
			}
		})
	}
	for _, c := range cmd.Commands() {
		literal(c)
	}
}

// escape returns a text whose characters have no special meaning in Markdown. Indented lines are
// code there, which is literal anyway.
func escape(text string) string {
	words := strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "|", `\|`, "#", `\#`)
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "    ") {
			line = words.Replace(line)
		}
		b.WriteString(line)
	}
	return b.String()
}
