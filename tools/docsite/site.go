// Package docsite makes a static site of the documents of the repository: README,
// CHANGELOG, CONTRIBUTING and all that is below docs. docs/nav.yaml names the pages in
// the order in which they are read.
//
// Whatever a document leads to must be there: a page that nav.yaml does not name, a link
// to a file that does not exist and one to a heading that a page does not have are errors.
// The site needs no server and nothing from elsewhere; its search runs in the browser.
package docsite

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

//go:embed assets
var assets embed.FS

// files is the site's folder for files of the repository that are not pages.
const files = "files"

// Build writes the site of a repository into a folder, which it creates if necessary. It
// appends the options of each driver to the driver's page. Its error lists all problems of the
// documents, each with file and line; in that case it writes nothing.
func Build(repository fs.FS, drivers []driver.Driver, folder string) error {
	s := &site{repository: repository, drivers: drivers, markdown: goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(html.WithUnsafe()), // the documents are our own
	), output: make(map[string][]byte)}
	for _, step := range []func() error{s.readNav, s.readPages, s.link, s.render} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.output)) {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return fmt.Errorf("making the site: %w", err)
		}
		if err := os.WriteFile(file, s.output[name], 0o666); err != nil {
			return fmt.Errorf("making the site: %w", err)
		}
	}
	return nil
}

// site is a site that is being made.
type site struct {
	repository fs.FS
	drivers    []driver.Driver
	markdown   goldmark.Markdown
	sections   []*section
	pages      []*page // in the order of reading
	listings   []string
	output     map[string][]byte // files of the site
}

// section is pages under one title.
type section struct {
	Title string
	Pages []*page
}

// page is a document and its output.
type page struct {
	Source string // in the repository: docs/measuring.md
	Path   string // in the site: measuring.html
	Title  string
	source []byte
	tree   ast.Node
	parts  []part
	ids    map[string]bool // of its headings
}

// part is the text under one heading, for the search.
type part struct {
	id, title, text string
}

// pathOf returns the path of a document in the site.
func pathOf(source string) string {
	name := strings.TrimPrefix(source, "docs/")
	folder, file := path.Split(name)
	base := strings.TrimSuffix(file, ".md")
	switch {
	case base == "README":
		base = "index"
	case folder == "" && source == name:
		base = strings.ToLower(base) // CHANGELOG
	}
	return folder + base + ".html"
}

// link has all links of the pages lead to where things are in the site.
func (s *site) link() error {
	var problems []error
	for _, p := range s.pages {
		err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			var to *[]byte
			switch n := n.(type) {
			case *ast.Link:
				to = &n.Destination
			case *ast.Image:
				to = &n.Destination
			default:
				return ast.WalkContinue, nil
			}
			target, err := s.target(p, string(*to))
			if err != nil {
				problems = append(problems, fmt.Errorf("%s:%d: %w", p.Source, p.line(n), err))
			}
			*to = []byte(target)
			return ast.WalkContinue, nil
		})
		if err != nil {
			return fmt.Errorf("reading the links of %s: %w", p.Source, err)
		}
	}
	for _, p := range s.pages {
		anchors(p.tree)
	}
	return errors.Join(problems...)
}

// target returns the target of a page's link in the site.
func (s *site) target(from *page, link string) (string, error) {
	for _, elsewhere := range []string{"https://", "http://", "mailto:"} {
		if strings.HasPrefix(link, elsewhere) {
			return link, nil
		}
	}
	name, fragment, anchored := strings.Cut(link, "#")
	file := from.Source
	if name != "" {
		file = path.Join(path.Dir(from.Source), name)
	}
	if strings.HasPrefix(name, "/") || !fs.ValidPath(file) {
		return "", fmt.Errorf("the link %s leads out of the repository; write it relative to this file", link)
	}
	info, err := fs.Stat(s.repository, file)
	if err != nil {
		return "", fmt.Errorf("the link %s leads to %s, which does not exist", link, file)
	}
	to := s.page(file)
	switch {
	case to != nil && anchored && !to.ids[fragment]:
		return "", fmt.Errorf("the link %s leads to a heading that %s does not have%s", link, file, to.closest(fragment))
	case to == from && anchored:
		return "#" + fragment, nil
	case to != nil && anchored:
		return from.relative(to.Path) + "#" + fragment, nil
	case to != nil:
		return from.relative(to.Path), nil
	case anchored:
		return "", fmt.Errorf("the link %s leads to a heading of %s, which is not a page", link, file)
	case info.IsDir():
		return from.relative(s.listing(file)), nil
	}
	whole := file
	if path.Base(file) == "index.html" { // a site of its own, which needs its neighbouring files
		whole = path.Dir(file)
	}
	if err := s.copy(whole); err != nil {
		return "", fmt.Errorf("reading what the link %s leads to: %w", link, err)
	}
	return from.relative(path.Join(files, file)), nil
}

// copy takes a file, or all files of a folder, into the site.
func (s *site) copy(name string) error {
	return fs.WalkDir(s.repository, name, func(file string, entry fs.DirEntry, err error) error {
		copied := path.Join(files, file)
		if _, ok := s.output[copied]; ok || err != nil || entry.IsDir() {
			return err
		}
		s.output[copied], err = fs.ReadFile(s.repository, file)
		return err
	})
}

func (s *site) page(source string) *page {
	i := slices.IndexFunc(s.pages, func(p *page) bool { return p.Source == source })
	if i < 0 {
		return nil
	}
	return s.pages[i]
}

// listing returns the page that lists the pages of a folder, or the folder's README.
func (s *site) listing(folder string) string {
	if readme := s.page(path.Join(folder, "README.md")); readme != nil {
		return readme.Path
	}
	if !slices.Contains(s.listings, folder) {
		s.listings = append(s.listings, folder)
	}
	return pathOf(path.Join(folder, "README.md"))
}

// closest returns the tail of an error about a missing heading.
func (p *page) closest(id string) string {
	for _, known := range slices.Sorted(maps.Keys(p.ids)) {
		if strings.HasPrefix(known, id) || strings.HasPrefix(id, known) {
			return "; did you mean #" + known + "?"
		}
	}
	return ""
}

// relative returns the path of another file of the site relative to this page.
func (p *page) relative(to string) string {
	return strings.Repeat("../", strings.Count(p.Path, "/")) + to
}

// view is the template's input for a page.
type view struct {
	*page
	Sections       []*section
	Body           template.HTML
	Previous, Next *page
}

// Link is another file of the site as this page names it.
func (v *view) Link(to string) string { return v.relative(to) }

// render writes all pages, the search index, and the shared files.
func (s *site) render() error {
	pages, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return fmt.Errorf("reading the template of pages: %w", err)
	}
	show := func(v *view) error {
		var out bytes.Buffer
		if err := pages.Execute(&out, v); err != nil {
			return fmt.Errorf("writing the page of %s: %w", v.Source, err)
		}
		s.output[v.Path] = out.Bytes()
		return nil
	}
	for i, p := range s.pages {
		var body bytes.Buffer
		if err := s.markdown.Renderer().Render(&body, p.source, p.tree); err != nil {
			return fmt.Errorf("rendering %s: %w", p.Source, err)
		}
		v := &view{page: p, Sections: s.sections, Body: template.HTML(body.String())}
		if i > 0 {
			v.Previous = s.pages[i-1]
		}
		if i+1 < len(s.pages) {
			v.Next = s.pages[i+1]
		}
		if err := show(v); err != nil {
			return err
		}
	}
	for _, folder := range s.listings {
		if err := show(s.list(folder)); err != nil {
			return err
		}
	}
	for _, name := range []string{"site.css", "site.js"} {
		content, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return fmt.Errorf("reading what pages share: %w", err)
		}
		s.output[name] = content
	}
	s.output["search.js"], err = index(s.pages)
	return err
}

// list returns the page of a folder without a README.
func (s *site) list(folder string) *view {
	p := &page{Source: folder, Path: s.listing(folder), Title: path.Base(folder)}
	var body strings.Builder
	fmt.Fprintf(&body, "<h1>%s</h1>\n<ul>\n", template.HTMLEscapeString(p.Title))
	for _, other := range s.pages {
		if path.Dir(other.Source) == folder {
			fmt.Fprintf(&body, "<li><a href=\"%s\">%s</a></li>\n", p.relative(other.Path), template.HTMLEscapeString(other.Title))
		}
	}
	body.WriteString("</ul>\n")
	return &view{page: p, Sections: s.sections, Body: template.HTML(body.String())}
}

// readPages reads the documents.
func (s *site) readPages() error {
	for _, p := range s.pages {
		source, err := fs.ReadFile(s.repository, p.Source)
		if err != nil {
			return fmt.Errorf("reading a page that %s names: %w", navFile, err)
		}
		table, err := s.reference(p.Source)
		if err != nil {
			return fmt.Errorf("describing what %s is about: %w", p.Source, err)
		}
		source = append(source, table...)
		p.source = source
		p.tree = s.markdown.Parser().Parse(text.NewReader(source))
		p.read()
		if p.Title == "" {
			return fmt.Errorf("%s: has no title; begin it with a line such as # Title", p.Source)
		}
	}
	return nil
}
