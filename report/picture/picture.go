// Package picture draws the headline of runs and its chart as one image, SVG or PNG.
package picture

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/runchart"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// report draws all of a report, or its preview.
func (p *picture) report(groups []rank.Group, runs []*result.Run, preview bool) {
	for i := range groups {
		g := &groups[i]
		h := rank.NewHeadline(g)
		p.headline(h, g.Names(runs))
		for _, r := range runs {
			if result.SameDataset(g.Dataset, &r.Dataset) {
				p.alerts(r)
			}
		}
		drawing := runchart.Relative(g, h, chart.NewLegend(g.Labels()))
		if preview && drawing != nil {
			drawing.Rows = slices.DeleteFunc(drawing.Rows, func(r chart.Row) bool { return !r.Overall })
		}
		p.chart(drawing)
	}
	p.foot(runs)
}

// Lengths are in points; 72 points are 96 pixels.
const (
	pictureWidth  vg.Length = 900 // 1,200 pixels, as wide as pages show previews
	pictureMargin vg.Length = 36
	pictureDPI              = 144
	// previewShape is the width of previews by their height: 1,200 to 630 pixels.
	previewShape = 1200.0 / 630

	labelWidth  vg.Length = 190
	valuesWidth vg.Length = 250
	rowHeight   vg.Length = 17
	barHeight   vg.Length = 10
)

// picture is a canvas that is filled from the top down.
type picture struct {
	canvas vg.Canvas
	fonts  pictureFaces
	height vg.Length
	left   vg.Length // of where things go
	y      vg.Length // from the top: where the next thing goes
}

var (
	paper   = color.RGBA{255, 255, 255, 255}
	ink     = color.RGBA{27, 31, 36, 255}
	soft    = color.RGBA{87, 96, 106, 255}
	rule    = color.RGBA{217, 221, 226, 255}
	warning = color.RGBA{163, 59, 0, 255}
	good    = color.RGBA{0, 102, 74, 255}
)

// SeriesColor returns the color that the style sheet of pages gives a class.
func SeriesColor(class string) (c color.RGBA) {
	c.A = 255
	fmt.Sscanf(write.StyleColor(class), "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}

// pictureFaces are the fonts that come with tsmark.
type pictureFaces struct{ regular, bold *opentype.Font }

func readFaces() (faces pictureFaces, err error) {
	if faces.regular, err = opentype.Parse(liberationsansregular.TTF); err != nil {
		return faces, fmt.Errorf("reading the font: %w", err)
	}
	if faces.bold, err = opentype.Parse(liberationsansbold.TTF); err != nil {
		return faces, fmt.Errorf("reading the bold font: %w", err)
	}
	return faces, nil
}

// writing is the style of a text.
type writing struct {
	size  vg.Length
	bold  bool
	color color.Color
}

// disturbed removes the signs of disturbed figures: the alerts above the chart count these figures, and
// the page of the run marks each.
var disturbed = strings.NewReplacer(format.UnitSpace, " ", " Disturbed figures are marked "+rank.NoisyMark+".", "", rank.NoisyMark, "", rank.BoundMark, "")

func (p *picture) face(how writing) *font.Face {
	face := &font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: how.size}, Face: p.fonts.regular}
	if how.bold {
		face.Face, face.Font.Weight = p.fonts.bold, 2 // of x/image's scale: bold
	}
	return face
}

// text writes on a line whose base is so far from the top, and returns where the
// text ends.
func (p *picture) text(x, base vg.Length, how writing, text string) vg.Length {
	text = printable.Line(disturbed.Replace(text))
	face := p.face(how)
	p.canvas.SetColor(how.color)
	p.canvas.FillString(*face, vg.Point{X: p.left + x, Y: p.height - base}, text)
	return x + face.Width(text)
}

// fitting returns the part of a text that fits, with an ellipsis if it was
// shortened.
func (p *picture) fitting(room vg.Length, how writing, text string) string {
	face, runes := p.face(how), []rune(text)
	for len(runes) > 1 && face.Width(text) > room {
		runes = runes[:len(runes)-1]
		text = string(runes) + "…"
	}
	return text
}

// paragraph writes lines of the picture's width from y on.
func (p *picture) paragraph(how writing, text string) {
	face, line := p.face(how), ""
	text = disturbed.Replace(text)
	flush := func() {
		p.y += how.size * 1.28
		p.text(pictureMargin, p.y-how.size*0.26, how, line)
	}
	for _, word := range strings.Fields(text) {
		longer := format.Join(" ", line, word)
		if line != "" && face.Width(longer) > pictureWidth-2*pictureMargin {
			flush()
			longer = word
		}
		line = longer
	}
	flush()
}

// box fills a rectangle, given its upper left corner.
func (p *picture) box(x, y, width, height vg.Length, c color.Color) {
	p.canvas.SetColor(c)
	p.canvas.Fill(vg.Rectangle{Min: vg.Point{X: p.left + x, Y: p.height - y - height}, Max: vg.Point{X: p.left + x + width, Y: p.height - y}}.Path())
}

// toneColor returns the colour of a tone.
func toneColor(t format.Tone, otherwise color.Color) color.Color {
	switch t {
	case format.ToneBest:
		return good
	case format.ToneBad:
		return warning
	case format.ToneDim:
		return soft
	}
	return otherwise
}

func (p *picture) headline(h *doc.Headline, runs string) {
	p.y += pictureMargin
	p.paragraph(writing{10, false, soft}, "tsmark · run "+runs)
	p.y += 4
	if h == nil {
		p.paragraph(writing{20, true, ink}, "nothing was measured")
		return
	}
	for i, a := range h.Answers {
		size := vg.Length(26)
		if i > 0 {
			size = 15
		}
		p.paragraph(writing{size, true, toneColor(a.Tone, ink)}, a.Text)
		p.y += 2
	}
	p.y += 6
	p.paragraph(writing{12, false, soft}, strings.Join(h.Basis, " · "))
	if h.Noise.Text != "" {
		p.paragraph(writing{12, h.Noise.Tone == format.ToneBad, toneColor(h.Noise.Tone, soft)}, h.Noise.Text)
	}
}

func (p *picture) alerts(r *result.Run) {
	for _, a := range facts.Alerts(r) {
		p.paragraph(writing{10, false, toneColor(a.Tone, soft)}, a.Text)
	}
}

// chart draws the ratios; nil draws nothing.
func (p *picture) chart(chart *chart.Rows) {
	if chart == nil {
		return
	}
	const left = pictureMargin + labelWidth
	const width = pictureWidth - left - pictureMargin - valuesWidth
	p.y += 26
	small := writing{9, false, soft}
	p.text(pictureMargin, p.y-5, small, "times the fastest: shorter is better")
	top, height := p.y, vg.Length(0)
	for i := range chart.Rows {
		height += vg.Length(len(chart.Rows[i].Tracks))*rowHeight + 9
	}
	for _, t := range chart.Ticks {
		x := left + vg.Length(t.At)*width
		p.box(x, top, 0.7, height, rule)
		p.text(x-p.face(small).Width(t.Label)/2, top-5, small, t.Label)
	}
	for i := range chart.Rows {
		r := &chart.Rows[i]
		p.box(pictureMargin, p.y, pictureWidth-2*pictureMargin, 0.7, rule)
		p.y += 5
		p.text(pictureMargin, p.y+12, writing{11, true, ink}, p.fitting(labelWidth-8, writing{11, true, ink}, r.Label))
		if r.Overall && len(r.Tracks) > 1 {
			what, _, _ := strings.Cut(r.Help, ";")
			p.text(pictureMargin, p.y+25, small, p.fitting(labelWidth-8, small, what))
		}
		for n := range r.Tracks {
			p.drawTrack(&r.Tracks[n], left, width)
			p.y += rowHeight
		}
		p.y += 4
	}
}

// drawTrack draws a bar, its interval and its figures.
func (p *picture) drawTrack(l *chart.Track, left, width vg.Length) {
	base := p.y + barHeight + 1
	if l.Drawn {
		c := SeriesColor(l.Style.Class)
		if l.Pale { // paler
			for _, v := range []*uint8{&c.R, &c.G, &c.B} {
				*v = uint8(255 - (255-int(*v))*2/5)
			}
		}
		p.box(left-2, p.y+2, vg.Length(l.Bar)*width+2, barHeight, c)
		for _, s := range l.Strokes {
			p.box(left+vg.Length(s.From)*width, p.y+2+barHeight/2-0.5, vg.Length(s.To-s.From)*width, 1, ink)
		}
	}
	x := pictureWidth - pictureMargin - valuesWidth + 12
	p.box(x, p.y+3, 8, 8, SeriesColor(l.Style.Class))
	figures := l.Text + "  " + l.Beside
	name := p.fitting(valuesWidth-30-p.face(writing{10.5, true, ink}).Width(figures), writing{10.5, true, ink}, l.Style.Label)
	x = p.text(x+13, base, writing{10.5, true, ink}, name+" ")
	x = p.text(x+2, base, writing{10.5, l.Tone == format.ToneBest, toneColor(l.Tone, ink)}, l.Text)
	if l.Beside != "" {
		p.text(x+4, base, writing{9, false, soft}, l.Beside)
	}
}

// foot explains the picture's marks, and names its source.
func (p *picture) foot(runs []*result.Run) {
	p.y += 12
	p.paragraph(writing{9, false, soft}, "Only verified answers are compared. Pale bars and ~: not shown to differ from the fastest. Lines on bars: intervals of the ratios. "+
		rank.StandInMark+" a stand-in, not a server of the system. "+rank.CoversNote)
	for _, r := range runs {
		p.paragraph(writing{9, false, soft}, "tsmark "+r.Tool.String()+"; "+format.Time(r.Started)+"; "+facts.Command(r))
	}
}

// Draw writes the headlines and ratios of groups as SVG or PNG, or with fewer ratios as the
// preview of a page.
func Draw(w io.Writer, format write.Format, groups []rank.Group, runs []*result.Run, preview bool) error {
	fonts, err := readFaces()
	if err != nil {
		return err
	}
	d := &picture{canvas: vg.MultiCanvas(), fonts: fonts} // how high it becomes
	d.report(groups, runs, preview)
	width, height := pictureWidth, d.y+pictureMargin
	if preview {
		width, height = max(width, height*previewShape), max(height, width/previewShape)
	}
	var canvas vg.CanvasWriterTo = vgsvg.New(width, height)
	if format == write.PNG {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pictureDPI))}
	}
	d = &picture{canvas: canvas, fonts: fonts, height: height}
	d.box(0, 0, width, height, paper)
	d.left = (width - pictureWidth) / 2
	d.report(groups, runs, preview)
	if format == write.SVG {
		var drawn bytes.Buffer
		if _, err := canvas.WriteTo(&drawn); err != nil {
			return err
		}
		// Other machines lack Liberation Sans, but have fonts of the same width.
		_, err = w.Write(bytes.ReplaceAll(drawn.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")))
		return err
	}
	_, err = canvas.WriteTo(w)
	return err
}
