// Package report renders runs for people and for other programs.
//
// Text, Markdown and HTML show the same tables; a figure that does not stand
// appears in none of them, nor in the CSV. JSON is the runs as they were
// recorded, and those figures.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/result"
)

// Format is a way to render runs.
type Format string

// The formats.
const (
	Text     Format = "text"     // for a terminal
	Markdown Format = "markdown" // for issues and wikis, as GitHub renders it
	CSV      Format = "csv"      // one line per load and per query type, for spreadsheets
	JSON     Format = "json"     // an array of runs, as recorded, with the figures of tables and charts
	HTML     Format = "html"     // one self-contained page with charts
	SVG      Format = "svg"      // the headline and its chart as a drawing
	PNG      Format = "png"      // the same as an image
)

// Formats lists the names that ParseFormat takes.
func Formats() []string {
	return []string{string(Text), string(Markdown), string(CSV), string(JSON), string(HTML), string(SVG), string(PNG)}
}

// ParseFormat returns the format of that name. Its error offers the closest
// ones.
func ParseFormat(name string) (Format, error) {
	if !slices.Contains(Formats(), name) {
		return "", fmt.Errorf("there is no report format %q%s", name, suggest.Among(name, Formats()))
	}
	return Format(name), nil
}

// Options is how to render. The zero value suits a file.
type Options struct {
	Color bool // Text only: mark with ANSI colours
	// Width is the columns that Text may use. Less important columns of
	// tables are left out until they fit. 0: 110.
	Width int
	// Verbose has Text show also what Markdown and HTML have: each target's own
	// tables where targets are compared, the resources, the host, and where the
	// figures come from.
	Verbose bool
	// URL is HTML's own address, if it is known: services that show links fetch the
	// preview beside it. See PreviewOf and Report.WritePreview.
	URL string
	// Links are HTML's way to other pages that belong to it, before its own contents.
	Links []Link
}

// Link leads to another page.
type Link struct{ Text, Address string }

// Report is runs, in the order in which they are shown. Its formats share the
// estimates and comparisons, which are made once, when the first format needs
// them: so it is not for several goroutines at a time.
type Report struct {
	runs   []*result.Run
	groups []group  // the targets of all runs, by dataset
	own    []*group // those of each run by itself
}

// Of returns the report of runs.
func Of(runs ...*result.Run) *Report {
	p := &Report{runs: runs, groups: groups(runs)}
	for _, r := range runs {
		own := groupOf(r)
		if len(runs) == 1 {
			own = &p.groups[0]
		}
		p.own = append(p.own, own)
	}
	return p
}

// Write renders the runs in the given order. Its errors are those of w, and
// formats that do not exist.
func Write(w io.Writer, format Format, runs []*result.Run, opts Options) error {
	return Of(runs...).Write(w, format, opts)
}

// Write renders the report. Its errors are those of w, and formats that do not
// exist.
func (p *Report) Write(w io.Writer, format Format, opts Options) error {
	var err error
	switch format {
	case Text:
		err = p.writeText(w, opts)
	case Markdown:
		err = p.writeMarkdown(w)
	case CSV:
		err = p.writeCSV(w)
	case JSON:
		err = p.writeJSON(w)
	case HTML:
		err = p.writeHTML(w, Everything, opts)
	case SVG, PNG:
		err = p.writePicture(w, format)
	default:
		return unknownFormat(format, "runs")
	}
	if err != nil {
		return fmt.Errorf("writing the %s report: %w", format, err)
	}
	return nil
}

// unknownFormat is the error of a format that does not exist, or that is not
// for this: sweeps, comparisons and matrices are not drawn.
func unknownFormat(format Format, what string) error {
	if format == SVG || format == PNG {
		return fmt.Errorf("%s are not drawn as %s; tsmark report RUN --format %s draws a run, and html is for all", what, format, format)
	}
	return fmt.Errorf("there is no report format %q; known: %s", format, strings.Join(Formats(), ", "))
}

// writeIndented writes anything as JSON that people can read too.
func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
