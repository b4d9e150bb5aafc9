package docsite

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
)

// driverPages is the folder with a page for each driver, NAME.md.
const driverPages = "docs/drivers"

// options returns the Markdown that the site appends to the page of a driver: its options and
// its profiles. It returns an empty text for any other page.
func options(source string, drivers []driver.Driver) string {
	i := slices.IndexFunc(drivers, func(d driver.Driver) bool { return source == path.Join(driverPages, d.Name+".md") })
	if i < 0 || len(drivers[i].Options) == 0 {
		return ""
	}
	d := drivers[i]
	var text strings.Builder
	text.WriteString("\n## Options\n")
	optionTable(&text, "option", d.Options)
	profiles(&text, "profile", d.Profiles)
	profiles(&text, "durability", d.Durabilities)
	return text.String()
}

// optionTable writes a table of options.
func optionTable(text *strings.Builder, title string, list []driver.Option) {
	fmt.Fprintf(text, "\n| %s | default | values | meaning |\n|---|---|---|---|\n", title)
	for _, o := range list {
		shown := o.DefaultText()
		if o.Default != "" {
			shown = "`" + shown + "`"
		}
		values := o.Type.String()
		if words := o.Type.Words(); len(words) > 0 {
			values = "`" + strings.Join(words, "`, `") + "`"
		}
		fmt.Fprintf(text, "| `%s` | %s | %s | %s |\n", o.Name, cell(shown), cell(values), cell(o.Help))
	}
}

// profiles writes a table of sets of options.
func profiles(text *strings.Builder, title string, list []driver.Profile) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(text, "\n| %s | options | meaning |\n|---|---|---|\n", title)
	for _, p := range list {
		var set []string
		for name, value := range p.Options {
			if value != "" { // else the server's own
				set = append(set, "`"+name+"="+value+"`")
			}
		}
		slices.Sort(set)
		fmt.Fprintf(text, "| `%s` | %s | %s |\n", p.Name, cell(strings.Join(set, ", ")), cell(p.Help))
	}
}

// cell escapes a text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}
