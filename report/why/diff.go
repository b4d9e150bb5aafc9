package why

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/tsmark/tsmark/report/doc"
)

// noise lists what differs between two plans that are equal otherwise, with replacements.
var noise = sync.OnceValue(func() []replacement {
	list := []struct{ pattern, with string }{
		{`\((cost|actual)[ =][^)]*\)`, ""},
		{`'(?:[^']|'')*'`, "'…'"}, // runs draw different queries
		{`\b\d{4}-\d\d-\d\d(?:[T ][0-9:.]+Z?)?`, "#"},
		{`(?i)\b(rows|cost|time|width|loops|memory|duration|start|end|timeout|id)(\s*[=:]\s*)[\d.,e+-]+`, "$1$2#"},
		{`~\s?[\d.,]+`, "~#"},
		{`(?i)\b(parts|granules)(: )\d+/\d+`, "$1$2#"},
		{`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b`, "#"},
		{`\b\d[\d.,]*\s?(?:ns|µs|us|ms|s|[kKMGT]?i?B|bytes|%)(?:\b|$)`, "#"},
		{`\b\d{6,}\b|\b\d+\.\d+\b`, "#"},
		{`[\s─│┌┐└┘├┤┬┴┼|+-]+`, " "}, // boxes are as wide as their contents
	}
	compiled := make([]replacement, len(list))
	for i, r := range list {
		compiled[i] = replacement{regexp.MustCompile(r.pattern), r.with}
	}
	return compiled
})

type replacement struct {
	pattern *regexp.Regexp
	with    string
}

// normalize returns the lines of a plan without noise.
func normalize(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		for _, r := range noise() {
			line = r.pattern.ReplaceAllString(line, r.with)
		}
		out[i] = strings.TrimSpace(line)
	}
	return out
}

const (
	mostLines = 400 // of a plan that are compared
	around    = 2   // equal lines shown before and after different ones
)

// compareTexts compares two plans line by line. It returns the lines that differ, with some around them.
func compareTexts(a, b string) (lines []doc.DiffLine, changed bool) {
	x, y := linesOf(a), linesOf(b)
	p, q := normalize(x), normalize(y)
	// longest[i][j] is the length of the longest common subsequence of p[i:] and q[j:].
	longest := make([][]int, len(p)+1)
	for i := range longest {
		longest[i] = make([]int, len(q)+1)
	}
	for i := len(p) - 1; i >= 0; i-- {
		for j := len(q) - 1; j >= 0; j-- {
			if longest[i][j] = max(longest[i+1][j], longest[i][j+1]); p[i] == q[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	var removed, added []string
	flush := func() {
		for n := range max(len(removed), len(added)) {
			line := doc.DiffLine{Kind: doc.DiffChanged}
			switch {
			case n >= len(removed):
				line.Kind = doc.DiffAdded
			case n >= len(added):
				line.Kind = doc.DiffRemoved
			}
			if n < len(removed) {
				line.A = removed[n]
			}
			if n < len(added) {
				line.B = added[n]
			}
			lines, changed = append(lines, line), true
		}
		removed, added = nil, nil
	}
	for i, j := 0, 0; i < len(p) || j < len(q); {
		switch {
		case i < len(p) && j < len(q) && p[i] == q[j]:
			flush()
			lines = append(lines, doc.DiffLine{A: x[i], B: y[j]})
			i, j = i+1, j+1
		case j == len(q) || i < len(p) && longest[i+1][j] >= longest[i][j+1]:
			removed = append(removed, x[i])
			i++
		default:
			added = append(added, y[j])
			j++
		}
	}
	flush()
	return fold(lines), changed
}

// linesOf returns the lines of a plan, at most mostLines.
func linesOf(text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > mostLines {
		lines = append(lines[:mostLines:mostLines], fmt.Sprintf("… %d further lines, which are not compared", len(lines)-mostLines))
	}
	return lines
}

// fold replaces equal lines that are not near one that differs.
func fold(lines []doc.DiffLine) (folded []doc.DiffLine) {
	near := make([]bool, len(lines))
	for i := range lines {
		for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
			near[i] = near[i] || lines[j].Kind != doc.DiffEqual
		}
	}
	for i := 0; i < len(lines); {
		if near[i] {
			folded = append(folded, lines[i])
			i++
			continue
		}
		first := i
		for i < len(lines) && !near[i] {
			i++
		}
		folded = append(folded, doc.DiffLine{Kind: doc.DiffFolded, A: fmt.Sprintf("… %d equal lines", i-first)})
	}
	return folded
}
