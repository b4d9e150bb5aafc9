package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// The schema accepts what Parse reads, and refuses misspelt keys and values of other kinds.
func TestSchema(t *testing.T) {
	text, err := Schema(map[string][]string{"targets[].driver": {"duckdb"}})
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, pattern := range []string{"preset/*.yaml", "../../results/metrics/*.yaml", "../../results/site/runs/*/experiment.yaml"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(data)
		}
	}
	if len(files) < 10 {
		t.Fatalf("%d files", len(files))
	}
	for _, more := range []string{
		"name: 3\ntargets: [{driver: duckdb, options: {threads: 2}}]",
		"workload: {name: iotdb, iotdb: {sensors: 3}, log-interval: 10s}\nqueries: {own: [{name: q, window: 1h, texts: {duckdb: SELECT 1}}]}",
		"matrix: {load.workers: [1, 2]}\nexclude: [{load.workers: 1}]",
		"load:\nqueries: {time-box: 0}",
	} {
		files[more] = more
	}
	for name, data := range files {
		if _, err := Parse("f.yaml", []byte(data)); err != nil && !strings.Contains(name, "/") {
			t.Errorf("%s: %v", name, err)
		}
		if wrong := validate(schema, parseYAML(t, data)); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	for _, wrong := range []string{
		"nmae: a", "load: {wrokers: 2}", "load: {workers: two}", "targets: {driver: duckdb}", "targets: [{driver: duckdb, option: {}}]",
		"workload: {log-interval: 10}", "workload: {scael: 4}", "workload: {scale: -1}", "queries: {types: lastpoint}", "adopt: maybe", "queries: {own: [{nam: q}]}",
	} {
		if _, err := Parse("f.yaml", []byte(wrong)); err == nil {
			t.Errorf("%s: Parse reads it", wrong)
		}
		if validate(schema, parseYAML(t, wrong)) == "" {
			t.Errorf("%s: the schema accepts it", wrong)
		}
	}
}

func parseYAML(t *testing.T, text string) (value any) {
	if err := yaml.NewDecoder(bytes.NewReader([]byte(text))).Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	value = nil
	if err := json.Unmarshal(encoded, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// validate returns the first difference of a value from a schema of the few keywords that Schema uses.
func validate(schema map[string]any, value any) string {
	if list, ok := schema["anyOf"].([]any); ok {
		for _, s := range list {
			if validate(s.(map[string]any), value) == "" {
				return ""
			}
		}
		return fmt.Sprintf("%v matches no schema of %v", value, list)
	}
	if values, ok := schema["enum"].([]any); ok {
		if !slices.Contains(values, value) {
			return fmt.Sprintf("%v is not one of %v", value, values)
		}
		return ""
	}
	kind := "null"
	switch v := value.(type) {
	case string:
		kind = "string"
		if p, ok := schema["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			return fmt.Sprintf("%q does not match %s", v, p)
		}
	case bool:
		kind = "boolean"
	case float64:
		if kind = "integer"; v != math.Trunc(v) {
			kind = "number"
		}
		if least, ok := schema["minimum"].(float64); ok && v < least {
			return fmt.Sprintf("%v is less than %v", v, least)
		}
	case []any:
		kind = "array"
	case map[string]any:
		kind = "object"
	}
	types, ok := schema["type"].([]any)
	if !ok {
		types = []any{schema["type"]}
	}
	if !slices.Contains(types, any(kind)) && !(kind == "integer" && slices.Contains(types, any("number"))) {
		return fmt.Sprintf("%v is a %s and not %v", value, kind, types)
	}
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if wrong := validate(schema["items"].(map[string]any), item); wrong != "" {
				return fmt.Sprintf("[%d]: %s", i, wrong)
			}
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for key, item := range v {
			s, ok := properties[key].(map[string]any)
			if !ok {
				if s, ok = schema["additionalProperties"].(map[string]any); !ok && schema["additionalProperties"] != nil {
					return fmt.Sprintf("unknown key %q", key)
				} else if !ok {
					continue
				}
			}
			if wrong := validate(s, item); wrong != "" {
				return key + ": " + wrong
			}
		}
	}
	return ""
}
