package write

import (
	"embed"
	"html/template"
	"io"

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
		"isEmpty": isEmpty,
	}).Funcs(new(Notes).functions()).ParseFS(PageFiles, name, "section.html", "parts.html", "style.css")
}

// isEmpty reports whether the card of a headline would be empty, since the first answer of a page is its heading.
func isEmpty(headline int, h doc.Headline, allFigures []string) bool {
	if headline > 0 || len(h.Answers) == 0 {
		return len(h.Answers) == 0
	}
	return len(h.Answers) == 1 && h.Dataset == "" && len(h.Basis) == 0 && h.Noise.Text == "" && len(allFigures) == 0 && h.Figure == nil
}

// titled is a section with the title of its card.
type titled struct {
	Title   string
	Section doc.Section
}

// documentPage is the input of the template document.html.
type documentPage struct {
	*doc.Document
	Head       Head
	Links      []Link
	AllFigures []string // notes about all figures
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
	notes := NewNotes(d.Marks)
	page.Head.Answer = notes.plain(page.Head.Answer)
	for i := range d.Marks {
		if m := &d.Marks[i]; m.All {
			page.AllFigures = append(page.AllFigures, m.Text())
		}
	}
	return t.Funcs(notes.functions()).Execute(w, page)
}
