package all

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance/replay"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
)

func TestDriversAreComplete(t *testing.T) {
	for _, d := range Drivers() {
		if d.Help == "" || d.Render == nil || d.Open == nil || d.Caps == nil {
			t.Errorf("%s is not complete: %+v", d.Name, d)
		}
	}
}

// Each driver says what result cache the system has, and how it is turned off. Of those
// without one in the list it was looked up that the system has none.
func TestResultCaches(t *testing.T) {
	known := map[string]string{
		"clickhouse":      "query cache, off by use_query_cache=0 with each query",
		"cortex":          "results cache of the query-frontend, off by Cache-Control: no-store with each query",
		"kairosdb":        "query cache on disk, off by cache_time 0, the default of queries",
		"mimir":           "results cache of the query-frontend, off by Cache-Control: no-store with each query",
		"mysql":           "MariaDB's query cache (MySQL 8 has none), off by SET SESSION query_cache_type = OFF in each session",
		"victoriametrics": "rollup result cache, off by nocache=1 with each query",
	}
	for _, d := range Drivers() {
		want, ok := known[d.Name]
		if !ok {
			want = "none known"
		}
		if got := d.ResultCache.String(); got != want || d.ResultCache.Answers() {
			t.Errorf("%s: %q, want %q", d.Name, got, want)
		}
	}
}

// Every driver that keeps rows says how it holds each type, in every layout.
func TestTypesAreDocumented(t *testing.T) {
	for _, d := range Drivers() {
		for _, set := range []map[string]string{{}, {"layout": "narrow"}, {"layout": "narrow", "integers": "bigint"}} {
			options, err := d.Resolve(set)
			if err != nil {
				continue // it has no layouts
			}
			caps := d.Caps(options)
			if caps.TimePrecision <= 0 {
				t.Errorf("%s has no precision of times", d.Name)
			}
			for _, typ := range series.Types() {
				if caps.Discards || caps.Types[typ].As != "" {
					continue
				}
				if r := caps.Refuse("q", &series.Schema{Series: 1, Tables: []*series.Table{{Name: "t", Fields: []series.Field{{Name: "f", Type: typ}}}}}, series.Values{}); r == nil {
					t.Errorf("%s %v does not say how it holds %v: give it Caps.Types, or refuse it by Caps.Schema", d.Name, set, typ)
				}
			}
		}
	}
}

// Every driver that keeps rows says beforehand which tables it cannot have: none
// has one that is called as that of the note.
func TestSchemasAreChecked(t *testing.T) {
	schema := func(name string) *series.Schema {
		return &series.Schema{Series: 1, Tables: []*series.Table{{
			Name: name, Tags: []series.Tag{{Key: "hostname", Values: series.Numbered{Prefix: "host_"}}}, Fields: []series.Field{{Name: "usage", Type: series.Float}},
		}}}
	}
	for _, d := range Drivers() {
		options, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		caps := d.Caps(options)
		if caps.Discards {
			continue
		}
		if r := caps.Refuse("q", schema("cpu"), series.Values{}); r != nil {
			t.Errorf("%s refuses a plain table: %s", d.Name, r.Problem)
		}
		if r := caps.Refuse("q", schema("tsmark_mark"), series.Values{}); r == nil || !strings.Contains(r.Problem, "tsmark_mark") {
			t.Errorf("%s says nothing of a table that is called as the note's: give it Caps.Schema", d.Name)
		}
	}
}

// What profiles and durability levels set is what the driver has.
func TestProfilesResolve(t *testing.T) {
	for _, d := range Drivers() {
		for _, p := range append(d.Profiles, d.Durabilities...) {
			if _, err := d.Resolve(p.Options); err != nil || p.Help == "" {
				t.Errorf("%s of %s: %v, help %q", p.Name, d.Name, err, p.Help)
			}
		}
	}
}

// A --target flag sets keys of the target and options of the driver alike.
func TestNoOptionIsAKeyOfTargets(t *testing.T) {
	for _, d := range Drivers() {
		for _, o := range d.Options {
			if slices.Contains(experiment.TargetKeys(), o.Name) {
				t.Errorf("driver %s has an option %s, and so has every target: choose another name", d.Name, o.Name)
			}
		}
	}
}

func TestNamesDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, d := range Drivers() {
		if seen[d.Name] {
			t.Errorf("two drivers are called %s", d.Name)
		}
		seen[d.Name] = true
	}
}

// Whoever adds a driver adds what CONTRIBUTING.md, "Adding a database", lists: tests
// by the suites, a page that README links to, and for a server the script that
// starts it.
func TestDriversHaveAllThatBelongsToThem(t *testing.T) {
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Drivers() {
		options, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		page := "docs/drivers/" + d.Name + ".md"
		if _, err := os.Stat(filepath.Join(root, page)); err != nil {
			t.Errorf("driver %s has no page: write %s", d.Name, page)
		}
		if !strings.Contains(string(readme), "("+page+")") {
			t.Errorf("driver %s is not among the databases of README.md: link to %s", d.Name, page)
		}
		caps := d.Caps(options)
		if caps.Discards {
			continue
		}
		if d.Place == nil {
			t.Errorf("driver %s does not say where its data is kept: give it Place", d.Name)
		}
		suites := []string{"conformance.Run", "conformance.Queries"}
		if !caps.Embedded {
			suites = append(suites, "fault.Run")
			about, err := os.Stat(filepath.Join(root, "servers", d.Name))
			switch {
			case (d.UserServer == nil || d.StandIn != "") && (err != nil || about.Mode()&0o111 == 0):
				t.Errorf("driver %s has no script that starts its server: write servers/%s, and make it executable", d.Name, d.Name)
			case d.UserServer != nil && d.StandIn == "" && err == nil:
				t.Errorf("driver %s says that users provide its server, but servers/%[1]s starts one: remove UserServer", d.Name)
			case d.UserServer == nil && len(d.Tested) == 0:
				t.Errorf("driver %s does not say on which versions of its server the suite has passed: set Tested", d.Name)
			case d.UserServer != nil:
				bringing(t, root, &d)
			}
			if _, err := d.Resolve(d.TestServer); err != nil || d.TestServer == nil || len(d.Ports()) == 0 {
				t.Errorf("driver %s does not say how its test server is reached (%v): set TestServer, empty where host and ports are enough, and make option.Port() the type of each port", d.Name, err)
			}
		}
		tests := testsOf(t, filepath.Join(root, "driver", "db", d.Name))
		for _, suite := range suites {
			if !strings.Contains(tests, suite) {
				t.Errorf("no test of driver %s calls %s: add one to driver/db/%[1]s, as package duckdb has it, or questdb for a server", d.Name, suite)
			}
		}
	}
}

// The page of each driver that stores rows has the same headings in the same order, and says
// which command lists its options; the site appends them.
func TestPagesAreAlike(t *testing.T) {
	headings := []string{"Server", "Writing", "Layout and types", "Queries", "Durability", "Visibility", "Disk size", "Limits"}
	for _, d := range Drivers() {
		page := "docs/drivers/" + d.Name + ".md"
		data, err := os.ReadFile(filepath.Join("..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if !strings.HasPrefix(text, "# "+d.Name+"\n\nThis page is for people who ") || !strings.Contains(text, "`tsmark drivers "+d.Name+"` lists the options") {
			t.Errorf("%s: begin it with who it is for, and write that `tsmark drivers %s` lists the options", page, d.Name)
		}
		if options, err := d.Resolve(nil); err != nil || d.Caps(options).Discards {
			continue
		}
		for _, heading := range headings {
			_, after, found := strings.Cut(text, "\n## "+heading+"\n")
			if !found {
				t.Errorf("%s: has no heading %q behind the one before it; the order is %s", page, heading, strings.Join(headings, ", "))
				continue
			}
			text = "\n" + after
		}
	}
}

// joins is the function that a driver sets as Optional.Join.
var joins = regexp.MustCompile(`(?m)^func \(d \*database\) Join\((_|ctx) context\.Context, schema \*series\.Schema\) error`)

// docs/scale-out.md says of every driver that keeps rows whether several agents can load it.
func TestScaleOutIsDocumented(t *testing.T) {
	const page = "docs/scale-out.md"
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		answer, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(cells[2]), ":", ","), ",")
		for name := range strings.SplitSeq(cells[1], ",") {
			rows[strings.Trim(strings.TrimSpace(name), "`")] = answer
		}
	}
	for _, d := range Drivers() {
		options, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if d.Caps(options).Discards {
			continue
		}
		folder := d.Name
		if folder == "timescaledb" {
			folder = "postgres" // the variants of a system share its folder
		}
		want := "no"
		if joins.MatchString(textOf(t, filepath.Join(root, "driver", "db", folder), "*.go")) {
			want = "yes"
		}
		if rows[d.Name] != want {
			t.Errorf("%s says %q of driver %s being loaded by several agents: it should be %q", page, rows[d.Name], d.Name, want)
		}
	}
}

// bringing checks that the page of a system with user-provided servers explains how to provide one, and
// which system replaces it in CI.
func bringing(t *testing.T, root string, d *driver.Driver) {
	t.Helper()
	if d.UserServer.How == "" {
		t.Errorf("driver %s does not say how to get its server: set UserServer.How", d.Name)
	}
	page := "docs/drivers/" + d.Name + ".md"
	if text, err := os.ReadFile(filepath.Join(root, page)); err != nil || !strings.Contains(string(text), "TSMARK_TEST_"+strings.ToUpper(d.Name)+"=") {
		t.Errorf("%s does not say how tests find a server that somebody brings: write how one is started, and TSMARK_TEST_%s=host:port (%v)", page, strings.ToUpper(d.Name), err)
	}
	recorded, err := replay.ReadAbout(filepath.Join(root, "driver", "db", d.Name, replay.Folder))
	switch verified := len(d.Tested) > 0; {
	case !verified && err == nil:
		t.Errorf("driver %s has recordings of a server (%v), and says that the suite passed on none: set Tested", d.Name, recorded)
	case verified && err != nil:
		t.Errorf("the suite passed on a server of driver %s, and nothing of that is recorded (%v): see package conformance/replay", d.Name, err)
	case verified && d.Caution(recorded.Version) != "":
		t.Errorf("driver %s has recordings of version %s, on which it does not say that the suite passed: set Tested", d.Name, recorded.Version)
	case verified && !strings.Contains(testsOf(t, filepath.Join(root, "driver", "db", d.Name)), "replay.Run"):
		t.Errorf("no test of driver %s plays its recordings: call replay.Run", d.Name)
	}
}

// testsOf is the text of a folder's tests.
func testsOf(t *testing.T, folder string) string { return textOf(t, folder, "*_test.go") }

// textOf is the text of a folder's files whose names are of a pattern.
func textOf(t *testing.T, folder, pattern string) string {
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	return text.String()
}
