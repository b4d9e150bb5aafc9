package report

import (
	"bufio"
	"fmt"
	"io"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

func (p *Report) writeMarkdown(w io.Writer) error {
	m := write.MarkdownWriter{Writer: bufio.NewWriter(w)}
	for i := range p.Groups {
		g := &p.Groups[i]
		if len(p.Groups) > 1 {
			fmt.Fprintf(m, "Dataset %s\n\n", write.EscapeMarkdown(format.Join(" ", g.Dataset.Spec.Name, g.Dataset.Fingerprint)))
		}
		m.Headline(rank.NewHeadline(g))
	}
	for i, r := range p.runs {
		m.Run(p.own[i], r)
	}
	for i := range p.Groups {
		for _, view := range []*doc.Table{tables.SideBySide(&p.Groups[i]), tables.Winners(&p.Groups[i])} {
			if view != nil {
				fmt.Fprintf(m, "## %s\n\n", write.EscapeMarkdown(view.Title))
				m.Table(view)
			}
		}
	}
	if len(p.runs) > 0 {
		fmt.Fprintf(m, "_%s_\n", p.repeats())
	}
	return m.Flush()
}

func (p *Report) writeText(w io.Writer, opts write.Options) error {
	t := write.NewText(w, opts, "CSV, JSON and HTML have all")
	for i := range p.Groups {
		g := &p.Groups[i]
		if len(p.Groups) > 1 {
			t.Wrapped("", "", doc.Dim("Dataset "+format.Join(" ", g.Dataset.Spec.Name, g.Dataset.Fingerprint)))
		}
		t.Headline(rank.NewHeadline(g))
	}
	for _, r := range p.runs {
		t.Head(r)
	}
	for i := range p.Groups {
		for _, view := range []*doc.Table{tables.SideBySide(&p.Groups[i]), t.Detail(tables.Winners(&p.Groups[i]))} {
			if view != nil {
				t.Table(view)
			}
		}
	}
	for i, r := range p.runs {
		if len(p.runs) > 1 {
			t.Line("")
			t.Line(t.Paint(t.Clean("Run "+format.Join(" ", r.ID, r.Name)), "1"))
		}
		t.Tables(tables.All(p.own[i], r))
	}
	if len(p.runs) > 0 {
		t.Line("")
		t.Wrapped("", "", doc.Dim(p.repeats()))
	}
	if len(p.runs) > 0 && !t.Verbose {
		t.Wrapped("", "", doc.Dim("tsmark report"+references(p.runs)+" --verbose shows each target's percentiles, its version and settings, the resources, the host, and how to repeat it."))
	}
	return t.Flush()
}

// references are the ends of the runs' ids, as tsmark report takes them.
func references(runs []*result.Run) string {
	text := ""
	for i := range runs {
		text += " " + rank.ShortID(runs, i)
	}
	return text
}
