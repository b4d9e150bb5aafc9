package write

import (
	"path"
	"strings"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
)

// Head is the title of a page, and what services show of a link to it: its
// answer, what that rests on, and its preview. Without an address there is no
// preview, since they fetch that by an absolute one alone.
type Head struct {
	Title         string
	Answer, About string
	URL           string // empty: not known
}

// Preview is the address of the picture.
func (h Head) Preview() string { return PreviewOf(h.URL) }

// Add adds a headline; nil adds nothing. What it says of noise stands first in
// what services cut off somewhere.
func (h *Head) Add(said *doc.Headline) {
	if said == nil {
		return
	}
	about := []string{said.Noise.Text}
	for _, a := range said.Answers[1:] {
		about = append(about, a.Text)
	}
	h.Say(said.Answers[0].Text, append(about, said.Basis...)...)
}

// Say adds an answer, of which the first is the page's, and what belongs to it.
func (h *Head) Say(answer string, about ...string) {
	if h.Answer == "" {
		h.Answer, answer = plainly(answer), ""
	}
	h.About = plainly(format.Join(" · ", append([]string{h.About, answer}, about...)...))
}

// plainly is a text for those who show it in a font of theirs.
func plainly(text string) string {
	return printable.Line(strings.ReplaceAll(text, format.UnitSpace, " "))
}

// PreviewOf is the name or address of the picture that belongs to a page: the
// page's own, with another ending.
func PreviewOf(page string) string { return strings.TrimSuffix(page, path.Ext(page)) + ".png" }
