package experiment_test

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/run/experiment"
)

func TestSelfTest(t *testing.T) {
	e := experiment.Default()
	e.Targets[1].Options = experiment.Options{"path": "a.sqlite", "index": "both"}
	if err := e.SelfTest(); err != nil {
		t.Fatal(err)
	}
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	if len(e.Targets) != 4 || e.Load.Repeats < 4 {
		t.Fatalf("%+v", e)
	}
	twin := e.Targets[3]
	if twin.Name != "sqlite-again" || twin.Twin != "sqlite" || twin.Options["path"] != "a.sqlite-again" || twin.Options["index"] != "both" || e.Targets[1].Options["path"] != "a.sqlite" {
		t.Errorf("%+v beside %+v", twin, e.Targets[1])
	}
	// Its file is the same experiment, and a self-test of it is itself.
	text, err := experiment.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	again, err := experiment.Parse("again.yaml", text)
	if err != nil || len(again.Targets) != 4 || again.Targets[2].Twin != "duckdb" {
		t.Fatalf("%+v, %v", again, err)
	}
	if err := again.SelfTest(); err != nil || len(again.Targets) != 4 {
		t.Errorf("%d targets, %v", len(again.Targets), err)
	}
	again.Targets[2].Twin = "nobody"
	if err := again.Check(); err == nil || !strings.Contains(err.Error(), `"nobody" must be the name of another target with driver duckdb`) {
		t.Error(err)
	}
	taken := experiment.Default()
	taken.Targets[0].Name = "sqlite-again"
	if err := taken.SelfTest(); err == nil || !strings.Contains(err.Error(), "choose another name") {
		t.Error(err)
	}
	piped := experiment.Default()
	piped.Load.File = "-"
	if err := piped.SelfTest(); err == nil {
		t.Error("standard input was read twice")
	}
}
