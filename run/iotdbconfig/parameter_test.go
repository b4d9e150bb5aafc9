package iotdbconfig_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/internal/properties"
	"github.com/tsmark/tsmark/run/iotdbconfig"
)

var update = flag.Bool("update", false, "write the table of docs/iotdb-config.md")

// Each parameter of the tool's list is there once, with its default.
func TestParameters(t *testing.T) {
	data, err := os.ReadFile("testdata/parameters.properties")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := properties.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	tool := make(map[string]string)
	for _, e := range entries {
		tool[e.Key] = e.Value
	}
	tool["STEP_SIZE"] = "1" // by its code, where the file names 0
	here := make(map[string]string)
	for _, p := range iotdbconfig.Parameters() {
		if _, twice := here[p.Name]; twice {
			t.Errorf("%s is there twice", p.Name)
		}
		here[p.Name] = p.Default
		if (p.Fate != iotdbconfig.Honoured) && p.Why == "" {
			t.Errorf("%s: %s without a reason", p.Name, p.Fate)
		}
		if (p.Fate == iotdbconfig.Honoured) && p.Becomes == "" {
			t.Errorf("%s is honoured by nothing", p.Name)
		}
		if (p.Fate == iotdbconfig.Ignored || p.Fate == iotdbconfig.Refused) && p.Becomes != "" {
			t.Errorf("%s is %s, and becomes %s", p.Name, p.Fate, p.Becomes)
		}
	}
	if len(tool) != 157 {
		t.Errorf("the tool's list has %d parameters", len(tool))
	}
	if diff := cmp.Diff(tool, here); diff != "" {
		t.Errorf("(-tool +here):\n%s", diff)
	}
}

// The page says what the table says.
func TestPage(t *testing.T) {
	const page, mark = "../../docs/iotdb-config.md", "writes it. -->\n\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	intro, table, ok := strings.Cut(string(data), mark)
	if !ok {
		t.Fatalf("%s has no mark", page)
	}
	want := tables()
	if *update {
		if err := os.WriteFile(page, []byte(intro+mark+want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("%s differs; go test ./run/iotdbconfig -update writes it (-want +got):\n%s", page, diff)
	}
}

// tables writes the parameters as Markdown.
func tables() string {
	var b strings.Builder
	b.WriteString("| parameter | default | here | becomes | how, or why not |\n|---|---|---|---|---|\n")
	section := ""
	code := func(text string) string {
		if text == "" {
			return ""
		}
		return "`" + strings.ReplaceAll(text, ", ", "`, `") + "`"
	}
	for _, p := range iotdbconfig.Parameters() {
		if p.Section != section {
			fmt.Fprintf(&b, "| **%s** | | | | |\n", p.Section)
			section = p.Section
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(p.Name), code(p.Default), p.Fate, code(p.Becomes), p.Why)
	}
	return b.String()
}
