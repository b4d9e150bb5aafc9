package report_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/picture"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/runchart"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// The picture matches the headline and the chart.
func TestPicture(t *testing.T) {
	run := agreeing(t, 6)
	svg := textOf(t, render(t, write.SVG, write.Options{}, run))
	g := rank.NewGroup(run)
	h := rank.NewHeadline(g)
	said := []string{h.Answers[0].Text, h.Answers[1].Text, "~1.00×", "geometric mean of 5 query types", "Pale bars"}
	for _, r := range runchart.Relative(g, h, chart.NewLegend(g.Labels())).Rows {
		for _, l := range r.Tracks {
			said = append(said, strings.ReplaceAll(l.Text, format.UnitSpace, " "), strings.ReplaceAll(l.Beside, format.UnitSpace, " "))
		}
	}
	for _, text := range said {
		if !strings.Contains(svg, strings.ReplaceAll(text, format.UnitSpace, " ")) {
			t.Errorf("the drawing lacks %q", text)
		}
	}
	image, err := png.Decode(strings.NewReader(render(t, write.PNG, write.Options{}, run)))
	if err != nil {
		t.Fatal(err)
	}
	if size := image.Bounds().Size(); size.X != 1800 || size.Y < 900 {
		t.Errorf("the image has %v pixels", size)
	}
	// Each target has a color of its own, which is dark enough for a bar on paper.
	seen := map[color.RGBA]string{}
	for _, style := range chart.NewLegend(make([]string, 12)) {
		c := picture.SeriesColor(style.Class)
		if other := seen[c]; other != "" || int(c.R)+int(c.G)+int(c.B) > 600 {
			t.Errorf("class %s has the color %v; class %q has it too, or it is hardly seen", style.Class, c, other)
		}
		seen[c] = style.Class
	}
	if out := render(t, write.SVG, write.Options{}, &result.Run{ID: "a"}); !strings.Contains(out, "nothing was measured") {
		t.Errorf("of nothing: %s", out)
	}
	run.Targets[0].Name, run.Name = "</text><script>a\x1b[2J\x00", `"><x onload="`
	textOf(t, render(t, write.SVG, write.Options{}, run))
}

// textOf returns the text of a drawing, which has no other elements than a drawing
// of tsmark's.
func textOf(t *testing.T, svg string) string {
	t.Helper()
	var lines []string
	for parts := xml.NewDecoder(strings.NewReader(svg)); ; {
		part, err := parts.Token()
		if err == io.EOF {
			return strings.Join(lines, " ")
		}
		if err != nil {
			t.Fatalf("the drawing is no XML: %v", err)
		}
		switch part := part.(type) {
		case xml.StartElement:
			if !slices.Contains([]string{"svg", "g", "path", "text"}, part.Name.Local) {
				t.Errorf("an element %s", part.Name.Local)
			}
		case xml.CharData:
			if line := strings.TrimSpace(string(part)); line != "" {
				lines = append(lines, line)
			}
		}
	}
}

// A preview has the shape that services show, whatever has to stand in it, and
// the caveats.
func TestPreview(t *testing.T) {
	run := agreeing(t, 6)
	for alerts := range 3 {
		for n := range 12 * alerts {
			run.OtherDatabases = append(run.OtherDatabases, result.OtherDatabase{Name: fmt.Sprint("Database ", alerts, n), PID: n})
		}
		var b bytes.Buffer
		if err := report.New(run).WritePreview(&b); err != nil {
			t.Fatal(err)
		}
		image, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		size := image.Bounds().Size()
		if shape := float64(size.X) / float64(size.Y); size.X < 1800 || shape < 1.89 || shape > 1.92 {
			t.Errorf("with %d alerts the preview has %v pixels", 12*alerts, size)
		}
	}
	if err := report.New(run).WritePreview(full{}); err == nil || !strings.HasPrefix(err.Error(), "writing the preview: ") {
		t.Errorf("a full disk: %v", err)
	}
}
