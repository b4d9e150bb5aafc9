package site

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares a page, without its style sheet, with the one kept in testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	got = regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(got, "<style></style>")
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run the tests with -update and review the change (-want +got):\n%s", diff)
	}
}

// mixture is runs with every kind of cell.
func mixture(t *testing.T) []*result.Run {
	t.Helper()
	return []*result.Run{
		makeRun(t, 1, 1.5, func(r *result.Run) { // an older run of the same rows, and a newer version
			r.Targets[1].Description.Version = "9.0"
		}),
		makeRun(t, 2, 1.3, func(r *result.Run) {
			r.Name = "nightly"
			for i := range r.Targets[1].Repeats {
				noisy(&r.Targets[1].Repeats[i].Queries[0].Cell)
				r.Targets[1].Repeats[i].Load.ClientBound = "tsmark used 95 % of the CPU"
			}
		}),
		makeRun(t, 3, 1.0, func(r *result.Run) { // another durability: withheld, n/a, not verified
			for i := range r.Targets {
				r.Targets[i].Durability = "relaxed"
			}
			a, b := &r.Targets[0], &r.Targets[1]
			for i := range a.Repeats {
				a.Repeats[i].Queries[0] = result.Queries{Type: "lastpoint", Unsupported: "alpha has no such query"}
				b.Repeats[i].Queries[1].Verdict, b.Repeats[i].Queries[1].Sample = result.Verdict{}, result.Sample{}
			}
			b.Repeats[2].Load.Withheld = "the census differs: cpu has 99,999 rows of 100,000"
		}),
		makeRun(t, 4, 1.0, func(r *result.Run) { // a smaller dataset, killed on the way
			r.Dataset.Fingerprint, r.Dataset.Spec.Scale, r.Dataset.Rows = "00ff00ff00ff00ff", 10, 10000
			r.Status, r.Targets[1].Failure = result.Running, "the server went away"
			r.Targets[1].Repeats = nil
		}),
	}
}

func TestGolden(t *testing.T) {
	files := build(t, Options{Title: "Two <systems>", Note: "Ours, of one machine & shared", Tool: result.Tool{Version: "1.2.3"}}, mixture(t)...)
	golden(t, "index.html", files["index.html"])
	golden(t, "verification.html", files["runs/20260131-184500-0003/verification.html"])
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	golden(t, "files.txt", strings.Join(names, "\n")+"\n")
}

// every link of a page leads to a file of the site, and to a place in it.
func TestLinksLeadSomewhere(t *testing.T) {
	files := build(t, Options{}, mixture(t)...)
	links := 0
	for name, text := range files {
		if strings.HasSuffix(name, ".js") {
			_, text, _ = strings.Cut(text, ", ")
			if err := json.Unmarshal([]byte(strings.TrimSuffix(text, ");\n")), &text); err != nil && name != scriptFile {
				t.Errorf("%s: %v", name, err)
			}
			name = indexFile // the page with the table
		}
		for _, m := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			links++
			to, place, _ := strings.Cut(m[1], "#")
			if m[1] == "data:," {
				continue
			}
			target := name
			if to != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), to))
			}
			page, ok := files[target]
			if !ok || place != "" && !strings.Contains(page, `id="`+place+`"`) {
				t.Errorf("%s leads to %s", name, m[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links", links)
	}
}

// noteOf matches an icon, and the note that it opens.
var noteOf = regexp.MustCompile(`(?s)<button [^>]*title="([^"]*)"[^>]*>i</button>`)

// cellsOf are the texts of the cells of a row of a page's table, with the notes of icons in brackets.
func cellsOf(t *testing.T, page, system string) []string {
	t.Helper()
	_, text, found := strings.Cut(page, `<th scope="row">`+system)
	if !found {
		t.Fatalf("there is no row %s", system)
	}
	text, _, _ = strings.Cut(text, "</tr>")
	var cells []string
	for _, m := range regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`).FindAllStringSubmatch(text, -1) {
		cells = append(cells, strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(noteOf.ReplaceAllString(m[1], "[$1]"), " ")), " "))
	}
	return cells[1:] // the first is the row's place
}

// A disturbed figure has an icon with a note; a doubt about the run of all figures is said once.
func TestNotes(t *testing.T) {
	const doubt = "Of the same run something is withheld"
	every := func(r *result.Run, do func(repeat *result.Repeat)) {
		for i := range r.Targets[1].Repeats {
			do(&r.Targets[1].Repeats[i])
		}
	}
	for name, c := range map[string]struct {
		change func(*result.Run)
		own    string // mark in the cell of lastpoint of beta
		others string // and in the other cells of the run
	}{
		"noisy":        {func(r *result.Run) { every(r, func(p *result.Repeat) { noisy(&p.Queries[0].Cell) }) }, "Noisy host: other processes", ""},
		"client-bound": {func(r *result.Run) { every(r, func(p *result.Repeat) { p.Queries[0].ClientBound = "no CPU left" }) }, "Client-bound: tsmark itself", ""},
		"not verified": {func(r *result.Run) {
			every(r, func(p *result.Repeat) { p.Queries[0].Verdict, p.Queries[0].Sample = result.Verdict{}, result.Sample{} })
		}, "not verified", doubt},
		"withheld":   {func(r *result.Run) { r.Targets[1].Repeats[0].Queries[0].Withheld = "17 rows, 18 expected" }, "withheld", doubt},
		"incomplete": {func(r *result.Run) { r.Status, r.Reason = result.Incomplete, "interrupted" }, doubt, doubt},
		"running":    {func(r *result.Run) { r.Status = result.Running }, doubt, doubt},
		"a target failed": {func(r *result.Run) {
			r.Status, r.Targets[0].Failure, r.Targets[0].Repeats = result.Incomplete, "gone", nil
			r.Reason = "target a: gone"
		}, doubt, doubt},
		"contents not verified": {func(r *result.Run) {
			for i := range r.Targets {
				for j := range r.Targets[i].Repeats {
					p := &r.Targets[i].Repeats[j]
					p.Queries[0].Verdict, p.Queries[1].Verdict = result.Verdict{}, result.Verdict{}
					p.Load.Unverified = "not verified: null target"
				}
			}
		}, "not verified", doubt},
	} {
		t.Run(name, func(t *testing.T) {
			page := build(t, Options{}, makeRun(t, 1, 1.3, c.change))[indexFile]
			cells := cellsOf(t, page, "beta 10.0 community")
			if c.own != doubt && !strings.Contains(cells[1], c.own) {
				t.Errorf("no note %q: %q", c.own, cells[1])
			}
			for _, of := range []string{cells[0], cells[2]} {
				if strings.Contains(of, "Noisy") || strings.Contains(of, "Client") || strings.Contains(of, doubt) {
					t.Errorf("a note about another figure, or about all: %q", of)
				}
			}
			if got := strings.Count(page, "All figures: "+doubt); (got == 1) != (c.others == doubt) {
				t.Errorf("the doubt about the run is said %d times", got)
			}
			for _, m := range regexp.MustCompile(`popovertarget="([^"]*)"`).FindAllStringSubmatch(page, -1) {
				if strings.Count(page, `id="`+m[1]+`"`) != 1 {
					t.Errorf("an icon opens nothing: %s", m[1])
				}
			}
		})
	}
	page := build(t, Options{}, makeRun(t, 1, 1.3))[indexFile]
	for _, cell := range cellsOf(t, page, "beta 10.0 community") {
		if strings.ContainsAny(cell, "†‡§~([") {
			t.Errorf("a note without a reason: %q", cell)
		}
	}
}

// Without a proven difference there is no best target.
func TestTies(t *testing.T) {
	const best = `class="best heat"`
	alike := build(t, Options{}, makeRun(t, 1, 1.0))[indexFile]
	if cells := cellsOf(t, alike, "alpha 1.9"); strings.Contains(alike, best) || strings.Contains(alike, ">best<") || !strings.Contains(cells[1]+alike, "All figures: Not shown to differ from the best") {
		t.Error("of two that are alike one is the best")
	}
	apart := build(t, Options{}, makeRun(t, 1, 1.3))[indexFile]
	if got := strings.Count(apart, best); got != 3 {
		t.Errorf("%d of 3 columns have a best cell", got)
	}
	if cells := cellsOf(t, apart, "alpha 1.9"); !strings.Contains(cells[1], "1.00× best verified") {
		t.Errorf("the faster one says %q", cells[1])
	}
	single := build(t, Options{}, makeRun(t, 1, 1.3, func(r *result.Run) {
		for i := range r.Targets {
			r.Targets[i].Repeats = r.Targets[i].Repeats[:1]
		}
	}))[indexFile]
	if strings.Contains(single, best) || !strings.Contains(single, "1 round") {
		t.Error("one round has a best cell")
	}
	// Systems of different runs are compared by the same rule.
	several := build(t, Options{}, makeRun(t, 1, 1.0, func(r *result.Run) { r.Targets = r.Targets[:1] }), makeRun(t, 2, 1.3, func(r *result.Run) { r.Targets = r.Targets[1:] }))[indexFile]
	if got := strings.Count(several, best); got != 3 {
		t.Errorf("of two runs %d of 3 columns have a best cell", got)
	}
}

// The ranking is of the query types with figures of most systems, and a system without one
// of them has no place.
func TestRanking(t *testing.T) {
	systems := func(page string) (list []string) {
		for _, m := range regexp.MustCompile(`(?s)<th scope="row">([^<]*)<.*?<td class="place">([^<]*)</td>`).FindAllStringSubmatch(page, -1) {
			place := m[2]
			if place != "–" && place != "1.00×" {
				place = "N×" // its last digits are random
			}
			list = append(list, m[1]+" "+place)
		}
		return list
	}
	check := func(name string, want []string, runs ...*result.Run) {
		t.Helper()
		if diff := cmp.Diff(want, systems(build(t, Options{}, runs...)[indexFile])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	second := func(r *result.Run) { r.Targets[1].Driver, r.Targets = "gamma", r.Targets[1:] }
	slow, none := makeRun(t, 2, 4, second), makeRun(t, 2, 4, second)
	for i := range none.Targets[0].Repeats {
		none.Targets[0].Repeats[i].Queries[0] = result.Queries{Type: "lastpoint", Unsupported: "gamma has no such query"}
	}
	faster := makeRun(t, 1, 0.5)
	check("all", []string{"beta 10.0 community 1.00×", "alpha 1.9 N×", "gamma 10.0 community N×"}, faster, slow)
	check("by the type that all have", []string{"beta 10.0 community 1.00×", "alpha 1.9 N×", "gamma 10.0 community N×"}, faster, none)
	other := makeRun(t, 3, 4, second)
	other.Targets[0].Driver = "delta"
	for i := range other.Targets[0].Repeats {
		other.Targets[0].Repeats[i].Queries[1] = result.Queries{Type: "high-cpu-1", Unsupported: "delta has no such query"}
	}
	check("each lacks a type", []string{"beta 10.0 community 1.00×", "alpha 1.9 N×", "delta 10.0 community –", "gamma 10.0 community –"}, faster, none, other)
	check("alone", []string{"gamma 10.0 community –"}, slow)
}

// A table, or a column of it, holds only comparable figures.
func TestNothingIsMixed(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*result.Run)
		groups  int
		columns int // of the table that is shown
	}{
		"the same":        {func(*result.Run) {}, 1, 3},
		"another dataset": {func(r *result.Run) { r.Dataset.Fingerprint = "1" }, 2, 3},
		"a longer span": {func(r *result.Run) {
			r.Dataset.Fingerprint, r.Dataset.Spec.End = "2", r.Dataset.Spec.End.AddDate(0, 0, 1)
		}, 2, 3},
		"another CPU":      {func(r *result.Run) { r.Host.CPU = "Another" }, 2, 3},
		"more memory":      {func(r *result.Run) { r.Host.Memory *= 2 }, 2, 3},
		"a CPU limit":      {func(r *result.Run) { r.Host.CPULimit = 1 }, 2, 3},
		"another level":    {func(r *result.Run) { r.Targets[0].Durability = "relaxed" }, 2, 3},
		"a server of afar": {func(r *result.Run) { r.Targets[1].CoLocated = false }, 2, 3},
		"more workers": {func(r *result.Run) {
			for i := range r.Targets {
				for j := range r.Targets[i].Repeats {
					r.Targets[i].Repeats[j].Load.Workers = 8
				}
			}
		}, 1, 4},
		"cold": {func(r *result.Run) {
			for i := range r.Targets {
				for j := range r.Targets[i].Repeats {
					r.Targets[i].Repeats[j].Queries[0].Cache = "page cache dropped"
				}
			}
		}, 1, 4},
		"other queries":           {func(r *result.Run) { r.QuerySets[0].Fingerprint, r.QuerySets[0].Definition = "2", "2" }, 1, 4},
		"queries by another seed": {func(r *result.Run) { r.QuerySets[0].Fingerprint = "2" }, 1, 3},
		"more queries":            {func(r *result.Run) { r.QuerySets[0].Count, r.QuerySets[0].Fingerprint = 40, "2" }, 1, 3},
		"queries of an old run":   {func(r *result.Run) { r.QuerySets = nil }, 1, 5},
		"fewer targets":           {func(r *result.Run) { r.Targets = r.Targets[:1] }, 1, 3},
		"a writer at most": {func(r *result.Run) { // of one target, which the experiment did not want
			for j := range r.Targets[0].Repeats {
				r.Targets[0].Repeats[j].Load.Workers = 1
			}
		}, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(memory{}, Options{})
			for _, r := range []*result.Run{makeRun(t, 1, 1), makeRun(t, 2, 1, c.change)} {
				if err := s.Add(r); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Finish(); err != nil {
				t.Fatal(err)
			}
			page := s.out.(memory)[indexFile]
			if columns := strings.Count(page, `<th scope="col" data-key`); s.Groups() != c.groups || columns != c.columns {
				t.Errorf("%d groups with %d columns, want %d with %d", s.Groups(), columns, c.groups, c.columns)
			}
		})
	}
}

// texts makes queries of the first type texts.
func texts(r *result.Run, of string) {
	for i := range r.Targets {
		for j := range r.Targets[i].Repeats {
			r.Targets[i].Repeats[j].Queries[0].Texts = of
		}
	}
}

// Heads are how columns of a page are headed, in their order.
func heads(page string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`<th scope="col" data-key[^>]*><span>([^<]*)</span><small>([^<]*)</small>`).FindAllStringSubmatch(page, -1) {
		list = append(list, m[1]+": "+m[2])
	}
	return list
}

// A column names the origin of its query texts once, however many targets ran them, and
// identifies the queries if there are others of its name.
func TestHeads(t *testing.T) {
	for name, c := range map[string]struct {
		runs []*result.Run
		want []string
	}{
		"own": {[]*result.Run{makeRun(t, 1, 1, func(r *result.Run) { texts(r, result.TextsOwn) }), makeRun(t, 2, 1, func(r *result.Run) { texts(r, result.TextsOwn); r.Targets = r.Targets[:1] })},
			[]string{"load, rows/s: 2 workers, batches of 10,000", "lastpoint: 1 worker, own text", "high-cpu-1: 1 worker"}},
		"TSBS": {[]*result.Run{makeRun(t, 1, 1, func(r *result.Run) { texts(r, result.TextsTSBS) })},
			[]string{"load, rows/s: 2 workers, batches of 10,000", "lastpoint: 1 worker, TSBS&#39;s text", "high-cpu-1: 1 worker"}},
		"different": {[]*result.Run{makeRun(t, 1, 1), makeRun(t, 2, 1, func(r *result.Run) { r.QuerySets[0].Fingerprint, r.QuerySets[0].Definition = "f2", "b2" })},
			[]string{"load, rows/s: 2 workers, batches of 10,000", "lastpoint: 1 worker, queries b1", "lastpoint: 1 worker, queries b2", "high-cpu-1: 1 worker"}},
	} {
		if got := heads(build(t, Options{}, c.runs...)[indexFile]); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Queries that are not compared are not a tie, and the rest is still compared.
func TestDifferentQueries(t *testing.T) {
	other := func(r *result.Run) {
		r.Targets, r.QuerySets[0].Fingerprint, r.QuerySets[0].Definition = r.Targets[1:], "f2", "b2"
	}
	page := build(t, Options{}, makeRun(t, 1, 1.3, func(r *result.Run) { r.Targets = r.Targets[:1] }), makeRun(t, 2, 1.3, other))[indexFile]
	a, b := cellsOf(t, page, "alpha 1.9"), cellsOf(t, page, "beta 10.0 community")
	if a[2] != "–" || b[1] != "–" || strings.Contains(a[1]+b[2], "×") {
		t.Errorf("different queries of one name: %q and %q", a[1:3], b[1:3])
	}
	for _, at := range []int{0, 3} { // the load, and the type that is the same
		if !strings.Contains(a[at], "1.00× best") || !strings.Contains(b[at], "1.2") {
			t.Errorf("what both have: %q and %q", a[at], b[at])
		}
	}
}

// No level is that of the system as shipped, unless an option makes it another one.
func TestDurability(t *testing.T) {
	levels := []driver.Profile{
		{Name: driver.AsShipped},
		{Name: driver.Relaxed, Options: driver.Options{"sync": "off"}},
		{Name: driver.Strict, Options: driver.Options{"sync": "extra", "log": "wal"}},
	}
	for _, c := range []struct {
		level, sync string
		changed     []string
		want        string
	}{
		{"", "full", nil, "as-shipped"},
		{driver.AsShipped, "full", []string{"threads"}, "as-shipped"},
		{"", "off", []string{"sync"}, "as-shipped, but sync=off"},
		{driver.Strict, "extra", []string{"log", "sync"}, "strict"},
		{driver.Strict, "off", []string{"log", "sync"}, "strict, but sync=off"},
		{driver.Relaxed, "off", []string{"sync", "log"}, "relaxed, but log=wal"},
	} {
		target := result.Target{Durability: c.level, Options: map[string]string{"sync": c.sync, "log": "wal"}}
		for _, name := range c.changed {
			target.Changes = append(target.Changes, driver.Change{Name: name})
		}
		if got := durabilityOf(&target, levels); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := durabilityOf(&result.Target{}, nil); got != "as-shipped" {
		t.Errorf("of a driver without levels: %q", got)
	}
}

// A cell is of the newest run that measured it, in whatever order runs come.
func TestNewest(t *testing.T) {
	older, newer := makeRun(t, 1, 1), makeRun(t, 2, 1)
	loads := makeRun(t, 3, 1, func(r *result.Run) {
		for i := range r.Targets {
			for j := range r.Targets[i].Repeats {
				r.Targets[i].Repeats[j].Queries = nil
			}
		}
	})
	for _, runs := range [][]*result.Run{{older, newer, loads}, {loads, newer, older, older}} {
		page := build(t, Options{}, runs...)[indexFile]
		_, text, _ := strings.Cut(page, `<th scope="row">alpha`)
		text, _, _ = strings.Cut(text, "</tr>")
		var from []string
		for _, m := range regexp.MustCompile(`class="figure" href="runs/[^/]*-([0-9a-f]+)/index.html"`).FindAllStringSubmatch(text, -1) {
			from = append(from, m[1])
		}
		if got := strings.Join(from, " "); got != "0003 0002 0002" {
			t.Errorf("cells are of the runs %s", got)
		}
		if n := strings.Count(page, "· <a href=\"runs/"); n != 6 { // verification and experiment of each
			t.Errorf("the list of runs has %d links", n)
		}
	}
	s := New(memory{}, Options{})
	if err := s.Add(older); err != nil {
		t.Fatal(err)
	}
	changed := makeRun(t, 1, 2)
	if err := s.Add(changed); !errors.Is(err, ErrAnother) {
		t.Errorf("another run of the same id: %v", err)
	}
}

// No file contains secrets or local paths.
func TestNothingPrivate(t *testing.T) {
	const password, token, key = "tr0ub4dor&3", "correct-horse", "s3cr3tkey"
	paths := []string{"/home/ann/results", "/var/lib/private-data/x.db", `C:\Users\ann\bench`, "~/bench/queries", "file:///srv/ann/x", "/mnt/fast/db"}
	run := makeRun(t, 1, 1, func(r *result.Run) {
		said := "connecting to postgres://ann:" + password + "@db.example:5432/x failed, see " + strings.Join(paths, " and ")
		r.Args = append(r.Args, "--results", paths[0], "--password", password, "-I"+paths[1])
		r.Args[0] = "/home/ann/go/bin/tsmark"
		r.Experiment = "targets:\n  - driver: alpha\n    options: {password: '" + password + "', path: " + paths[1] + "}\n    api_key: " + key +
			"\n    start: \"cd " + paths[0] + " && PASSWORD=" + password + " ./start\"\n"
		r.Reason, r.Status, r.Name, r.Notes = said, result.Incomplete, said, []string{said}
		r.Dataset.Source = paths[3]
		for i := range r.Targets {
			target := &r.Targets[i]
			target.Options = map[string]string{"password": password, "auth_token": token, "path": paths[1], "url": "http://ann:" + password + "@h/x"}
			target.Description.Location, target.Description.Settings = paths[1], map[string]string{"data_directory": paths[5], "hba": "host:" + paths[0]}
			target.Failure, target.Description.Durability = said, "on "+paths[4]+" with "+token
			for j := range target.Repeats {
				target.Repeats[j].Load.Withheld = said
				target.Repeats[j].Queries[0].Withheld = said
			}
		}
	})
	looked := 0
	for name, text := range build(t, Options{}, run) {
		looked++
		for _, form := range []string{password, "tr0ub4dor", token, key, "ann/", "ann\\", "/home", "private-data", "/mnt", "C:", "~/", "/srv"} {
			if at := strings.Index(text, form); at >= 0 && name != markFile {
				t.Errorf("%s tells %q: …%s…", name, form, text[max(0, at-80):min(len(text), at+60)])
			}
		}
	}
	if looked < 5 {
		t.Errorf("%d files", looked)
	}
	// Texts that only look like paths are kept.
	for _, text := range []string{"poisson:200/s", "100 rows/s", "n/a: no", "http://localhost:9000/exec?q=1", "postgres://db.example:5432/x", "A / B", "steps:100/s:10s,0/s:5s",
		"github.com/duckdb/duckdb-go v2", "tsmark-results/duck.duckdb", "24/7", "<a>/</a>"} {
		if got := withoutPaths(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for text, want := range map[string]string{"GET /home/ann/x": "GET ***", "GET /query?q=/srv/ann/x": "GET /query?q=***", `FROM read_csv('/data/x.csv')`: `FROM read_csv('***')`} {
		if got := withoutPaths(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// Published texts of queries are whole: those of all drivers, and TSBS's.
func TestQueryTextsAreWhole(t *testing.T) {
	files, err := filepath.Glob("../../driver/db/*/testdata/queries*")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	texts := []string{
		"GET /api/v1/query_range?end=1451824020&query=max(max_over_time(cpu_usage_user%7Bhostname%3D~%27host_1%27%7D%5B1m%5D))&step=60",
		`SELECT max("usage_user") FROM "cpu" WHERE "hostname" =~ /host_1|host_2/ AND time > 0`,
		`SELECT count(*) / 6, sum("fuel")/4.5 FROM readings`,
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, strings.Split(string(text), "\n")...)
	}
	for _, text := range texts {
		if got := withoutPaths(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// An experiment without its paths is YAML as before.
func TestExperimentStaysYAML(t *testing.T) {
	for text, want := range map[string]string{
		"path: /home/ann/x":                 "path: '***'",
		"  - driver: a\n    path: /srv/x/y": "  - driver: a\n    path: '***'",
		"  - /srv/x/y":                      "  - '***'",
		"start: /opt/x/start it's":          "start: '*** it''s'",
		"options: {path: /opt/x, more: 1}":  "options: {path: '***', more: 1}",
		"start: cd /opt/x":                  "start: cd ***",
		"start: '/opt/x y'":                 "start: '*** y'",
		`path: "/opt/x"`:                    `path: "***"`,
	} {
		if got := quote(withoutPaths(text)); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// Nothing of a run is markup, or ends a script.
func TestHostile(t *testing.T) {
	const hostile = `</script><script>alert("x")</script><img src=x onerror=alert(1)>'`
	change := func(r *result.Run) {
		r.Name, r.Reason, r.Status = hostile, hostile, result.Incomplete
		r.Host.CPU, r.Dataset.Spec.Name = hostile, hostile
		for i := range r.Targets {
			r.Targets[i].Driver, r.Targets[i].Durability, r.Targets[i].Failure, r.Targets[i].Profile = hostile, hostile, hostile, hostile
			r.Targets[i].Repeats[0].Queries[0].Withheld = hostile
		}
	}
	other := makeRun(t, 2, 1, change)
	other.Dataset.Fingerprint = "1"
	for name, text := range build(t, Options{Title: hostile, Note: hostile}, makeRun(t, 1, 1, change), other) {
		if strings.HasSuffix(name, ".js") && strings.HasPrefix(text, "tsmarkGroup") {
			_, text, _ = strings.Cut(text, ", ")
			if err := json.Unmarshal([]byte(strings.TrimSuffix(text, ");\n")), &text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if strings.Contains(text, "<img") || strings.Contains(text, `<script>alert`) {
			t.Errorf("%s has markup of a run", name)
		}
	}
}

// Only a folder that is a site and nothing else may be replaced.
func TestReplaceable(t *testing.T) {
	dir := t.TempDir()
	say := func(want string) {
		t.Helper()
		err := Replaceable(dir)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	say("tsmark site did not make this folder; choose another name")
	s := New(folder(dir), Options{})
	if err := s.Add(makeRun(t, 1, 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	say("")
	mine := filepath.Join(dir, "runs", "mine.txt")
	if err := os.WriteFile(mine, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	say("it holds runs/mine.txt, which tsmark site did not make; move that elsewhere")
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, markFile), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	say("its tsmark-site.json is damaged")
}

// Versions are in the order of their numbers, keys of addresses are their own.
func TestOrderAndSlugs(t *testing.T) {
	list := []string{"b 10.0", "b 9.1", "b 9.10", "b 9.9", "a", "b 9.1.1"}
	slices.SortFunc(list, byNumbers)
	if got := strings.Join(list, ", "); got != "a, b 9.1, b 9.1.1, b 9.9, b 9.10, b 10.0" {
		t.Error(got)
	}
	seen := map[string]string{}
	for _, text := range []string{"cpu-only", "strict", "no level chosen", "AMD EPYC, 2 cores", "AMD EPYC, 4 cores", "scale 100, 1 rows", "Straße", "", "CPU-only", "a b", "a-b", "a  b", strings.Repeat("x", 60)} {
		key := slug(text)
		if other, ok := seen[key]; ok || !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(key) {
			t.Errorf("%q and %q are both %q", text, other, key)
		}
		seen[key] = text
	}
	if slug("cpu-only") != "cpu-only" {
		t.Error(slug("cpu-only"))
	}
}

// A run that was killed before its first target was stored has no table.
func TestRunWithoutTargets(t *testing.T) {
	killed := &result.Run{ID: "20260131-154500-dead", Started: time.Date(2026, 1, 31, 15, 45, 0, 0, time.UTC), Status: result.Running}
	s := New(memory{}, Options{})
	if err := s.Add(killed); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line", err)
	}
	build(t, Options{}, killed, makeRun(t, 1, 2))
}
