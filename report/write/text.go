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
	"github.com/tsmark/tsmark/report/format"
)

const defaultWidth = 110

// textWriter draws on a terminal. Write errors are kept by the buffer until
// its Flush.
type textWriter struct {
	*bufio.Writer
	width   int
	color   bool
	verbose bool
	// elsewhere names the formats that have the omitted columns.
	elsewhere string
	shared    []doc.Mark // of all figures: said once, and without signs
}

// newText returns a writer for a terminal. Elsewhere names the formats that have the
// columns that do not fit.
func newText(w io.Writer, opts Options, elsewhere string) *textWriter {
	t := &textWriter{Writer: bufio.NewWriter(w), width: opts.Width, color: opts.Color, verbose: opts.Verbose, elsewhere: elsewhere}
	if t.width <= 0 {
		t.width = defaultWidth
	}
	return t
}

// WriteText writes a document for a terminal: the results of all chapters, the warnings
// about each, then their tables.
func WriteText(w io.Writer, d *doc.Document, opts Options) error {
	t := newText(w, opts, d.Elsewhere)
	for _, m := range d.Marks {
		if m.All && !m.Leading {
			t.shared = append(t.shared, m)
		}
	}
	for i := range d.Headlines {
		t.headline(&d.Headlines[i])
	}
	for i := range d.Chapters {
		t.head(&d.Chapters[i])
	}
	t.sections(d.Shared)
	for i := range d.Chapters {
		c := &d.Chapters[i]
		if len(d.Chapters) > 1 {
			t.heading(format.Join(" ", c.Title, c.Name))
		}
		t.sections(c.Sections)
	}
	closing := d.Closing
	if d.More != "" && !t.verbose {
		closing = append(slices.Clone(closing), doc.Dim(d.More))
	}
	if len(closing) > 0 {
		t.line("")
	}
	for _, n := range closing {
		t.writeWrapped("", "", n)
	}
	return t.Flush()
}

// sections draws the parts of sections that a terminal shows.
func (t *textWriter) sections(list []doc.Section) {
	for _, s := range list {
		if s.Page {
			continue
		}
		if s.Title != "" {
			t.heading(s.Title)
		}
		for _, n := range s.Notes {
			t.writeWrapped("  ", "  ", n)
		}
		for i := range s.Diffs {
			t.diff(&s.Diffs[i])
		}
		t.tables(s.Tables)
	}
}

// diff draws two texts as one, with marks at the lines of one of them.
func (t *textWriter) diff(d *doc.Diff) {
	t.heading(d.Title)
	t.line(t.tone("  - "+t.clean(d.A), format.ToneDim))
	t.line(t.tone("  + "+t.clean(d.B), format.ToneDim))
	put := func(sign, text string, tone format.Tone) {
		t.line(t.tone(runewidth.Truncate("  "+sign+" "+t.clean(text), t.width, "…"), tone))
	}
	for _, l := range diffLines(d) {
		switch l.Kind {
		case doc.DiffRemoved:
			put("-", l.A, format.ToneBad)
		case doc.DiffAdded:
			put("+", l.B, format.ToneBest)
		case doc.DiffFolded:
			put(" ", l.A, format.ToneDim)
		default:
			put(" ", l.B, format.TonePlain)
		}
	}
}

// diffLines returns the lines of a Diff one below the other: in each place, those of the first text before
// those of the second.
func diffLines(d *doc.Diff) (lines []doc.DiffLine) {
	var added []doc.DiffLine
	for _, l := range d.Lines {
		if l.Kind != doc.DiffChanged && l.Kind != doc.DiffAdded {
			lines, added = append(lines, added...), nil
		}
		switch l.Kind {
		case doc.DiffChanged:
			lines = append(lines, doc.DiffLine{Kind: doc.DiffRemoved, A: l.A})
			added = append(added, doc.DiffLine{Kind: doc.DiffAdded, B: l.B})
		case doc.DiffAdded:
			added = append(added, l)
		default:
			lines = append(lines, l)
		}
	}
	return append(lines, added...)
}

// headline draws the fastest target, the basis of that, and bars.
func (t *textWriter) headline(h *doc.Headline) {
	if h.Dataset != "" {
		t.writeWrapped("", "", doc.Dim(h.Dataset))
	}
	if len(h.Answers) == 0 {
		return
	}
	for _, a := range h.Answers {
		if a.Tone == format.TonePlain {
			a.Tone = format.ToneStrong
		}
		t.writeWrapped("", "  ", a)
	}
	if len(h.Basis) > 0 {
		t.writeWrapped("", "", doc.Plain(strings.Join(h.Basis, " · ")))
	}
	if h.Noise.Text != "" {
		t.writeWrapped("", "", h.Noise)
	}
	for i := range t.shared {
		t.writeWrapped("", "  ", doc.Dim("All figures: "+t.shared[i].Text()))
	}
	for _, s := range []*doc.Ranking{h.Queries, h.Loads} {
		if s != nil {
			t.writeRanking(s)
		}
	}
	t.line("")
}

// longestBar is the maximum length of a bar, in columns.
const longestBar = 40

// writeRanking writes a ranking with a bar for each place.
func (t *textWriter) writeRanking(s *doc.Ranking) {
	t.line("")
	t.writeWrapped("", "", doc.Dim(s.Title+" ("+s.Help+")"))
	label, text, most := 0, 0, 1.0
	for _, p := range s.Places {
		label = max(label, runewidth.StringWidth(t.clean(p.Label)))
		text = max(text, runewidth.StringWidth(t.clean(p.Text+p.Within)))
		most = max(most, p.Times)
	}
	room := max(10, min(longestBar, t.width-label-text-2*gap-2))
	for _, p := range s.Places {
		t.line("  " + pad(t.clean(p.Label), label+gap, false) + barOf(p.Times/most*float64(room)) + "  " + t.tone(t.clean(p.Text+p.Within), p.Tone))
	}
}

// barOf returns a bar of the given number of columns, to an eighth of one.
func barOf(columns float64) string {
	eighths := max(1, int(columns*8+0.5))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string(rune(0x2590 - rest)) // ▏ is one eighth, ▉ seven
	}
	return bar
}

func (t *textWriter) tables(list []*doc.Table) {
	for _, view := range list {
		switch {
		case t.verbose || view.Terminal == doc.Whole:
			t.table(view)
		case view.Terminal == doc.Doubtful:
			if doubts := view.Doubts(); len(doubts.Rows) > 0 {
				t.table(&doubts)
			}
		}
	}
}

// head writes the text before the tables of a chapter.
func (t *textWriter) head(c *doc.Chapter) {
	if c.Title != "" {
		t.line(t.paint(t.clean(c.Title+inParentheses(c.Name)), "1") + "  " + t.tone(c.Outcome.Text, c.Outcome.Tone))
	}
	for _, a := range c.Alerts {
		t.writeWrapped("", "  ", a)
	}
	if c.OnRequest && !t.verbose {
		return
	}
	list := append(slices.Clone(c.Facts), doc.Fact{Key: "command", Value: c.Command}, doc.Fact{Key: "repeat", Value: c.Repeat})
	width := leastKey
	for _, f := range append(list, c.Remarks...) {
		width = max(width, runewidth.StringWidth(t.clean(f.Key)))
	}
	for _, f := range append(list, c.Remarks...) {
		if f.Value != "" {
			t.writeWrapped(pad("  "+t.clean(f.Key), width+2*gap, false), strings.Repeat(" ", width+2*gap), doc.Plain(f.Value))
		}
	}
}

// leastKey is the minimum width of the keys of facts, in columns.
const leastKey = 7

func (t *textWriter) heading(text string) {
	t.line("")
	t.line(t.paint(t.clean(text), "1"))
}

func inParentheses(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// table draws a table. If it is too wide, it omits columns or cuts the table into
// several.
func (t *textWriter) table(view *doc.Table) {
	t.heading(view.Title)
	if view.Records {
		t.records(view)
		return
	}
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
		if !slices.ContainsFunc(t.shared, func(m doc.Mark) bool { return n.Text == m.Note }) {
			t.writeWrapped("  ", "  ", n)
		}
	}
	if len(left) > 0 {
		slices.Reverse(left)
		t.writeWrapped("  ", "  ", doc.Dim("Not shown here: "+strings.Join(left, ", ")+" ("+t.elsewhere+")."))
	}
}

// records draws each row as a paragraph.
func (t *textWriter) records(view *doc.Table) {
	const key = 5 // columns
	indent := strings.Repeat(" ", key)
	for i, r := range view.Rows {
		if i > 0 {
			t.line("")
		}
		t.writeWrapped(pad(t.clean(r.Cells[0].Text), key, false), indent, r.Cells[1])
		for n, c := range r.Cells[2:] {
			if c.Text != "" {
				t.writeWrapped(indent, indent, doc.WithTone(view.Columns[2+n].Head+": "+c.Text, c.Tone))
			}
		}
		for _, d := range r.Details {
			if !t.verbose {
				break
			}
			t.writeWrapped(indent, indent, doc.Dim(d.Title+":"))
			for _, text := range d.Lines {
				t.writeWrapped(indent+"- ", indent+"  ", doc.Dim(text))
			}
		}
	}
	for _, n := range view.Notes {
		t.writeWrapped("  ", "  ", n)
	}
}

const gap = 2 // spaces between columns

func (t *textWriter) widths(view *doc.Table) []int {
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
func (t *textWriter) rows(view *doc.Table, widths, shown []int, remarks bool) {
	var b strings.Builder
	put := func(i int, c doc.Span) {
		text := pad(t.clean(c.Text), widths[i], i > 0 && !view.Columns[i].Words)
		if i != shown[0] {
			b.WriteString(strings.Repeat(" ", gap))
		}
		b.WriteString(t.tone(text, c.Tone))
	}
	end := func() {
		t.line(strings.TrimRight(b.String(), " "))
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
			first := pad(t.clean(r.Cells[0].Text), widths[0]+gap, false)
			t.writeWrapped(first, strings.Repeat(" ", widths[0]+gap), r.Remark)
			continue
		}
		for _, i := range shown {
			put(i, r.Cells[i])
		}
		end()
	}
}

// writeWrapped writes a text in lines of the width, the first after one prefix and
// the others after another.
func (t *textWriter) writeWrapped(first, rest string, n doc.Span) {
	line, prefix, column := "", first, runewidth.StringWidth(first)
	for _, word := range strings.Fields(t.clean(n.Text)) {
		w := runewidth.StringWidth(word)
		if line != "" && column+1+w > t.width {
			t.line(prefix + t.tone(line, n.Tone))
			line, prefix, column = "", rest, runewidth.StringWidth(rest)
		}
		if line != "" {
			line, column = line+" ", column+1
		}
		line, column = line+word, column+w
	}
	t.line(prefix + t.tone(line, n.Tone))
}

func (t *textWriter) line(s string) {
	t.WriteString(s)
	t.WriteByte('\n')
}

// clean makes a text safe for a terminal: texts from databases must
// not move the cursor. It takes out the signs that all figures have.
func (t *textWriter) clean(s string) string {
	for _, m := range t.shared {
		s = strings.ReplaceAll(s, m.Sign, "")
	}
	return printable.Line(strings.ReplaceAll(s, format.UnitSpace, ""))
}

func (t *textWriter) tone(s string, tone format.Tone) string {
	switch tone {
	case format.ToneBest:
		return t.paint(s, "1;32") // bold green
	case format.ToneBad:
		return t.paint(s, "31") // red
	case format.ToneDim:
		return t.paint(s, "2") // faint
	case format.ToneStrong:
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
