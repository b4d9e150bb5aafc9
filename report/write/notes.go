package write

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tsmark/tsmark/report/doc"
)

// Notes are the notes about figures of a page. An icon behind a figure opens its note, by touch and
// by keyboard; the page has the notes themselves once, at its end.
type Notes struct {
	marks []doc.Mark
	texts []string // of the icons so far
}

// NewNotes returns the notes of a page with these marks.
func NewNotes(marks []doc.Mark) *Notes { return &Notes{marks: marks} }

// Texts are the notes that icons open, in the order of their numbers.
func (n *Notes) Texts() []string { return n.texts }

// Icon returns an icon that opens a note of these lines; nothing without lines.
func (n *Notes) Icon(lines ...string) template.HTML {
	if len(lines) == 0 {
		return ""
	}
	text := strings.Join(lines, "\n")
	at := slices.Index(n.texts, text)
	if at < 0 {
		at, n.texts = len(n.texts), append(n.texts, text)
	}
	return template.HTML(fmt.Sprintf(`<button type="button" class="sign" popovertarget="note-%d" aria-label="Note" title="%s">i</button>`, at, html.EscapeString(text)))
}

// mark returns a text with an icon in the place of each group of signs. A sign before a figure
// belongs to the icon behind it.
func (n *Notes) mark(text string) template.HTML {
	text, leading := n.cutLeading(text)
	var b strings.Builder
	var found []string
	for text != "" {
		if m := n.signAt(text); m != nil {
			text, found = text[len(m.Sign):], addNote(found, m)
			continue
		}
		b.WriteString(string(n.Icon(found...)))
		found = nil
		_, size := utf8.DecodeRuneInString(text)
		b.WriteString(html.EscapeString(text[:size]))
		text = text[size:]
	}
	b.WriteString(string(n.Icon(append(leading, found...)...)))
	return template.HTML(b.String())
}

// figure returns a figure and another one beside it, with one icon for the signs of both.
func (n *Notes) figure(text, beside string) template.HTML {
	text, found := n.Strip(text)
	beside, more := n.Strip(beside)
	out := html.EscapeString(text)
	if beside != "" {
		out += " <small>" + html.EscapeString(beside) + "</small>"
	}
	for _, line := range more {
		if !slices.Contains(found, line) {
			found = append(found, line)
		}
	}
	return template.HTML(out) + n.Icon(found...)
}

// Strip returns a text without signs, and the notes of its signs.
func (n *Notes) Strip(text string) (plain string, notes []string) {
	text, notes = n.cutLeading(text)
	for i := range n.marks {
		if m := &n.marks[i]; !m.Leading && strings.Contains(text, m.Sign) {
			text, notes = strings.ReplaceAll(text, m.Sign, ""), addNote(notes, m)
		}
	}
	return text, notes
}

// plain returns a text without signs.
func (n *Notes) plain(text string) string {
	text, _ = n.Strip(text)
	return text
}

// explains reports whether a text below a table is about a sign, which has an icon instead.
func (n *Notes) explains(text string) bool {
	return slices.ContainsFunc(n.marks, func(m doc.Mark) bool { return text == m.Note })
}

func (n *Notes) cutLeading(text string) (rest string, notes []string) {
	for i := range n.marks {
		if m := &n.marks[i]; m.Leading && strings.HasPrefix(text, m.Sign) {
			text, notes = text[len(m.Sign):], addNote(notes, m)
		}
	}
	return text, notes
}

// signAt returns the mark whose sign begins a text, or nil.
func (n *Notes) signAt(text string) *doc.Mark {
	for i := range n.marks {
		if m := &n.marks[i]; !m.Leading && strings.HasPrefix(text, m.Sign) {
			return m
		}
	}
	return nil
}

// addNote adds the note of a mark, unless the page says it of all figures.
func addNote(notes []string, m *doc.Mark) []string {
	if m.All {
		return notes
	}
	return append(notes, m.Text())
}

// functions are those of templates.
func (n *Notes) functions() template.FuncMap {
	return template.FuncMap{"marked": n.mark, "figure": n.figure, "plain": n.plain, "explains": n.explains, "notes": n.Texts}
}
