package iotdb

import "testing"

// Every query type has a name among the tool's, and no two the same.
func TestOperation(t *testing.T) {
	seen := map[string]string{Ingestion: "writes"}
	for _, q := range Workload().QueryTypes() {
		name := Operation(q.Name)
		if name == "" || seen[name] != "" {
			t.Errorf("%s is operation %q, as %s", q.Name, name, seen[name])
		}
		seen[name] = q.Name
	}
	if got := Operation("lastpoint"); got != "" {
		t.Errorf("a type that the workload does not have is operation %q", got)
	}
}
