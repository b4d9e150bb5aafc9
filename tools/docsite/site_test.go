package docsite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/all"
	"github.com/tsmark/tsmark/internal/option"
)

// The documents of this repository make a site: every page is in its place, and every link
// leads somewhere.
func TestRepository(t *testing.T) {
	folder := t.TempDir()
	if err := Build(os.DirFS("../.."), all.Drivers(), folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "installing.html", "drivers/index.html", "files/docs/images/page.png", "files/results/site/site.js", "site.css", "site.js", "search.js"} {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	for _, d := range all.Drivers() {
		text, err := os.ReadFile(filepath.Join(folder, "drivers", d.Name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range d.Options {
			if !strings.Contains(string(text), "<td><code>"+o.Name+"</code></td>") {
				t.Errorf("the page of driver %s has no row for option %s", d.Name, o.Name)
			}
		}
	}
}

// The page of a driver ends with its options, profiles and levels of durability.
func TestOptions(t *testing.T) {
	folder := t.TempDir()
	x := driver.Driver{Name: "x", Options: []driver.Option{
		{Name: "layout", Default: "wide", Type: option.Choice("wide", "narrow"), Help: "a|b"},
		{Name: "threads", Empty: "one per core", Type: option.AtLeast(1), Help: "number of threads"},
	}, Profiles: []driver.Profile{{Name: "tuned", Help: "faster", Options: driver.Options{"threads": "8", "layout": "narrow"}}}}
	if err := Build(repository(nil), []driver.Driver{x}, folder); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "drivers", "x.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<h2 id="options">`,
		"<td><code>layout</code></td>\n<td><code>wide</code></td>\n<td><code>wide</code>, <code>narrow</code></td>\n<td>a|b</td>",
		"<td><code>threads</code></td>\n<td>one per core</td>\n<td>integer</td>\n<td>number of threads</td>",
		"<td><code>tuned</code></td>\n<td><code>layout=narrow</code>, <code>threads=8</code></td>\n<td>faster</td>",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page of driver x lacks %q:\n%s", want, text)
		}
	}
}

func repository(changes map[string]string) fstest.MapFS {
	all := map[string]string{
		"README.md":           "# Name\n\nRead [more](docs/more.md#a-b-code-c), of [x](docs/drivers/), [text](docs/files/a.txt), [a site](docs/own/index.html) and [elsewhere](https://example.org/x).\n\n![p](docs/p.png)\n",
		"docs/more.md":        "# More\n\n## A, b: `code` C\n\nSee [above](#more), [the start](../README.md).\n\n## Twice\n\nword\n\n## Twice\n\n[second](#twice-1)\n",
		"docs/drivers/x.md":   "# x\n\n[more](../more.md)\n",
		"docs/files/a.txt":    "text",
		"docs/own/index.html": "page",
		"docs/own/data/1.js":  "data",
		"docs/p.png":          "picture",
		navFile:               "- section: First\n  pages: [README.md, docs/more.md]\n- section: Second\n  pages: [docs/drivers/x.md]\n",
	}
	files := fstest.MapFS{}
	for name, text := range all {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range changes {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// Links lead to pages, headings and copied files, relative to the page.
func TestLinks(t *testing.T) {
	folder := t.TempDir()
	if err := Build(repository(nil), nil, folder); err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"index.html": {
			`href="more.html#a-b-code-c"`, `href="drivers/index.html"`, `href="files/docs/files/a.txt"`, `href="files/docs/own/index.html"`, `href="https://example.org/x"`, `src="files/docs/p.png"`,
			`<h2>First</h2>`, `<a href="index.html" aria-current="page">Name</a>`, `<a rel="next" href="more.html">More →</a>`, `<title>Name · tsmark</title>`,
		},
		"more.html":                {`id="a-b-code-c"`, `href="#more"`, `href="index.html"`, `id="twice"`, `id="twice-1"`, `href="#twice-1"`, `<a rel="prev" href="index.html">`},
		"drivers/x.html":           {`href="../more.html"`, `href="../site.css"`, `<body data-root="../">`},
		"drivers/index.html":       {`<li><a href="../drivers/x.html">x</a></li>`},
		"files/docs/p.png":         {"picture"},
		"files/docs/own/data/1.js": {"data"},
		"search.js":                {`{"p":"more.html#a-b-code-c","t":"More","h":"A, b: code C","x":"See above, the start."}`},
	} {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %s:\n%s", name, want, text)
			}
		}
	}
}

// An error in the documents is reported with its line, and nothing is written.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"docs/more.md", "# More\n\nfirst\nand [x](none.md) there\n\n## A b code C\n", "docs/more.md:4: the link none.md leads to docs/none.md, which does not exist"},
		{"docs/more.md", "# More\n\n## A b code C\n\n[x](#a-b)\n", "docs/more.md:5: the link #a-b leads to a heading that docs/more.md does not have; did you mean #a-b-code-c?"},
		{"docs/more.md", "# More\n\n## A b code C\n\n![x](../p.png)\n", "docs/more.md:5: the link ../p.png leads to p.png, which does not exist"},
		{"docs/more.md", "# More\n\n## A b code C\n\n[x](../../y)\n", "docs/more.md:5: the link ../../y leads out of the repository; write it relative to this file"},
		{"docs/more.md", "# More\n\n## A b code C\n\n[x](files/a.txt#z)\n", "docs/more.md:5: the link files/a.txt#z leads to a heading of docs/files/a.txt, which is not a page"},
		{"docs/more.md", "More\n", "docs/more.md: has no title; begin it with a line such as # Title"},
		{"docs/new.md", "# New\n", "docs/nav.yaml: does not name docs/new.md; add it where a reader should come to it"},
		{navFile, "- section: First\n  pages: [README.md, docs/more.md, docs/gone.md, README.md, docs/drivers/x.md]\n", "docs/nav.yaml: names docs/gone.md, which does not exist\ndocs/nav.yaml: names README.md twice"},
	} {
		folder := t.TempDir()
		err := Build(repository(map[string]string{c.name: c.text}), nil, folder)
		if err == nil {
			t.Errorf("%s %q: no error", c.name, c.text)
			continue
		}
		if diff := cmp.Diff(c.want, err.Error()); diff != "" {
			t.Errorf("%s %q: %s", c.name, c.text, diff)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%s %q: wrote %d files, %v", c.name, c.text, len(left), err)
		}
	}
}
