package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func modulesWith(version string) []*debug.Module {
	return []*debug.Module{{Path: "example.org/a", Version: "v1.0.0"}, {Path: bindings, Version: version}}
}

// The list is of the version in go.mod: a change of that requires a review of the licences.
func TestBundledVersion(t *testing.T) {
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(bindings) + ` (\S+)`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("go.mod has no %s", bindings)
	}
	if _, err := bundledParts(modulesWith(string(found[1]))); err != nil {
		t.Error(err)
	}
	_, err = bundledParts(modulesWith("v0.3.6"))
	for _, want := range []string{"v0.3.6", bindingsVersion, "third_party", "tools/release/notice/duckdb.go"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("another version: %v does not say %s", err, want)
		}
	}
	if parts, err := bundledParts(modulesWith("v1.0.0")[:1]); err != nil || parts != nil {
		t.Errorf("a program without DuckDB: %v, %v", parts, err)
	}
}

// Each part has its licence and each licence its part, and all libraries linked on some
// platform are known.
func TestBundled(t *testing.T) {
	parts, err := bundledParts(modulesWith(bindingsVersion))
	if err != nil {
		t.Fatal(err)
	}
	text, err := compose("example.org/program", parts)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{": re2 (BSD-3-Clause, © 2009 The RE2 Authors)", ": mbedtls (Apache-2.0 OR", ": utf8proc (", ": fmt (MIT", ": zstd (", ": libpg_query (",
		"Copyright (c) 2009 The RE2 Authors", "Copyright (c) 2012 - present, Victor Zverovich", "PostgreSQL Global Development Group", "2015 Jeff Preshing"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the notice", want)
		}
	}
	folders, err := fs.ReadDir(duckdbFiles, "duckdb")
	if err != nil {
		t.Fatal(err)
	}
	var have, want []string
	for _, f := range folders {
		have = append(have, f.Name())
	}
	libraries := ownLibraries()
	for _, b := range bundles() {
		want, libraries = append(want, b.name), append(libraries, b.library)
	}
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("there are licences of %v, and parts %v", have, want)
	}
	linked := linkedLibraries(t)
	if len(linked) < 20 {
		t.Fatalf("only %v are linked in", linked)
	}
	for _, name := range linked {
		if !slices.Contains(libraries, name) {
			t.Errorf("the library %s is linked in, and no part is said to be in it", name)
		}
	}
}

// linkedLibraries are those of DuckDB that are linked in on Linux and macOS.
func linkedLibraries(t *testing.T) (names []string) {
	t.Helper()
	var platforms []*debug.Module
	for _, name := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"} {
		platforms = append(platforms, &debug.Module{Path: bindings + "/lib/" + name, Version: bindingsVersion})
	}
	parts, err := folders(platforms)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		found, err := fs.Glob(p.files, "lib*.a")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(file, "lib"), ".a"))
		}
	}
	return names
}

// The bundle of DuckDB is a component of the program's, which contains others.
func TestSBOM(t *testing.T) {
	out, err := withDuckDB([]byte(`{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"name":"example.org/a","type":"library","x":{"y":1.50}}],"dependencies":[{"ref":"a"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Spec         string `json:"specVersion"`
		Components   []component
		Dependencies []struct{ Ref string }
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Spec != "1.6" || len(doc.Components) != 2 || len(doc.Dependencies) != 1 || !strings.Contains(string(out), `"y": 1.50`) {
		t.Fatalf("%s", out)
	}
	duck := doc.Components[1]
	if duck.Name != "duckdb" || duck.Version != duckdbVersion || len(duck.Components) != len(bundles())-1 {
		t.Errorf("%+v", duck)
	}
	refs := map[string]bool{}
	for _, c := range append(duck.Components, duck) {
		if refs[c.Ref] || len(c.Licenses) != 1 || c.Licenses[0] == (licensed{}) {
			t.Errorf("%+v", c)
		}
		refs[c.Ref] = true
		switch c.Name {
		case "re2":
			if c.Licenses[0].License.ID != "BSD-3-Clause" {
				t.Errorf("%+v", c)
			}
		case "mbedtls":
			if c.Licenses[0].Expression != "Apache-2.0 OR GPL-2.0-or-later" {
				t.Errorf("%+v", c)
			}
		case "tpch-dbgen":
			if c.Licenses[0].License.Name != "TPC-EULA-2.2" || c.Licenses[0].License.ID != "" {
				t.Errorf("%+v", c)
			}
		}
	}
	for _, bad := range []string{"", "{}", `{"bomFormat":"SPDX","components":[]}`} {
		if _, err := withDuckDB([]byte(bad)); err == nil {
			t.Errorf("%q was taken for an SBOM", bad)
		}
	}
}
