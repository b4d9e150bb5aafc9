// Package write prints documents: a writer for each format.
package write

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

const defaultWidth = 110

// TextWriter draws on a terminal. Write errors are kept by the buffer until
// its Flush.
type TextWriter struct {
	*bufio.Writer
	width   int
	color   bool
	Verbose bool
	// elsewhere says who has the columns that are left out.
	elsewhere string
}

// NewText returns a writer for a terminal. Elsewhere says who has the
// columns that do not fit.
func NewText(w io.Writer, opts Options, elsewhere string) *TextWriter {
	t := &TextWriter{bufio.NewWriter(w), opts.Width, opts.Color, opts.Verbose, elsewhere}
	if t.width <= 0 {
		t.width = defaultWidth
	}
	return t
}

// Headline draws who was faster, what that rests on, and bars.
func (t *TextWriter) Headline(h *doc.Headline) {
	if h == nil {
		return
	}
	t.Answers(h.Answers)
	t.Wrapped("", "", doc.Plain(strings.Join(h.Basis, " · ")))
	if h.Noise.Text != "" {
		t.Wrapped("", "", h.Noise)
	}
	for _, s := range []*doc.Standings{h.Queries, h.Loads} {
		if s != nil {
			t.standings(s)
		}
	}
	t.Line("")
}

// Answers draws the sentences of a headline.
func (t *TextWriter) Answers(list []doc.Span) {
	for _, a := range list {
		if a.Tone == doc.TonePlain {
			a.Tone = doc.ToneStrong
		}
		t.Wrapped("", "  ", a)
	}
}

// longestBar is in columns.
const longestBar = 40

// standings draws a bar for each place.
func (t *TextWriter) standings(s *doc.Standings) {
	t.Line("")
	t.Wrapped("", "", doc.Dim(s.Title+" ("+s.Help+")"))
	label, text, most := 0, 0, 1.0
	for _, p := range s.Places {
		label = max(label, runewidth.StringWidth(t.Clean(p.Label)))
		text = max(text, runewidth.StringWidth(t.Clean(p.Text)))
		most = max(most, p.Times)
	}
	room := max(10, min(longestBar, t.width-label-text-2*gap-2))
	for _, p := range s.Places {
		t.Line("  " + Pad(t.Clean(p.Label), label+gap, false) + BarOf(p.Times/most*float64(room)) + "  " + t.Toned(t.Clean(p.Text), p.Tone))
	}
}

// BarOf is a bar of so many columns, to an eighth of one.
func BarOf(columns float64) string {
	eighths := max(1, int(columns*8+0.5))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string(rune(0x2590 - rest)) // ▏ is one eighth, ▉ seven
	}
	return bar
}

// Detail is a table that is shown on request alone; nil: it is not.
func (t *TextWriter) Detail(view *doc.Table) *doc.Table {
	if t.Verbose {
		return view
	}
	return nil
}

func (t *TextWriter) Tables(list []*doc.Table) {
	for _, view := range list {
		switch {
		case t.Verbose || view.Terminal == doc.Whole:
			t.Table(view)
		case view.Terminal == doc.Doubtful:
			if doubts := view.Doubts(); len(doubts.Rows) > 0 {
				t.Table(&doubts)
			}
		}
	}
}

// Head is what stands before the tables of a run.
func (t *TextWriter) Head(r *result.Run) {
	state := facts.Outcome(r)
	t.Line(t.Paint(t.Clean("Run "+r.ID+inParentheses(r.Name)), "1") + "  " + t.Toned(state.Text, state.Tone))
	for _, a := range facts.Alerts(r) {
		t.Wrapped("", "  ", a)
	}
	if !t.Verbose {
		return
	}
	for _, f := range append(facts.List(r), facts.Repeating(r)...) {
		t.Wrapped(Pad("  "+f.Key, 11, false), "           ", doc.Plain(f.Value))
	}
}

func inParentheses(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// Table draws a table, leaving out columns or cutting it into several where it
// is too wide.
func (t *TextWriter) Table(view *doc.Table) {
	t.Line("")
	t.Line(t.Paint(t.Clean(view.Title), "1"))
	widths := t.widths(view)
	shown := make([]int, len(view.Columns))
	for i := range shown {
		shown[i] = i
	}
	var left []string
	for total(widths, shown) > t.width {
		drop := slices.MaxFunc(shown, func(a, b int) int { return view.Columns[a].Rank - view.Columns[b].Rank })
		if view.Columns[drop].Rank == 0 {
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == drop })
		left = append(left, view.Columns[drop].Head)
	}
	for i, part := range parts(view, widths, shown, t.width) {
		if i > 0 {
			t.Line("")
		}
		t.rows(view, widths, part, i == 0)
	}
	for _, n := range view.Notes {
		t.Wrapped("  ", "  ", n)
	}
	if len(left) > 0 {
		slices.Reverse(left)
		t.Wrapped("  ", "  ", doc.Dim("Not shown here: "+strings.Join(left, ", ")+" ("+t.elsewhere+")."))
	}
}

const gap = 2 // spaces between columns

func (t *TextWriter) widths(view *doc.Table) []int {
	widths := make([]int, len(view.Columns))
	for i, c := range view.Columns {
		widths[i] = runewidth.StringWidth(t.Clean(c.Head))
	}
	for _, r := range view.Rows {
		for i, c := range r.Cells {
			widths[i] = max(widths[i], runewidth.StringWidth(t.Clean(c.Text)))
		}
	}
	return widths
}

func total(widths, shown []int) int {
	sum := gap * (len(shown) - 1)
	for _, i := range shown {
		sum += widths[i]
	}
	return sum
}

// parts cuts the columns into lists that fit the width, each with the first column and
// those behind it that name the rows, too. A list that cannot be made to fit has one group of
// columns beside these.
func parts(view *doc.Table, widths, shown []int, width int) [][]int {
	names := 1
	for names < len(shown) && view.Columns[shown[names]].Names {
		names++
	}
	list := [][]int{slices.Clone(shown[:names])}
	for i := names; i < len(shown); {
		n := 1
		for i+n < len(shown) && view.Columns[shown[i+n]].Follows {
			n++
		}
		last := list[len(list)-1]
		if len(last) > names && total(widths, slices.Concat(last, shown[i:i+n])) > width {
			last = slices.Clone(shown[:names])
			list = append(list, nil)
		}
		list[len(list)-1] = append(last, shown[i:i+n]...)
		i += n
	}
	return list
}

// rows draws the shown columns, with the remarks of rows or without them.
func (t *TextWriter) rows(view *doc.Table, widths, shown []int, remarks bool) {
	var b strings.Builder
	put := func(i int, c doc.Span) {
		text := Pad(t.Clean(c.Text), widths[i], i > 0 && !view.Columns[i].Words)
		if i != shown[0] {
			b.WriteString(strings.Repeat(" ", gap))
		}
		b.WriteString(t.Toned(text, c.Tone))
	}
	end := func() {
		t.Line(strings.TrimRight(b.String(), " "))
		b.Reset()
	}
	for _, i := range shown {
		put(i, doc.Dim(view.Columns[i].Head))
	}
	end()
	for _, r := range view.Rows {
		if r.Remark.Text != "" && !remarks {
			continue
		}
		if r.Remark.Text != "" {
			first := Pad(t.Clean(r.Cells[0].Text), widths[0]+gap, false)
			t.Wrapped(first, strings.Repeat(" ", widths[0]+gap), doc.Span(r.Remark))
			continue
		}
		for _, i := range shown {
			put(i, r.Cells[i])
		}
		end()
	}
}

// Wrapped writes a text in lines of the width, the first after one prefix and
// the others after another.
func (t *TextWriter) Wrapped(first, rest string, n doc.Span) {
	line, prefix, column := "", first, runewidth.StringWidth(first)
	for _, word := range strings.Fields(t.Clean(n.Text)) {
		w := runewidth.StringWidth(word)
		if line != "" && column+1+w > t.width {
			t.Line(prefix + t.Toned(line, n.Tone))
			line, prefix, column = "", rest, runewidth.StringWidth(rest)
		}
		if line != "" {
			line, column = line+" ", column+1
		}
		line, column = line+word, column+w
	}
	t.Line(prefix + t.Toned(line, n.Tone))
}

func (t *TextWriter) Line(s string) {
	t.WriteString(s)
	t.WriteByte('\n')
}

// Clean makes a text fit for a terminal: what databases say of themselves must
// not move the cursor.
func (t *TextWriter) Clean(s string) string {
	return printable.Line(strings.ReplaceAll(s, format.UnitSpace, ""))
}

func (t *TextWriter) Toned(s string, tone doc.Tone) string {
	switch tone {
	case doc.ToneBest:
		return t.Paint(s, "1;32") // bold green
	case doc.ToneBad:
		return t.Paint(s, "31") // red
	case doc.ToneDim:
		return t.Paint(s, "2") // faint
	case doc.ToneStrong:
		return t.Paint(s, "1") // bold
	}
	return s
}

func (t *TextWriter) Paint(s, code string) string {
	if !t.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func Pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-runewidth.StringWidth(s)))
	if right {
		return fill + s
	}
	return s + fill
}
