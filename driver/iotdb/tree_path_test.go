package iotdb

import (
	"testing"

	"github.com/tsmark/tsmark/query"
)

// What stands in a path comes out of it as it went in.
func TestNodes(t *testing.T) {
	values := []string{"host_0", "eu-west-1", "", "null", `\null`, "root", `\\root`, "a.b", "x`y", "`", "1.5e3", "Ωμέγα 服", "*", "o'brien", `\`}
	path := "root.db.t"
	for _, v := range values {
		path += "." + tagNode(v)
	}
	path += "." + missing
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
			t.Errorf("%s is no error", wrong)
		}
	}
}
