package write

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/result"
)

// MarkdownWriter keeps write errors until its Flush, as its buffer does.
type MarkdownWriter struct{ *bufio.Writer }

// Headline is the answer, what it rests on, and the standings.
func (m MarkdownWriter) Headline(h *doc.Headline) {
	if h == nil {
		return
	}
	m.Answers(h.Answers)
	basis := h.Basis
	if h.Noise.Text != "" {
		basis = append(slices.Clone(basis), h.Noise.Text)
	}
	fmt.Fprintf(m, "%s\n\n", EscapeMarkdown(strings.Join(basis, " · ")))
	for _, s := range []*doc.Standings{h.Queries, h.Loads} {
		if s == nil {
			continue
		}
		view := &doc.Table{Columns: []doc.Column{{Head: s.Title}, {Head: "times", Words: true}}, Notes: []doc.Span{doc.Dim(s.Help)}}
		for _, p := range s.Places {
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(p.Label), doc.Toned(p.Text, p.Tone)}})
		}
		m.Table(view)
	}
}

// Answers are the sentences of a headline.
func (m MarkdownWriter) Answers(list []doc.Span) {
	for _, a := range list {
		mark := "**"
		if a.Tone == doc.ToneDim {
			mark = "_"
		}
		fmt.Fprintf(m, "%s%s%[1]s\n\n", mark, EscapeMarkdown(a.Text))
	}
}

func (m MarkdownWriter) Run(g *rank.Group, r *result.Run) {
	m.Head(r)
	again := ""
	if len(r.Args) > 0 {
		again = format.Join("\n", facts.Command(r), facts.RepeatCommand(r))
	}
	m.Preamble(facts.Alerts(r), facts.List(r), again)
	m.Tables(tables.All(g, r))
	m.Experiment(r.Experiment)
}

func (m MarkdownWriter) Head(r *result.Run) {
	fmt.Fprintf(m, "# Run %s: %s\n\n", EscapeMarkdown(format.Join(" ", r.ID, r.Name)), facts.Outcome(r).Text)
}

// Preamble is what stands before the tables; again is how to repeat it.
func (m MarkdownWriter) Preamble(alerts []doc.Span, facts []doc.Fact, again string) {
	for _, a := range alerts {
		fmt.Fprintf(m, "> **%s**\n>\n", EscapeMarkdown(a.Text))
	}
	m.WriteByte('\n')
	for _, f := range facts {
		fmt.Fprintf(m, "- **%s** %s\n", f.Key, EscapeMarkdown(f.Value))
	}
	m.WriteByte('\n')
	if again != "" {
		m.WriteString("Repeat it with:\n\n")
		m.fenced("sh", again)
	}
}

func (m MarkdownWriter) Tables(list []*doc.Table) {
	for _, view := range list {
		fmt.Fprintf(m, "## %s\n\n", EscapeMarkdown(view.Title))
		m.Table(view)
	}
}

func (m MarkdownWriter) Experiment(text string) {
	if text != "" {
		m.WriteString("<details><summary>Experiment</summary>\n\n")
		m.fenced("yaml", text)
		m.WriteString("</details>\n\n")
	}
}

// fenced writes a block of code with a fence longer than any within it.
func (m MarkdownWriter) fenced(language, text string) {
	fence, text := "```", printable.Text(text)
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(m, "%s%s\n%s\n%s\n\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

func (m MarkdownWriter) Table(view *doc.Table) {
	for _, c := range view.Columns {
		fmt.Fprintf(m, "| %s ", EscapeMarkdown(c.Head))
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
			cells = make([]doc.Span, len(view.Columns))
			cells[0], cells[1] = r.Cells[0], r.Remark
		}
		for _, c := range cells {
			text := EscapeMarkdown(c.Text)
			if text != "" && c.Tone == doc.ToneBest {
				text = "**" + text + "**"
			}
			fmt.Fprintf(m, "| %s ", text)
		}
		m.WriteString("|\n")
	}
	m.WriteByte('\n')
	for _, n := range view.Notes {
		fmt.Fprintf(m, "- %s\n", EscapeMarkdown(n.Text))
	}
	if len(view.Notes) > 0 {
		m.WriteByte('\n')
	}
}

// EscapeMarkdown makes a text stand for itself, on one line.
func EscapeMarkdown(s string) string {
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
