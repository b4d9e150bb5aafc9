package write

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/suggest"
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
		return "", fmt.Errorf("there is no report format %q%s", name, suggest.Names(name, Formats()))
	}
	return Format(name), nil
}

// Options is how to render. The zero value suits a file.
type Options struct {
	Color bool // Text only: mark with ANSI colours
	// Width is the columns that Text may use. Less important columns of
	// tables are left out until they fit. 0: 110.
	Width int
	// Verbose makes Text show the tables that Markdown and HTML have, too: each target's own
	// tables if targets are compared, the resources, the host, and the origin of the
	// figures.
	Verbose bool
	// URL is HTML's own address, if it is known: services that show links fetch the
	// preview beside it. See PreviewOf and Report.WritePreview.
	URL string
	// Links are HTML's way to other pages that belong to it, before its own contents.
	Links []Link
}

// Link leads to another page.
type Link struct{ Text, Address string }

// UnknownFormat is the error of a format that does not exist, or that is not
// for this: sweeps, comparisons and matrices are not drawn.
func UnknownFormat(format Format, what string) error {
	if format == SVG || format == PNG {
		return fmt.Errorf("%s are not drawn as %s; tsmark report RUN --format %s draws a run, and html is for all", what, format, format)
	}
	return fmt.Errorf("there is no report format %q; known: %s", format, strings.Join(Formats(), ", "))
}

// WriteJSON writes a value as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// FormatOf returns the format that the extension of a file implies, or otherwise if it implies
// none.
func FormatOf(file, otherwise string) string {
	name := strings.TrimPrefix(filepath.Ext(file), ".")
	switch name {
	case "htm":
		name = string(HTML)
	case "md":
		name = string(Markdown)
	}
	if slices.Contains(Formats(), name) {
		return name
	}
	return otherwise
}
