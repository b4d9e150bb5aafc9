package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// component is one of CycloneDX's.
type component struct {
	Type       string      `json:"type"`
	Ref        string      `json:"bom-ref"`
	Name       string      `json:"name"`
	Version    string      `json:"version,omitempty"` // empty: not known
	Copyright  string      `json:"copyright,omitempty"`
	Licenses   []licensed  `json:"licenses"`
	Components []component `json:"components,omitempty"` // that it holds
}

// licensed is a licence by its identifier or its name, or an expression of several.
type licensed struct {
	License    *named `json:"license,omitempty"`
	Expression string `json:"expression,omitempty"`
}

type named struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// licensedAs returns a bundle's licence.
func licensedAs(b bundle) []licensed {
	switch name, own := strings.CutPrefix(b.licence, "LicenseRef-"); {
	case own:
		return []licensed{{License: &named{Name: name}}}
	case strings.Contains(b.licence, " "):
		return []licensed{{Expression: b.licence}}
	}
	return []licensed{{License: &named{ID: b.licence}}}
}

// complete adds the parts of DuckDB to a program's SBOM, a file of CycloneDX.
func complete(file, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("reading what %s is built of: %w", program, err)
	}
	has, err := hasDuckDB(info.Deps)
	if err != nil || !has {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if data, err = withDuckDB(data); err != nil {
		return fmt.Errorf("adding what DuckDB bundles to %s: %w", file, err)
	}
	return os.WriteFile(file, data, 0o666)
}

// withDuckDB adds DuckDB and its parts to a document of CycloneDX, and leaves the rest as
// it is.
func withDuckDB(document []byte) ([]byte, error) {
	var all []component
	for _, b := range bundles() {
		c := component{Type: "library", Ref: "duckdb@" + duckdbVersion, Name: b.name, Copyright: b.copyright, Licenses: licensedAs(b)}
		if b.name == "duckdb" {
			c.Version = duckdbVersion
		} else {
			c.Ref += "/" + b.name
		}
		all = append(all, c)
	}
	whole := all[0]
	whole.Components = all[1:]
	// Fields keep their order in a list of pairs only; that of the document has no meaning.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(document, &fields); err != nil {
		return nil, err
	}
	var components []json.RawMessage
	if err := json.Unmarshal(fields["components"], &components); err != nil || string(fields["bomFormat"]) != `"CycloneDX"` {
		return nil, errors.New("it is not a CycloneDX list of components")
	}
	added, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	if fields["components"], err = json.Marshal(append(components, added)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(fields)
	return out.Bytes(), err
}
