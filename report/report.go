// Package report renders runs for people and for other programs.
//
// Text, Markdown and HTML show the same tables; a withheld figure
// appears in none of them, nor in the CSV. JSON has the runs as they were
// recorded, and the valid figures.
package report

import (
	"fmt"
	"io"

	"github.com/tsmark/tsmark/report/figure"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// Report is a report on runs, in the order of display. Its formats share the
// estimates and comparisons, which are made once, when the first format needs
// them. So it is not safe for concurrent use.
type Report struct {
	runs   []*result.Run
	Groups []rank.Group  // the targets of all runs, by dataset
	own    []*rank.Group // those of each run by itself
}

// New returns the report of runs.
func New(runs ...*result.Run) *Report {
	p := &Report{runs: runs, Groups: rank.Groups(runs)}
	for _, r := range runs {
		own := rank.NewGroup(r)
		if len(runs) == 1 {
			own = &p.Groups[0]
		}
		p.own = append(p.own, own)
	}
	return p
}

// Write renders the runs in the given order. Its errors are those of w, and
// formats that do not exist.
func Write(w io.Writer, format write.Format, runs []*result.Run, opts write.Options) error {
	return New(runs...).Write(w, format, opts)
}

// Answers are the sentences at the head of the report: which target was faster, and what limits that.
func (p *Report) Answers() (all []string) {
	for i := range p.Groups {
		all = append(all, answers(&p.Groups[i])...)
	}
	return all
}

// WriteCSV writes the figures of the runs as CSV.
func (p *Report) WriteCSV(w io.Writer) error { return figure.WriteCSV(w, p.runs, p.own) }

// WriteParquet writes the figures of WriteCSV as a Parquet file.
func (p *Report) WriteParquet(w io.Writer) error { return figure.WriteParquet(w, p.runs, p.own) }

// Write renders the report. Its errors are those of w, and formats that do not
// exist.
func (p *Report) Write(w io.Writer, format write.Format, opts write.Options) error {
	var err error
	switch format {
	case write.Text:
		err = write.WriteText(w, p.document(write.Everything), opts)
	case write.Markdown:
		err = write.WriteMarkdown(w, p.document(write.Everything))
	case write.CSV:
		err = p.WriteCSV(w)
	case write.JSON:
		err = p.writeJSON(w)
	case write.HTML:
		err = write.WriteHTML(w, p.document(write.Everything), opts)
	case write.SVG, write.PNG:
		err = p.writePicture(w, format)
	default:
		return write.UnknownFormat(format, "runs")
	}
	if err != nil {
		return fmt.Errorf("writing the %s report: %w", format, err)
	}
	return nil
}
