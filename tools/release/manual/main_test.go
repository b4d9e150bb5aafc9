package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli"
)

// Each command has a page with all words of its help, and each shell a script.
func TestWrite(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
	folder := t.TempDir()
	if err := write(folder, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		page, err := os.ReadFile(filepath.Join(folder, "man", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Fatal(err)
		}
		text := plain(string(page))
		if !strings.Contains(text, "tsmark v1.2.3") || !strings.Contains(text, "Sep 2001") {
			t.Errorf("%s: the page has neither version nor date", c.CommandPath())
		}
		for _, help := range []string{c.Short, c.Long, c.Example} {
			for word := range strings.FieldsSeq(help) {
				if !strings.Contains(text, strings.Trim(word, "`")) {
					t.Errorf("%s: the page lacks %q", c.CommandPath(), word)
				}
			}
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit(cli.Command())
	for name, has := range map[string]string{"tsmark.bash": "bash completion V2 for tsmark", "_tsmark": "#compdef tsmark", "tsmark.fish": "fish completion for tsmark"} {
		script, err := os.ReadFile(filepath.Join(folder, "completions", name))
		if err != nil || !strings.Contains(string(script), has) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// plain is the text of a page without what roff reads as commands.
func plain(page string) string {
	page = regexp.MustCompile(`\\f.`).ReplaceAllString(page, "")
	return strings.NewReplacer(`\-`, "-", `\\`, `\`, `\e`, `\`, `\&`, "", `\(aq`, "'", `\(dq`, `"`, `\[u2026]`, "…").Replace(page)
}
