package iotdbconfig_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/internal/properties"
	"github.com/tsmark/tsmark/run/iotdbconfig"
)

// Each parameter of the tool is listed once, with its default.
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
	tool["STEP_SIZE"] = "1" // as in its code; the file has 0
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
