package experiment

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// ownFiles makes files in a folder of the test's own.
func ownFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Declarations of files follow those of the experiment, and Parse reads what Marshal writes,
// including multi-line texts and numbers.
func TestReadOwn(t *testing.T) {
	dir := ownFiles(t, map[string]string{
		"queries/two.yaml": "- name: two\n  window: 90m\n  parameters:\n    - {name: least, values: [1, 2.5]}\n",
		"queries/two.sql":  "SELECT 'it''s: \"x\"',\n\t{{least}} -- é\nFROM cpu\n",
		"three.yaml":       "- {name: three, shape: last, by: hostname, fields: [usage_user], having: {field: usage_user, compare: '>=', value: 5}}\n",
	})
	const text = "queries:\n  files: [queries/two.yaml, three.yaml]\n  own:\n" +
		"    - {name: one, shape: rows, fields: [usage_user], window: 1h, where: {tag: hostname, draw: 8}, above: {field: usage_user, value: [90, 95]}}\n"
	e, err := Parse("e.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ReadOwn(dir); err != nil {
		t.Fatal(err)
	}
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	if n := len(e.Queries.Own); n != 3 || len(e.Queries.Files) != 0 {
		t.Fatalf("%d queries, files %v", n, e.Queries.Files)
	}
	if got := e.Queries.Own[1].Texts["sql"]; got != "SELECT 'it''s: \"x\"',\n\t{{least}} -- é\nFROM cpu\n" {
		t.Errorf("the text of two is %q", got)
	}
	written, err := Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", written)
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	if !reflect.DeepEqual(again.Queries.Own, e.Queries.Own) {
		t.Errorf("%s\nreads as %+v, not %+v", written, again.Queries.Own, e.Queries.Own)
	}
}

// Errors name their position: in the file of declarations, or in the text.
func TestReadOwnWrong(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a key":        {map[string]string{"q.yaml": "- name: x\n  shpe: rows\n"}, `q.yaml:2:3: queries.own[0].shpe: unknown key; did you mean "shape"?`},
		"no list":      {map[string]string{"q.yaml": "name: x\n"}, "q.yaml:1:1: must be a list of queries"},
		"no file":      {nil, "e.yaml:2:11: queries.files[0]: cannot read the queries in"},
		"a value":      {map[string]string{"q.yaml": "- name: x\n  shape: rows\n  fields: [a]\n  limit: 3\n"}, "q.yaml:4:10: queries.own[0].limit: shape rows has no limit"},
		"a place":      {map[string]string{"q.yaml": "- name: x\n", "x.sql": "SELECT 1,\n  {{least}}"}, "x.sql:2:3: queries.own[0].texts.sql: {{least}} is not declared"},
		"a text there": {map[string]string{"q.yaml": "- name: x\n  texts:\n    sql: SELECT {{least}}\n"}, "q.yaml:3:10: queries.own[0].texts.sql: line 1, column 8 of the text: {{least}} is not declared"},
		"too long":     {map[string]string{"q.yaml": "- name: x\n", "x.sql": "SELECT 1" + strings.Repeat(" ", maxTexts)}, "texts of queries are larger than"},
	} {
		e, err := Parse("e.yaml", []byte("queries:\n  files: [q.yaml]\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err = e.ReadOwn(ownFiles(t, c.files)); err == nil {
			err = e.Check()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	e := Default()
	e.Queries.Files = []string{"q.yaml"}
	if err := e.Check(); err == nil || !strings.Contains(err.Error(), "queries.files") {
		t.Errorf("files that nobody read: %v", err)
	}
}

// The workload own has a setting whose name is a YAML keyword.
func TestKeyNull(t *testing.T) {
	e, err := Parse("e.yaml", []byte("workload:\n  name: own\n  own: {files: a.csv, null: NA}\n"))
	if err != nil {
		t.Fatal(err)
	}
	written, err := Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", written)
	if err != nil || again.Workload.Settings["own.null"] != "NA" {
		t.Errorf("%v, %v\n%s", again, err, written)
	}
}
