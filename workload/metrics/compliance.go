package metrics

import (
	_ "embed"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// complianceText lists patterns of queries that cover PromQL: see its first lines.
//
//go:embed compliance.txt
var complianceText string

// Windows of compliance queries, as of prometheus/compliance.
const (
	complianceWindow = 10 * time.Minute
	complianceStep   = 10 * time.Second
	compliancePrefix = "compliance-"
)

// complianceTypes returns a query type for each group of patterns. Query i of a type is expression i
// of the group, and the group begins again behind the last one.
func complianceTypes() []queryType {
	var types []queryType
	values := map[string][]string{}
	inValues := false
	for line := range strings.Lines(complianceText) {
		text := strings.TrimSpace(line)
		name, help, _ := strings.Cut(text, ": ")
		switch {
		case text == "" || text[0] == '#':
		case text == "values":
			inValues = true
		case line[0] != ' ':
			inValues = false
			types = append(types, queryType{name: compliancePrefix + name, help: help, compliance: true})
		case inValues:
			list := strings.Fields(text)
			values[list[0]] = list[1:]
		default:
			t := &types[len(types)-1]
			t.expressions = append(t.expressions, variants(text, values)...)
		}
	}
	for i := range types {
		t := &types[i]
		t.expression = func(d *draw) query.PromQL {
			return query.PromQL{Expr: t.expressions[d.id%len(t.expressions)]}
		}
		t.help += ", " + plural(len(t.expressions))
	}
	return types
}

// variants returns a pattern's expressions: all combinations of the values of its names.
func variants(pattern string, values map[string][]string) []string {
	var names []string
	os.Expand(pattern, func(name string) string {
		if values[name] != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return ""
	})
	list := []string{pattern}
	for _, name := range names {
		var more []string
		for _, text := range list {
			for _, value := range values[name] {
				more = append(more, os.Expand(text, func(other string) string {
					switch {
					case other == name:
						return value
					case values[other] == nil: // such as $1
						return "$" + other
					}
					return "${" + other + "}"
				}))
			}
		}
		list = more
	}
	return list
}
