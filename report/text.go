package report

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/result"
)

const defaultWidth = 110

// textWriter draws on a terminal. Write errors are kept by the buffer until
// its Flush.
type textWriter struct {
	*bufio.Writer
	width   int
	color   bool
	verbose bool
	// elsewhere says who has the columns that are left out.
	elsewhere string
}

// newTextWriter returns a writer for a terminal. Elsewhere says who has the
// columns that do not fit.
func newTextWriter(w io.Writer, opts Options, elsewhere string) *textWriter {
	t := &textWriter{bufio.NewWriter(w), opts.Width, opts.Color, opts.Verbose, elsewhere}
	if t.width <= 0 {
		t.width = defaultWidth
	}
	return t
}

func (p *Report) writeText(w io.Writer, opts Options) error {
	t := newTextWriter(w, opts, "CSV, JSON and HTML have all")
	for i := range p.groups {
		g := &p.groups[i]
		if len(p.groups) > 1 {
			t.wrapped("", "", spanDim("Dataset "+joined(" ", g.dataset.Spec.Name, g.dataset.Fingerprint)))
		}
		t.headline(newHeadline(g))
	}
	for _, r := range p.runs {
		t.head(r)
	}
	for i := range p.groups {
		for _, view := range []*table{comparison(&p.groups[i]), t.detail(winnersTable(&p.groups[i]))} {
			if view != nil {
				t.table(view)
			}
		}
	}
	for i, r := range p.runs {
		if len(p.runs) > 1 {
			t.line("")
			t.line(t.paint(t.clean("Run "+joined(" ", r.ID, r.Name)), "1"))
		}
		t.tables(tables(p.own[i], r))
	}
	if len(p.runs) > 0 {
		t.line("")
		t.wrapped("", "", spanDim(p.repeats()))
	}
	if len(p.runs) > 0 && !t.verbose {
		t.wrapped("", "", spanDim("tsmark report"+references(p.runs)+" --verbose shows each target's percentiles, its version and settings, the resources, the host, and how to repeat it."))
	}
	return t.Flush()
}

// references are the ends of the runs' ids, as tsmark report takes them.
func references(runs []*result.Run) string {
	text := ""
	for i := range runs {
		text += " " + shortID(runs, i)
	}
	return text
}

// headline draws who was faster, what that rests on, and bars.
func (t *textWriter) headline(h *headline) {
	if h == nil {
		return
	}
	t.answers(h.Answers)
	t.wrapped("", "", spanPlain(strings.Join(h.Basis, " · ")))
	if h.Noise.Text != "" {
		t.wrapped("", "", h.Noise)
	}
	for _, s := range []*standings{h.Queries, h.Loads} {
		if s != nil {
			t.standings(s)
		}
	}
	t.line("")
}

// answers draws the sentences of a headline.
func (t *textWriter) answers(list []span) {
	for _, a := range list {
		if a.Tone == tonePlain {
			a.Tone = toneStrong
		}
		t.wrapped("", "  ", a)
	}
}

// longestBar is in columns.
const longestBar = 40

// standings draws a bar for each place.
func (t *textWriter) standings(s *standings) {
	t.line("")
	t.wrapped("", "", spanDim(s.Title+" ("+s.Help+")"))
	label, text, most := 0, 0, 1.0
	for _, p := range s.Places {
		label = max(label, runewidth.StringWidth(t.clean(p.Label)))
		text = max(text, runewidth.StringWidth(t.clean(p.Text)))
		most = max(most, p.Times)
	}
	room := max(10, min(longestBar, t.width-label-text-2*gap-2))
	for _, p := range s.Places {
		t.line("  " + pad(t.clean(p.Label), label+gap, false) + barOf(p.Times/most*float64(room)) + "  " + t.toned(t.clean(p.Text), p.Tone))
	}
}

// barOf is a bar of so many columns, to an eighth of one.
func barOf(columns float64) string {
	eighths := max(1, int(columns*8+0.5))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string(rune(0x2590 - rest)) // ▏ is one eighth, ▉ seven
	}
	return bar
}

// detail is a table that is shown on request alone; nil: it is not.
func (t *textWriter) detail(view *table) *table {
	if t.verbose {
		return view
	}
	return nil
}

func (t *textWriter) tables(list []*table) {
	for _, view := range list {
		switch {
		case t.verbose || view.Terminal == whole:
			t.table(view)
		case view.Terminal == doubtful:
			if doubts := view.doubts(); len(doubts.Rows) > 0 {
				t.table(&doubts)
			}
		}
	}
}

// head is what stands before the tables of a run.
func (t *textWriter) head(r *result.Run) {
	state := outcome(r)
	t.line(t.paint(t.clean("Run "+r.ID+inParentheses(r.Name)), "1") + "  " + t.toned(state.Text, state.Tone))
	for _, a := range alerts(r) {
		t.wrapped("", "  ", a)
	}
	if !t.verbose {
		return
	}
	for _, f := range append(facts(r), repeating(r)...) {
		t.wrapped(pad("  "+f.Key, 11, false), "           ", spanPlain(f.Value))
	}
}

func inParentheses(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// table draws a table, leaving out columns or cutting it into several where it
// is too wide.
func (t *textWriter) table(view *table) {
	t.line("")
	t.line(t.paint(t.clean(view.Title), "1"))
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
			t.line("")
		}
		t.rows(view, widths, part, i == 0)
	}
	for _, n := range view.Notes {
		t.wrapped("  ", "  ", n)
	}
	if len(left) > 0 {
		slices.Reverse(left)
		t.wrapped("  ", "  ", spanDim("Not shown here: "+strings.Join(left, ", ")+" ("+t.elsewhere+")."))
	}
}

const gap = 2 // spaces between columns

func (t *textWriter) widths(view *table) []int {
	widths := make([]int, len(view.Columns))
	for i, c := range view.Columns {
		widths[i] = runewidth.StringWidth(t.clean(c.Head))
	}
	for _, r := range view.Rows {
		for i, c := range r.Cells {
			widths[i] = max(widths[i], runewidth.StringWidth(t.clean(c.Text)))
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
func parts(view *table, widths, shown []int, width int) [][]int {
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
func (t *textWriter) rows(view *table, widths, shown []int, remarks bool) {
	var b strings.Builder
	put := func(i int, c span) {
		text := pad(t.clean(c.Text), widths[i], i > 0 && !view.Columns[i].Words)
		if i != shown[0] {
			b.WriteString(strings.Repeat(" ", gap))
		}
		b.WriteString(t.toned(text, c.Tone))
	}
	end := func() {
		t.line(strings.TrimRight(b.String(), " "))
		b.Reset()
	}
	for _, i := range shown {
		put(i, spanDim(view.Columns[i].Head))
	}
	end()
	for _, r := range view.Rows {
		if r.Remark.Text != "" && !remarks {
			continue
		}
		if r.Remark.Text != "" {
			first := pad(t.clean(r.Cells[0].Text), widths[0]+gap, false)
			t.wrapped(first, strings.Repeat(" ", widths[0]+gap), span(r.Remark))
			continue
		}
		for _, i := range shown {
			put(i, r.Cells[i])
		}
		end()
	}
}

// wrapped writes a text in lines of the width, the first after one prefix and
// the others after another.
func (t *textWriter) wrapped(first, rest string, n span) {
	line, prefix, column := "", first, runewidth.StringWidth(first)
	for _, word := range strings.Fields(t.clean(n.Text)) {
		w := runewidth.StringWidth(word)
		if line != "" && column+1+w > t.width {
			t.line(prefix + t.toned(line, n.Tone))
			line, prefix, column = "", rest, runewidth.StringWidth(rest)
		}
		if line != "" {
			line, column = line+" ", column+1
		}
		line, column = line+word, column+w
	}
	t.line(prefix + t.toned(line, n.Tone))
}

func (t *textWriter) line(s string) {
	t.WriteString(s)
	t.WriteByte('\n')
}

// clean makes a text fit for a terminal: what databases say of themselves must
// not move the cursor.
func (t *textWriter) clean(s string) string {
	return printable.Line(strings.ReplaceAll(s, unitSpace, ""))
}

func (t *textWriter) toned(s string, tone tone) string {
	switch tone {
	case toneBest:
		return t.paint(s, "1;32") // bold green
	case toneBad:
		return t.paint(s, "31") // red
	case toneDim:
		return t.paint(s, "2") // faint
	case toneStrong:
		return t.paint(s, "1") // bold
	}
	return s
}

func (t *textWriter) paint(s, code string) string {
	if !t.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-runewidth.StringWidth(s)))
	if right {
		return fill + s
	}
	return s + fill
}
