package write

import (
	"path"
	"strings"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
)

// Head is the title of a page, and the description that services show with a link to it: its
// answer, the basis of that, and its preview. Without an address there is no
// preview, since services fetch it only by an absolute address.
type Head struct {
	Title         string
	Answer, About string
	Tone          format.Tone // of the answer
	URL           string      // empty: not known
}

// Preview is the address of the picture.
func (h Head) Preview() string { return PreviewOf(h.URL) }

// add adds a headline; the first one is the page's. Its remarks about noise come first
// in a description, which services cut off somewhere.
func (h *Head) add(said *doc.Headline) {
	if len(said.Answers) == 0 {
		return
	}
	texts := doc.Texts(said.Answers)
	if answer := texts[0]; h.Answer == "" {
		h.Answer, h.Tone, texts[0] = toPlainText(answer), said.Answers[0].Tone, ""
	}
	about := append([]string{h.About, texts[0], said.Noise.Text}, texts[1:]...)
	h.About = toPlainText(format.Join(" · ", append(about, said.Basis...)...))
}

// toPlainText returns a text for services that show it in a font of their own.
func toPlainText(text string) string {
	return printable.Line(strings.ReplaceAll(text, format.UnitSpace, " "))
}

// PreviewOf is the name or address of the picture that belongs to a page: the
// page's own, with another ending.
func PreviewOf(page string) string { return strings.TrimSuffix(page, path.Ext(page)) + ".png" }
