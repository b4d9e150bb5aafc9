package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/workload/tsbs"
)

// .ci/nightly names parts of the suites, and folders. After one is renamed it would run nothing
// under the old name, and pass.
func TestNightlyNamesParts(t *testing.T) {
	parts := map[string]bool{}
	for _, w := range tsbs.Workloads() {
		parts[w.Name()] = true
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	inSuite, err := filepath.Glob("suite/*.go")
	if err != nil {
		t.Fatal(err)
	}
	sources = append(append(sources, inSuite...), "fault/fault.go")
	run := regexp.MustCompile(`(?m)(?:t\.Run\(|s\.sub\(t, |\bPart\{+|^\t[A-Z]\w+ += )"([^"]+)"`)
	for _, name := range sources {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range run.FindAllStringSubmatch(string(source), -1) {
			parts[strings.ReplaceAll(found[1], " ", "_")] = true
		}
	}
	nightly, err := os.ReadFile("../.ci/nightly")
	if err != nil {
		t.Fatal(err)
	}
	lists := regexp.MustCompile(`local (?:alone|waits)='([^']+)'|\^Test(?:Conformance|Faults)\\\$/\^\(([^)]+)\)`).FindAllStringSubmatch(string(nightly), -1)
	if len(lists) != 6 {
		t.Fatalf("%d lists of parts in .ci/nightly, want those of left_out, race, faults and built", len(lists))
	}
	_, table, _ := strings.Cut(string(nightly), "<<-END\n")
	table, _, found := strings.Cut(table, "\tEND")
	for line := range strings.Lines(table) {
		for _, folder := range strings.Fields(line)[1:] {
			if _, err := os.Stat(filepath.Join("..", folder)); err != nil {
				t.Errorf(".ci/nightly --list: %v", err)
			}
		}
	}
	if !found {
		t.Error(".ci/nightly has no table of parts")
	}
	for _, list := range lists {
		for _, part := range strings.Split(list[1]+list[2], "|") {
			if !parts[strings.ReplaceAll(part, " ", "_")] {
				t.Errorf(".ci/nightly names %q, which is not a test of the suite", part)
			}
		}
	}
}
