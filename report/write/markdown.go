package write

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
)

// markdownWriter keeps write errors until its Flush, as its buffer does.
type markdownWriter struct{ *bufio.Writer }

// WriteMarkdown writes a document as GitHub renders it.
func WriteMarkdown(w io.Writer, d *doc.Document) error {
	m := markdownWriter{bufio.NewWriter(w)}
	if !slices.ContainsFunc(d.Chapters, func(c doc.Chapter) bool { return c.Title != "" }) {
		fmt.Fprintf(m, "# %s\n\n", escapeMarkdown(d.Title))
	}
	for i := range d.Headlines {
		m.headline(&d.Headlines[i])
	}
	for i := range d.Chapters {
		m.chapter(&d.Chapters[i])
	}
	m.sections(d.Shared)
	for i, n := range d.Closing {
		if i > 0 {
			m.WriteByte('\n')
		}
		fmt.Fprintf(m, "_%s_\n", escapeMarkdown(n.Text))
	}
	return m.Flush()
}

// headline writes the answer, its basis, and the ranking.
func (m markdownWriter) headline(h *doc.Headline) {
	if h.Dataset != "" {
		fmt.Fprintf(m, "%s\n\n", escapeMarkdown(h.Dataset))
	}
	for _, a := range h.Answers {
		mark := "**"
		if a.Tone == format.ToneDim {
			mark = "_"
		}
		fmt.Fprintf(m, "%s%s%[1]s\n\n", mark, escapeMarkdown(a.Text))
	}
	if basis := format.Join(" · ", append(slices.Clone(h.Basis), h.Noise.Text)...); basis != "" {
		fmt.Fprintf(m, "%s\n\n", escapeMarkdown(basis))
	}
	for _, s := range []*doc.Ranking{h.Queries, h.Loads} {
		if s == nil {
			continue
		}
		view := &doc.Table{Columns: []doc.Column{{Head: s.Title}, {Head: "times", Words: true}}, Notes: []doc.Span{doc.Dim(s.Help)}}
		for _, p := range s.Places {
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(p.Label), doc.WithTone(p.Text+p.Within, p.Tone)}})
		}
		m.table(view)
	}
}

func (m markdownWriter) chapter(c *doc.Chapter) {
	if c.Title != "" {
		fmt.Fprintf(m, "# %s: %s\n\n", escapeMarkdown(format.Join(" ", c.Title, c.Name)), c.Outcome.Text)
	}
	for _, a := range c.Alerts {
		fmt.Fprintf(m, "> **%s**\n>\n", escapeMarkdown(a.Text))
	}
	if c.Title != "" || len(c.Alerts) > 0 {
		m.WriteByte('\n')
	}
	for _, f := range c.Facts {
		fmt.Fprintf(m, "- **%s** %s\n", f.Key, escapeMarkdown(f.Value))
	}
	m.WriteByte('\n')
	if again := format.Join("\n", c.Command, c.Repeat); again != "" {
		m.WriteString("Repeat it with:\n\n")
		m.writeCode("sh", again)
	}
	m.sections(c.Sections)
	if c.Experiment != "" {
		m.WriteString("<details><summary>Experiment</summary>\n\n")
		m.writeCode("yaml", c.Experiment)
		m.WriteString("</details>\n\n")
	}
}

func (m markdownWriter) sections(list []doc.Section) {
	for _, s := range list {
		if s.Page {
			continue
		}
		level := "##"
		if s.Title != "" {
			fmt.Fprintf(m, "## %s\n\n", escapeMarkdown(s.Title))
			level = "###"
		}
		for _, n := range s.Notes {
			fmt.Fprintf(m, "%s\n\n", escapeMarkdown(n.Text))
		}
		for i := range s.Diffs {
			fmt.Fprintf(m, "%s %s\n\n", level, escapeMarkdown(s.Diffs[i].Title))
			m.writeCode("diff", diffText(&s.Diffs[i]))
		}
		m.tables(level, s.Tables)
		var runs []string
		for _, r := range s.Runs {
			runs = append(runs, r.Key+": "+r.Value)
		}
		m.writeDetails("Runs", runs)
	}
}

// diffText returns a Diff as programs that compare files write it.
func diffText(d *doc.Diff) string {
	lines := []string{"--- " + d.A, "+++ " + d.B}
	for _, l := range diffLines(d) {
		switch l.Kind {
		case doc.DiffRemoved:
			lines = append(lines, "-"+l.A)
		case doc.DiffAdded:
			lines = append(lines, "+"+l.B)
		case doc.DiffFolded:
			lines = append(lines, l.A)
		default:
			lines = append(lines, " "+l.B)
		}
	}
	return strings.Join(lines, "\n")
}

func (m markdownWriter) tables(level string, list []*doc.Table) {
	for _, view := range list {
		fmt.Fprintf(m, "%s %s\n\n", level, escapeMarkdown(view.Title))
		m.table(view)
	}
}

// writeDetails writes a list that opens on request. It writes nothing for an empty list.
func (m markdownWriter) writeDetails(summary string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(m, "<details><summary>%s</summary>\n\n", escapeMarkdown(summary))
	for _, text := range list {
		fmt.Fprintf(m, "- %s\n", escapeMarkdown(text))
	}
	m.WriteString("\n</details>\n\n")
}

// writeCode writes a block of code with a fence longer than any within it.
func (m markdownWriter) writeCode(language, text string) {
	fence, text := "```", printable.Text(text)
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(m, "%s%s\n%s\n%s\n\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

func (m markdownWriter) table(view *doc.Table) {
	for _, c := range view.Columns {
		fmt.Fprintf(m, "| %s ", escapeMarkdown(c.Head))
	}
	m.WriteString("|\n")
	for i, c := range view.Columns {
		if i == 0 || c.Words {
			m.WriteString("|---")
		} else {
			m.WriteString("|--:")
		}
	}
	m.WriteString("|\n")
	for _, r := range view.Rows {
		cells := r.Cells
		if r.Remark.Text != "" {
			// Markdown has no column spans: the remark goes into the second column.
			cells = make([]doc.Span, len(view.Columns))
			cells[0], cells[1] = r.Cells[0], r.Remark
		}
		for _, c := range cells {
			text := escapeMarkdown(c.Text)
			if text != "" && c.Tone == format.ToneBest {
				text = "**" + text + "**"
			}
			fmt.Fprintf(m, "| %s ", text)
		}
		m.WriteString("|\n")
	}
	m.WriteByte('\n')
	for _, n := range view.Notes {
		fmt.Fprintf(m, "- %s\n", escapeMarkdown(n.Text))
	}
	if len(view.Notes) > 0 {
		m.WriteByte('\n')
	}
	for _, r := range view.Rows {
		for _, d := range r.Details {
			m.writeDetails(r.Cells[0].Text+": "+d.Title, d.Lines)
		}
	}
}

// escapeMarkdown escapes a text so that Markdown shows it literally, on one line.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range printable.Line(s) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_[]|~@#", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
