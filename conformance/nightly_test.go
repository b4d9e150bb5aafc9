package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/workload/tsbs"
)

// .ci/nightly names parts of the suite. After a part is renamed it would run nothing under
// the old name, and pass.
func TestNightlyNamesParts(t *testing.T) {
	parts := map[string]bool{}
	for _, w := range tsbs.Workloads() {
		parts[w.Name()] = true
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	run := regexp.MustCompile(`t\.Run\("([^"]+)"`)
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
	lists := regexp.MustCompile(`local alone='([^']+)'|\^TestConformance\\\$/\^\(([^)]+)\)`).FindAllStringSubmatch(string(nightly), -1)
	if len(lists) != 2 {
		t.Fatalf("%d lists of parts in .ci/nightly, want those of left_out and race", len(lists))
	}
	for _, list := range lists {
		for _, part := range strings.Split(list[1]+list[2], "|") {
			if !parts[strings.ReplaceAll(part, " ", "_")] {
				t.Errorf(".ci/nightly names %q, which is no part of the suite", part)
			}
		}
	}
}
