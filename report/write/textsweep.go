package write

import (
	"fmt"

	"github.com/tsmark/tsmark/report/doc"
)

// Evidence draws what decided a claim; its comparisons on request.
func (t *TextWriter) Evidence(e Evidence) {
	if e.Short != "" {
		t.Wrapped("     ", "     ", doc.Dim(e.Short))
	}
	for _, one := range e.Parts {
		if t.Verbose {
			t.Wrapped("     - ", "       ", doc.Dim(one))
		}
	}
}

// Folded is a list that opens on request; nothing where it is empty.
func (m MarkdownWriter) Folded(summary string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(m, "<details><summary>%s</summary>\n\n", EscapeMarkdown(summary))
	for _, text := range list {
		fmt.Fprintf(m, "- %s\n", EscapeMarkdown(text))
	}
	m.WriteString("\n</details>\n\n")
}
