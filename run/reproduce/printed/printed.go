// Package printed contains the printed figures of the documents that tsmark reproduces: 2,884 cells
// of tables, and numbers in the text. They are unaltered: if a cell contradicts another one, or
// data that its authors published separately, its note says so.
package printed

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Figure is one printed number.
type Figure struct {
	Document   string            // number of the document: 000 to 006
	Table      string            // its table or figure, as numbered in the document
	Experiment string            // our name of its experiment
	System     string            // as in the document; A/B: the figure of A divided by that of B
	Parameters map[string]string // parameters of the measurement, by TSBS's or IoTDB-Benchmark's names
	Metric     string            // such as load_s or queries_per_s
	Text       string            // the number as in the file
	Value      float64           // the parsed number
	Unit       string
	Note       string // doubts first
}

//go:embed figures.tsv
var figures string

// All returns all figures, in the order of the documents and of their tables. The callers share
// them and must not modify them.
var All = sync.OnceValue(func() []Figure {
	list, err := Parse(figures)
	if err != nil {
		panic("figures.tsv: " + err.Error()) // it is part of the program, and tested
	}
	return list
})

// columns are the header of the file.
const columns = "document\ttable\texperiment\tsystem\tparameters\tmetric\tvalue\tunit\tnote"

// Parse reads figures as tab-separated values; the first line names the columns. Parameters are
// written as a=1;b=2. Errors name the line.
func Parse(text string) ([]Figure, error) {
	header, rest, _ := strings.Cut(text, "\n")
	if header != columns {
		return nil, fmt.Errorf("line 1: the columns are %q, expected %q", header, columns)
	}
	var list []Figure
	for i, line := range strings.Split(strings.TrimSuffix(rest, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != 9 {
			return nil, fmt.Errorf("line %d: has %d cells, expected 9", i+2, len(cells))
		}
		f := Figure{
			Document: cells[0], Table: cells[1], Experiment: cells[2], System: cells[3], Parameters: make(map[string]string),
			Metric: cells[5], Text: cells[6], Unit: cells[7], Note: cells[8],
		}
		var err error
		if f.Value, err = strconv.ParseFloat(f.Text, 64); err != nil {
			return nil, fmt.Errorf("line %d: %q is not a number", i+2, f.Text)
		}
		for _, p := range strings.Split(cells[4], ";") {
			if p == "" {
				continue
			}
			name, value, ok := strings.Cut(p, "=")
			if !ok {
				return nil, fmt.Errorf("line %d: parameter %q has no value", i+2, p)
			}
			f.Parameters[name] = value
		}
		list = append(list, f)
	}
	return list, nil
}

// Figures lists the figures of an experiment in a document.
func Figures(document, experiment string) []Figure {
	var list []Figure
	for _, f := range All() {
		if f.Document == document && f.Experiment == experiment {
			list = append(list, f)
		}
	}
	return list
}

// Doubt returns the doubt about a cell from its note; empty: no doubt.
func (f *Figure) Doubt() string {
	for _, word := range []string{"doubtful", "contradiction"} {
		if at := strings.Index(f.Note, word); at >= 0 {
			return f.Note[at:]
		}
	}
	return ""
}

// other introduces the authors' separately published number in notes.
var other = regexp.MustCompile(`raw data published by the authors (?:has|give) ([0-9.]+)`)

// Raw returns the number that the authors published elsewhere for a doubtful cell, as written;
// empty: none.
func (f *Figure) Raw() string {
	if m := other.FindStringSubmatch(f.Note); m != nil {
		return strings.TrimSuffix(m[1], ".")
	}
	return ""
}

// Best returns the number for computations: for a doubtful cell the authors' separately published
// number if there is one, otherwise the printed one.
func (f *Figure) Best() float64 {
	if v, err := strconv.ParseFloat(f.Raw(), 64); err == nil {
		return v
	}
	return f.Value
}
