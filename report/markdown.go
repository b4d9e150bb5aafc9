package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/result"
)

// markdownWriter keeps write errors until its Flush, as its buffer does.
type markdownWriter struct{ *bufio.Writer }

func (p *Report) writeMarkdown(w io.Writer) error {
	m := markdownWriter{bufio.NewWriter(w)}
	for i := range p.groups {
		g := &p.groups[i]
		if len(p.groups) > 1 {
			fmt.Fprintf(m, "Dataset %s\n\n", escapeMarkdown(joined(" ", g.dataset.Spec.Name, g.dataset.Fingerprint)))
		}
		m.headline(newHeadline(g))
	}
	for i, r := range p.runs {
		m.run(p.own[i], r)
	}
	for i := range p.groups {
		for _, view := range []*table{comparison(&p.groups[i]), winnersTable(&p.groups[i])} {
			if view != nil {
				fmt.Fprintf(m, "## %s\n\n", escapeMarkdown(view.Title))
				m.table(view)
			}
		}
	}
	if len(p.runs) > 0 {
		fmt.Fprintf(m, "_%s_\n", p.repeats())
	}
	return m.Flush()
}

// headline is the answer, what it rests on, and the standings.
func (m markdownWriter) headline(h *headline) {
	if h == nil {
		return
	}
	m.answers(h.Answers)
	basis := h.Basis
	if h.Noise.Text != "" {
		basis = append(slices.Clone(basis), h.Noise.Text)
	}
	fmt.Fprintf(m, "%s\n\n", escapeMarkdown(strings.Join(basis, " · ")))
	for _, s := range []*standings{h.Queries, h.Loads} {
		if s == nil {
			continue
		}
		view := &table{Columns: []column{{Head: s.Title}, {Head: "times", Words: true}}, Notes: []span{spanDim(s.Help)}}
		for _, p := range s.Places {
			view.Rows = append(view.Rows, row{Cells: []span{spanPlain(p.Label), spanToned(p.Text, p.Tone)}})
		}
		m.table(view)
	}
}

// answers are the sentences of a headline.
func (m markdownWriter) answers(list []span) {
	for _, a := range list {
		mark := "**"
		if a.Tone == toneDim {
			mark = "_"
		}
		fmt.Fprintf(m, "%s%s%[1]s\n\n", mark, escapeMarkdown(a.Text))
	}
}

func (m markdownWriter) run(g *group, r *result.Run) {
	m.head(r)
	again := ""
	if len(r.Args) > 0 {
		again = joined("\n", command(r), elsewhere(r))
	}
	m.preamble(alerts(r), facts(r), again)
	m.tables(tables(g, r))
	m.experiment(r.Experiment)
}

func (m markdownWriter) head(r *result.Run) {
	fmt.Fprintf(m, "# Run %s: %s\n\n", escapeMarkdown(joined(" ", r.ID, r.Name)), outcome(r).Text)
}

// preamble is what stands before the tables; again is how to repeat it.
func (m markdownWriter) preamble(alerts []span, facts []fact, again string) {
	for _, a := range alerts {
		fmt.Fprintf(m, "> **%s**\n>\n", escapeMarkdown(a.Text))
	}
	m.WriteByte('\n')
	for _, f := range facts {
		fmt.Fprintf(m, "- **%s** %s\n", f.Key, escapeMarkdown(f.Value))
	}
	m.WriteByte('\n')
	if again != "" {
		m.WriteString("Repeat it with:\n\n")
		m.fenced("sh", again)
	}
}

func (m markdownWriter) tables(list []*table) {
	for _, view := range list {
		fmt.Fprintf(m, "## %s\n\n", escapeMarkdown(view.Title))
		m.table(view)
	}
}

func (m markdownWriter) experiment(text string) {
	if text != "" {
		m.WriteString("<details><summary>Experiment</summary>\n\n")
		m.fenced("yaml", text)
		m.WriteString("</details>\n\n")
	}
}

// fenced writes a block of code with a fence longer than any within it.
func (m markdownWriter) fenced(language, text string) {
	fence, text := "```", printable.Text(text)
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(m, "%s%s\n%s\n%s\n\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

func (m markdownWriter) table(view *table) {
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
			// Markdown has no spans: the remark stands in the second column.
			cells = make([]span, len(view.Columns))
			cells[0], cells[1] = r.Cells[0], r.Remark
		}
		for _, c := range cells {
			text := escapeMarkdown(c.Text)
			if text != "" && c.Tone == toneBest {
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
}

// escapeMarkdown makes a text stand for itself, on one line.
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
