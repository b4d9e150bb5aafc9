package message

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

var update = flag.Bool("update", false, "write the schema of the protocol instead of comparing with it")

const schemaFile = "../../../sdk/protocol.schema.json"

// TestSchema compares the published JSON Schema with the objects that tsmark exchanges. It is written
// again by go test ./driver/external/message -run Schema -update.
func TestSchema(t *testing.T) {
	defs := map[string]any{}
	for _, of := range []any{Capabilities{}, Request{}, Caps{}, Opened{}, Objects{}, Rendered{}, Text{}, Plan{}, Rows{}, Clock{}, Metrics{}, Footprint{}, Literals{}, FreeSpace{}, Processes{}, driver.Description{}, Census{}, Put{}, Batch{}, Receipt{}, Ticket{}, Answered{}, Schema{}} {
		define(defs, reflect.TypeOf(of))
	}
	var types, traitNames []string
	for _, kind := range series.Types() {
		types = append(types, kind.String())
	}
	for _, trait := range traits() {
		traitNames = append(traitNames, trait.String())
	}
	limitTo := func(def, property string, values []string) {
		defs[def].(map[string]any)["properties"].(map[string]any)[property].(map[string]any)["enum"] = values
	}
	limitTo("Field", "type", types)
	limitTo("Tag", "type", []string{"text", "float"})
	limitTo("Option", "type", []string{"text", "integer", "number", "duration", "port", "boolean", "choice", "size"})
	limitTo("Column", "kind", []string{"time", "int", "float", "text", "bool", "date"})
	limitTo("Description", "safety", []string{"", string(driver.OnDisk), string(driver.ByTimer), string(driver.InFiles), string(driver.InMemory), string(driver.Nowhere)})
	for property, names := range map[string][]string{"lacks": traitNames, "types": types} {
		defs["Caps"].(map[string]any)["properties"].(map[string]any)[property].(map[string]any)["propertyNames"] = map[string]any{"enum": names}
	}
	text, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "tsmark's protocol of external drivers, version 1",
		"description": "sdk/protocol.md says which action, ticket and metadata has which object. Unknown members are ignored. Optional functions and members are added without a new version.", "$defs": defs,
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile(schemaFile, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if published, err := os.ReadFile(schemaFile); err != nil || !bytes.Equal(published, text) {
		t.Errorf("%s is not the schema of the objects; write it again with -update (%v)", schemaFile, err)
	}
}

// define adds a struct to the definitions, and returns the schema of a type.
func define(defs map[string]any, t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{}
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[[]byte]():
		return map[string]any{"type": "string", "contentEncoding": "base64"}
	case reflect.TypeFor[query.Query]():
		return map[string]any{"type": "object", "required": []string{"type", "id", "shape", "table"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		of := define(defs, t.Elem())
		return map[string]any{"anyOf": []any{of, map[string]any{"type": "null"}}}
	case reflect.Slice:
		return map[string]any{"type": []string{"array", "null"}, "items": define(defs, t.Elem())}
	case reflect.Map:
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": define(defs, t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Struct:
		if defs[t.Name()] == nil {
			defs[t.Name()] = map[string]any{} // ends a recursion
			properties, required := map[string]any{}, []string{}
			for i := range t.NumField() {
				tag := t.Field(i).Tag.Get("json")
				name, rest, _ := strings.Cut(tag, ",")
				if name == "-" {
					continue
				}
				properties[name] = define(defs, t.Field(i).Type)
				if rest == "" {
					required = append(required, name)
				}
			}
			slices.Sort(required)
			defs[t.Name()] = map[string]any{"type": "object", "properties": properties, "required": required}
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	}
	return map[string]any{"type": "integer"}
}

// A value keeps its kind and all its digits.
func TestValues(t *testing.T) {
	for _, v := range []query.Value{
		{}, {Kind: query.Int, Int: 9007199254740993}, {Kind: query.Float, Float: 0.1}, {Kind: query.Text, Text: []byte("a\x00\xff")},
		{Kind: query.Text, Text: []byte{}}, {Kind: query.Bool}, {Kind: query.Bool, Int: 1}, {Kind: query.Time, Int: 1451606400000000001}, {Kind: query.Date, Int: -1},
	} {
		text, err := json.Marshal(FromValue(&v))
		if err != nil {
			t.Fatal(err)
		}
		var m Value
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Query(); err != nil || !reflect.DeepEqual(*got, v) {
			t.Errorf("%s became %+v, %v; want %+v", text, got, err, v)
		}
	}
	for _, text := range []string{`{"int":"x"}`, `{"int":"9223372036854775808"}`, `{"float":"1,5"}`, `{}`} {
		var m Value
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Query(); err == nil {
			t.Errorf("%s is a value", text)
		}
	}
}
