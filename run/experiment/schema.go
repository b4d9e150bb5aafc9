package experiment

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// SchemaFile is the usual name of the file with the schema.
const SchemaFile = "experiment.schema.json"

// SchemaComment is the first line of a file for editors with yaml-language-server, which then check and
// complete keys by the schema beside the file.
const SchemaComment = "# yaml-language-server: $schema=" + SchemaFile + "  (tsmark schema > " + SchemaFile + ")\n"

// Schema returns the JSON schema of the files that Parse reads. It has their keys and the kinds of their
// values; values themselves are checked by Check. Known are values to offer, by the path of a key, such
// as targets[].driver.
func Schema(known map[string][]string) ([]byte, error) {
	s := schemaOf(reflect.TypeFor[Experiment](), "", known)
	s["$schema"], s["title"] = "http://json-schema.org/draft-07/schema#", "tsmark experiment"
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// schemaOf returns the schema of the values that the decoder converts to a type.
func schemaOf(t reflect.Type, path string, known map[string][]string) map[string]any {
	scalar := map[string]any{"type": []string{"string", "number", "boolean", "null"}}
	object := func(value any) map[string]any {
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": value}
	}
	list := func(item any) map[string]any {
		return map[string]any{"type": []string{"array", "null"}, "items": item}
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return map[string]any{"anyOf": []any{
			map[string]any{"type": []string{"string", "null"}, "pattern": `^-?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$|^0$`},
			map[string]any{"enum": []int{0}},
		}}
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": []string{"string", "null"}, "pattern": `^\d{4}-\d\d-\d\dT`}
	case reflect.TypeFor[Options](), reflect.TypeFor[ownqueries.Texts](), reflect.TypeFor[Combination]():
		return object(scalar)
	case reflect.TypeFor[Matrix]():
		return object(list(scalar))
	case reflect.TypeFor[ownqueries.Choices]():
		return map[string]any{"anyOf": []any{scalar, list(scalar)}}
	}
	switch t.Kind() {
	case reflect.Struct:
		properties, s := make(map[string]any), object(false)
		for i := range t.NumField() {
			f := t.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case f.Type == reflect.TypeFor[workload.Settings]() && key == "":
				s["additionalProperties"] = map[string]any{"type": "object"} // named after a workload
			case key != "" && key != "-":
				properties[key] = schemaOf(f.Type, strings.TrimPrefix(path+"."+key, "."), known)
			}
		}
		s["properties"] = properties
		return s
	case reflect.Slice:
		return list(schemaOf(t.Elem(), path+"[]", known))
	case reflect.Bool:
		return map[string]any{"type": []string{"boolean", "null"}}
	case reflect.String:
		if values := known[path]; len(values) > 0 {
			return map[string]any{"anyOf": []any{map[string]any{"enum": values}, scalar}}
		}
		return scalar
	case reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": []string{"integer", "null"}, "minimum": 0}
	}
	return map[string]any{"type": []string{"integer", "null"}}
}
