package write

import (
	"embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
)

//go:embed document.html section.html live.html live.js parts.html style.css
var PageFiles embed.FS

// Templates reads a page with the parts that all pages share.
func Templates(name string) (*template.Template, error) {
	return template.New(name).Funcs(template.FuncMap{
		"percent": format.CSSPercent, // of a share
		// A remark spans all columns but the first.
		"spanned": func(columns []doc.Column) int { return len(columns) - 1 },
		"column":  func(columns []doc.Column, i int) doc.Column { return columns[i] },
		// A section without a title has the title of its chapter.
		"of": func(title string, section doc.Section) titled { return titled{title, section} },
		// The first answer of a page is its heading.
		"further": func(headline int, answers []doc.Span) []doc.Span {
			if headline == 0 {
				return answers[1:]
			}
			return answers
		},
		"marked": marker(nil),
	}).ParseFS(PageFiles, name, "section.html", "parts.html", "style.css")
}

// titled is a section with the title of its card.
type titled struct {
	Title   string
	Section doc.Section
}

// documentPage is the input of the template document.html.
type documentPage struct {
	*doc.Document
	Head  Head
	Links []Link
}

// WriteHTML writes a document as one page that needs nothing else.
func WriteHTML(w io.Writer, d *doc.Document, opts Options) error {
	t, err := Templates("document.html")
	if err != nil {
		return err
	}
	page := documentPage{Document: d, Head: Head{Title: d.Title, URL: opts.URL}, Links: opts.Links}
	for i := range d.Headlines {
		page.Head.add(&d.Headlines[i])
	}
	page.Head.Answer = withoutMarks(page.Head.Answer, d.Marks)
	return t.Funcs(template.FuncMap{"marked": marker(d.Marks)}).Execute(w, page)
}

// marker returns a function that makes the marks of a text buttons which open their notes.
func marker(marks []doc.Mark) func(text string) template.HTML {
	var pairs []string
	for i, m := range marks {
		pairs = append(pairs, m.Sign, fmt.Sprintf(`<button type="button" class="sign" popovertarget="mark-%d" title="%s">%s</button>`, i, html.EscapeString(m.Note), m.Sign))
	}
	replacer := strings.NewReplacer(pairs...)
	return func(text string) template.HTML { return template.HTML(replacer.Replace(html.EscapeString(text))) }
}

// withoutMarks removes the marks of a text.
func withoutMarks(text string, marks []doc.Mark) string {
	for _, m := range marks {
		text = strings.ReplaceAll(text, m.Sign, "")
	}
	return text
}
