package docsite

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// read finds the title, gives headings their ids, and gathers the text for the search.
func (p *page) read() {
	p.ids = make(map[string]bool)
	var text strings.Builder
	current := part{}
	finish := func() {
		current.text = strings.Join(strings.Fields(text.String()), " ")
		p.parts = append(p.parts, current)
		text.Reset()
	}
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		heading, ok := n.(*ast.Heading)
		if !ok {
			p.write(&text, n)
			continue
		}
		var title strings.Builder
		p.write(&title, heading)
		if p.Title == "" && heading.Level == 1 {
			p.Title = strings.TrimSpace(title.String())
		}
		finish()
		current = part{id: p.newID(title.String()), title: strings.TrimSpace(title.String())}
		heading.SetAttributeString("id", []byte(current.id))
	}
	finish()
}

// write writes the words below a node.
func (p *page) write(to *strings.Builder, n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		to.Write(n.Segment.Value(p.source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			to.WriteByte(' ')
		}
	case *ast.String:
		to.Write(n.Value)
	case *ast.AutoLink:
		to.Write(n.Label(p.source))
	case *ast.RawHTML, *ast.HTMLBlock:
		return
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			to.Write(line.Value(p.source))
		}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		p.write(to, c)
	}
	if n.Type() == ast.TypeBlock {
		to.WriteByte(' ')
	}
}

// newID returns the id of a heading, by GitHub's rule, so that a link to it works there as well:
// lower case, hyphens for spaces, and no other punctuation. A second heading of the same
// text gets the suffix -1.
func (p *page) newID(title string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(title))
	unique := id
	for n := 1; p.ids[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	p.ids[unique] = true
	return unique
}

// line returns the line of a node in the source, as closely as it is known.
func (p *page) line(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if t, ok := n.FirstChild().(*ast.Text); ok {
			return 1 + bytes.Count(p.source[:t.Segment.Start], []byte("\n"))
		}
		if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
			return 1 + bytes.Count(p.source[:n.Lines().At(0).Start], []byte("\n"))
		}
	}
	return 1
}

// anchors puts a link to itself behind each heading.
func anchors(tree ast.Node) {
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		heading, ok := n.(*ast.Heading)
		if !ok || heading.Level == 1 {
			continue
		}
		id, _ := heading.AttributeString("id")
		self := ast.NewLink()
		self.Destination = append([]byte("#"), id.([]byte)...)
		self.SetAttributeString("class", []byte("anchor"))
		self.SetAttributeString("title", []byte("Link to this heading"))
		self.AppendChild(self, ast.NewString([]byte("#")))
		heading.AppendChild(heading, self)
	}
}
