package certify

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The colors of a badge.
const (
	green = "#2f7d32"
	red   = "#b3261e"
	grey  = "#555"
)

// badgeLabel is the left part of a badge.
const badgeLabel = "tsmark conformance"

// message is the right part of a badge.
func (r *Report) message() string {
	text := fmt.Sprintf("%d of %d checks · %s", r.Passed, r.Passed+r.Failed, r.system())
	if r.System.StandIn != "" {
		text += " (stand-in)"
	}
	return text
}

func (r *Report) color() string {
	if r.OK() && r.Stopped == "" {
		return green
	}
	return red
}

// BadgeJSON returns the badge as an endpoint of shields.io, which refuses further keys.
func (r *Report) BadgeJSON() ([]byte, error) {
	driver := ""
	if r.Program != "" {
		driver = " · driver " + r.Program
	}
	return json.MarshalIndent(struct {
		SchemaVersion int    `json:"schemaVersion"`
		Label         string `json:"label"`
		Message       string `json:"message"`
		Color         string `json:"color"`
	}{1, badgeLabel, r.message() + driver + " · tsmark " + r.Tsmark.Version + " · " + r.Date.Format(time.DateOnly), r.color()}, "", "  ")
}

// BadgeSVG returns the badge as an image, whose title has the versions and the date.
func (r *Report) BadgeSVG() []byte {
	escape := func(text string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
		return b.String()
	}
	width := func(text string) int { return utf8.RuneCountInString(text)*7 + 12 } // of Verdana 11 px, and the margins
	left, right := width(badgeLabel), width(r.message())
	title := escape(r.Answer() + " " + r.provenance())
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s">
<title>%[2]s</title>
<clipPath id="r"><rect width="%[1]d" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="%[3]d" height="20" fill="%[4]s"/><rect x="%[3]d" width="%[5]d" height="20" fill="%[6]s"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="%[7]d" y="14" textLength="%[8]d">%[9]s</text>
<text x="%[10]d" y="14" textLength="%[11]d">%[12]s</text>
</g>
</svg>
`, left+right, title, left, grey, right, r.color(), left/2, left-12, badgeLabel, left+right/2, right-12, escape(r.message()))
}
