package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/run"
)

// unwanted are words that readers of the field do not search for, and their
// replacements. It has only words without an innocent meaning.
func unwanted() map[string]string {
	return map[string]string{
		`questions?`:                        "query, query type",
		`(is|are|was|were|not|never) asked`: "run, sent",
		`kinds? of (database|target)s?`:     "driver",
		`rivals?|strangers?`:                "other processes, other databases",
		`parcels?|lanes?`:                   "batch, connection, worker",
		`(gave|gives?) up`:                  "failed",
		`mend(s|ed|ing)?`:                   "fix",
		`anew`:                              "again, from scratch",
		`so often|for so long|any so many`:  "up to N times, for DURATION, any N",
		`nothing can be told|held to`:       "too short to measure, no verdict; verified",
		`rows that are none`:                "malformed rows",
		`where and as whom`:                 "connection settings",
		`wanted (was|were)`:                 "target: 12×",
		`(somebody else's|others'|foreign) (data|tables?)`: "existing data, data that tsmark did not create",
	}
}

// code are the parts of a page that are not its own words.
var code = regexp.MustCompile("`[^`]*`")

// What users read uses the words of the field: the help of all commands and
// drivers, README and the pages under docs.
func TestLanguage(t *testing.T) {
	rules := map[*regexp.Regexp]string{}
	for words, better := range unwanted() {
		rules[regexp.MustCompile(`(?i)\b(`+words+`)(\W|$)`)] = better
	}
	say := func(place, text string) {
		for rule, better := range rules {
			for _, found := range rule.FindAllStringSubmatch(text, -1) {
				t.Errorf("%s: %q; write: %s", place, found[1], better)
			}
		}
	}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			say(fmt.Sprintf("%s:%d", page, number), code.ReplaceAllString(line, ""))
		}
	}
	a := &app.App{Catalog: knownCatalog()}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		say(c.CommandPath(), c.Short+"\n"+c.Long+"\n"+c.Example)
		c.Flags().VisitAll(func(f *pflag.Flag) { say(c.CommandPath()+" --"+f.Name, f.Usage) })
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(a, run.NewExecutor(a)))
	for _, name := range a.Catalog.DriverNames() {
		d, err := a.Catalog.Driver(name)
		if err != nil {
			t.Fatal(err)
		}
		say("driver "+name, d.Help)
		for _, o := range d.Options {
			say("driver "+name+", option "+o.Name, o.Help)
		}
	}
}

// pages lists the documents. Stored reports are not among them: they keep the words of
// the version that wrote them.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../docs/design/*.md", "../docs/drivers/*.md", "../results/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(found), err)
		}
		list = append(list, found...)
	}
	return list
}
