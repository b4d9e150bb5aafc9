package docsite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/figure"
	"github.com/tsmark/tsmark/run/iotdbconfig"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/metrics"
	"github.com/tsmark/tsmark/workload/ticks"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// reference returns the Markdown that the site appends to a page of the reference; an empty text
// for any other page.
func (s *site) reference(source string) (string, error) {
	switch source {
	case "docs/results.md":
		types, err := readTypes(s.repository)
		if err != nil {
			return "", err
		}
		return types.markdown("result.Run") + csvColumns(), nil
	case "docs/iotdb-config.md":
		return parameters(iotdbconfig.Parameters()), nil
	case "docs/iotdb.md":
		var b strings.Builder
		optionTable(&b, "`--iotdb`", iotdb.Workload().Settings())
		optionTable(&b, "`--iotdb-queries`", iotdb.Workload().QuerySettings())
		return b.String(), nil
	case "docs/metrics.md":
		var b strings.Builder
		optionTable(&b, "`--metrics`", metrics.Workload().Settings())
		return b.String(), nil
	case "docs/ticks.md":
		var b strings.Builder
		optionTable(&b, "`--ticks`", ticks.Workload().Settings())
		return b.String(), nil
	case "docs/tsbs.md":
		return queryTypes(tsbs.Workloads()), nil
	}
	return options(source, s.drivers), nil
}

// csvColumns returns tables of the columns of tsmark report and tsmark compare as CSV.
func csvColumns() string {
	var b strings.Builder
	head := func(command string) {
		fmt.Fprintf(&b, "\n### CSV of %s\n\n| column | unit | meaning |\n|---|---|---|\n", command)
	}
	row := func(name, unit, meaning string) { fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, unit, cell(meaning)) }
	head("tsmark report")
	for _, c := range slices.Concat(figure.Columns(), figure.EventColumns(), figure.AgentColumns()) {
		row(c.Name, c.Unit, c.Doc)
	}
	head("tsmark compare")
	for _, c := range comparison.Columns() {
		row(c.Name, c.Unit, c.Doc)
	}
	return b.String()
}

// queryTypes returns a table of the query types of workloads, each type once.
func queryTypes(list []workload.Workload) string {
	var b strings.Builder
	b.WriteString("\n| query type | answer |\n|---|---|\n")
	seen := map[string]bool{}
	for _, w := range list {
		for _, q := range w.QueryTypes() {
			if !seen[q.Name] {
				seen[q.Name] = true
				fmt.Fprintf(&b, "| %s | %s |\n", q.Name, cell(q.Help))
			}
		}
	}
	return b.String()
}

// parameters returns a table of the parameters of IoTDB-Benchmark.
func parameters(list []iotdbconfig.Parameter) string {
	var b strings.Builder
	b.WriteString("\n| parameter | default | here | becomes | how, or why not |\n|---|---|---|---|---|\n")
	section := ""
	code := func(text string) string {
		if text == "" {
			return ""
		}
		return "`" + strings.ReplaceAll(text, ", ", "`, `") + "`"
	}
	for _, p := range list {
		if p.Section != section {
			fmt.Fprintf(&b, "| **%s** | | | | |\n", p.Section)
			section = p.Section
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(p.Name), code(p.Default), p.Fate, code(p.Becomes), cell(p.Why))
	}
	return b.String()
}
