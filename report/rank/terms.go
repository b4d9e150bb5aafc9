package rank

import (
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/terms"
)

// TermNotes name the terms in which targets differ: the barring ones in words of
// their own, the others in one line.
func TermNotes(list []terms.Difference) []doc.Span {
	var barring, others []string
	for _, d := range list {
		if d.Bars {
			barring = append(barring, d.String())
		} else {
			others = append(others, d.String())
		}
	}
	var notes []doc.Span
	for _, n := range []struct {
		prefix string
		parts  []string
		tone   format.Tone
	}{{"Not measured under the same terms: ", barring, format.ToneBad}, {"Terms that differ: ", others, format.TonePlain}} {
		if len(n.parts) > 0 {
			notes = append(notes, doc.WithTone(n.prefix+strings.Join(n.parts, "; "), n.tone))
		}
	}
	return notes
}
