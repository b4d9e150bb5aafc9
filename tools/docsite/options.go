package docsite

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// driverPages is the folder with a page for each driver, NAME.md.
const driverPages = "docs/drivers"

// connectionPage is the page that explains the options for connecting to servers.
const connectionPage = "docs/own-server.md"

// options returns the Markdown that the site appends to the page of a driver, its options and its
// profiles, and to connectionPage. It returns an empty text for any other page.
func options(source string, drivers []driver.Driver) string {
	if source == connectionPage {
		var text strings.Builder
		text.WriteString("\n## Connection options\n")
		optionTable(&text, "option", connection.Usual())
		return text.String()
	}
	i := slices.IndexFunc(drivers, func(d driver.Driver) bool { return source == path.Join(driverPages, d.Name+".md") })
	if i < 0 || len(drivers[i].Options) == 0 {
		return ""
	}
	d := drivers[i]
	var text strings.Builder
	text.WriteString("\n## Options\n")
	usual, own := connection.Split(d.Options)
	if len(own) > 0 {
		optionTable(&text, "option", own)
	}
	if len(usual) > 0 {
		text.WriteString("\n| [connection option](../own-server.md#connection-options) | default |\n|---|---|\n")
		for _, o := range usual {
			fmt.Fprintf(&text, "| `%s` | %s |\n", o.Name, cell(shownDefault(&o)))
		}
	}
	profiles(&text, "profile", d.Profiles)
	profiles(&text, "durability", d.Durabilities)
	return text.String()
}

// optionTable writes a table of options.
func optionTable(text *strings.Builder, title string, list []driver.Option) {
	fmt.Fprintf(text, "\n| %s | default | values | meaning |\n|---|---|---|---|\n", title)
	for _, o := range list {
		values := o.Type.String()
		if words := o.Type.Words(); len(words) > 0 {
			values = "`" + strings.Join(words, "`, `") + "`"
		}
		fmt.Fprintf(text, "| `%s` | %s | %s | %s |\n", o.Name, cell(shownDefault(&o)), cell(values), cell(o.Help))
	}
}

// shownDefault returns the default of an option as Markdown.
func shownDefault(o *driver.Option) string {
	if o.Default != "" {
		return "`" + o.Default + "`"
	}
	return o.DefaultText()
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
