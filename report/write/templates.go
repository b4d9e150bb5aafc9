package write

import (
	"embed"
	"html/template"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
)

// Templates reads a page with the parts that all pages share.
func Templates(name string) (*template.Template, error) {
	return template.New(name).Funcs(template.FuncMap{
		"count":   format.Count,
		"size":    format.Size,
		"percent": format.CSSPercent, // of a share
		"odd":     func(n int) bool { return n%2 == 1 },
		// A remark spans all columns but the first.
		"spanned": func(columns []doc.Column) int { return len(columns) - 1 },
	}).ParseFS(PageFiles, name, "parts.html", "style.css")
}

//go:embed page.html verification.html sweep.html compare.html reproduction.html live.html live.js parts.html style.css
var PageFiles embed.FS
