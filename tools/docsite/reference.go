package docsite

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/run/iotdbconfig"
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
		return types.markdown("result.Run"), nil
	case "docs/iotdb-config.md":
		return parameters(iotdbconfig.Parameters()), nil
	}
	return options(source, s.drivers), nil
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
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(p.Name), code(p.Default), p.Fate, code(p.Becomes), p.Why)
	}
	return b.String()
}
