package iotdb

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// TestNodes checks that a value in a path is decoded unchanged.
func TestNodes(t *testing.T) {
	values := []string{"host_0", "eu-west-1", "", "null", `\null`, "root", "Root", `\\root`, "time", "Time", "TIME", `\time`, "timestamp", "Timestamp", "times", "a.b", "x`y", "`", "1.5e3", "Ωμέγα 服", "*", "o'brien", `\`}
	path := "root.db.t"
	for _, v := range values {
		path += "." + tagNode(v)
	}
	path += "." + missing
	for _, v := range []string{"root", "time", "TIME", "Timestamp"} {
		if got, want := tagNode(v), "`\\"+v+"`"; got != want {
			t.Errorf("%q has the node %s, which IoTDB does not allow; want %s", v, got, want)
		}
	}
	var n nodes
	if err := n.cut([]byte(path), 3); err != nil {
		t.Fatal(err)
	}
	if len(n.list) != len(values)+1 {
		t.Fatalf("%d nodes of %d in %s", len(n.list), len(values)+1, path)
	}
	for i, v := range values {
		if got := n.list[i]; got.Kind != query.Text || string(got.Text) != v {
			t.Errorf("%q came out as %s", v, got)
		}
	}
	if n.list[len(values)].Kind != query.Null {
		t.Errorf("a tag that is missing came out as %s", n.list[len(values)])
	}
	of, name := parent([]byte("root.db.`a.b`.`x.y`"))
	if string(of) != "root.db.`a.b`" || string(name) != "`x.y`" {
		t.Errorf("%s, %s", of, name)
	}
	for _, wrong := range []string{"root.db.`open", "root.db.`a`b"} {
		if err := n.cut([]byte(wrong), 2); err == nil {
			t.Errorf("%s gives no error", wrong)
		}
	}
}

// Names that IoTDB does not allow in paths are refused before anything is made.
func TestReservedNames(t *testing.T) {
	schema := func(table, field string) *series.Schema {
		return &series.Schema{Tables: []*series.Table{{Name: table, Fields: []series.Field{{Name: field, Type: series.Float}}}}}
	}
	tree, tables := driver.Options{connection.Database: "d", optionModel: modelTree, optionAligned: "true", optionSchema: schemaAuto}, driver.Options{connection.Database: "d", optionModel: modelTable, optionAligned: "true", optionSchema: schemaAuto}
	for _, c := range []struct{ table, field, says string }{
		{"t", "v", ""}, {"roots", "null", ""},
		{"t", "root", "field or numeric tag called root"}, {"root", "v", "reserves the name root"},
		{"Time", "v", "reserves the name Time"}, {"timestamp", "v", "reserves the name timestamp"},
	} {
		if err := check(tree, schema(c.table, c.field)); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("table %s, field %s: %v, want %q", c.table, c.field, err, c.says)
		}
		if err := check(tables, schema(c.table, c.field)); err != nil {
			t.Errorf("table model: table %s, field %s: %v", c.table, c.field, err)
		}
	}
}
