package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/experiment/preset"
	"github.com/tsmark/tsmark/run/plan"
)

// Every built-in experiment has the name of its file and summary, and can be
// planned with the catalog of tsmark.
func TestPresets(t *testing.T) {
	t.Chdir("..") // where scripts start servers, and have their password
	steps, _ := plan.StepsOf("run")
	var got strings.Builder
	for _, p := range preset.All(knownCatalog().Drivers) {
		e, err := p.Experiment()
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if e.Name != p.Name {
			t.Errorf("%s.yaml is named %s", p.Name, e.Name)
		}
		if p.Summary == "" || len(p.Summary) > 110 || strings.HasSuffix(p.Summary, ".") || !strings.HasPrefix(p.YAML, "# "+p.Summary+"\n") {
			t.Errorf("%s: summary %q", p.Name, p.Summary)
		}
		sweep, err := plan.NewSweep(e, knownCatalog().PlanCatalog(), steps)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		fmt.Fprintf(&got, "%s: %d points, %d targets\n", p.Name, len(sweep.Points()), len(sweep.Points()[0].Experiment.Targets))
	}
	servers := 0
	for _, d := range knownCatalog().Drivers {
		if d.TestServer != nil && d.UserServer == nil {
			servers++
		}
	}
	want := `default: 1 points, 2 targets
crash: 1 points, 3 targets
databases: 1 points, ` + fmt.Sprint(1+servers) + ` targets
iotdb: 1 points, 2 targets
life: 1 points, 2 targets
load-scaling: 12 points, 2 targets
metric-classes: 10 points, 2 targets
metrics: 1 points, 5 targets
scale: 5 points, 2 targets
sqlite-durability: 1 points, 4 targets
ticks: 1 points, 2 targets
tsbs-devops: 1 points, 2 targets
tsbs-iot: 1 points, 2 targets
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The default experiment is written twice: as a file to be read, and as the defaults of
// files.
func TestDefaultPreset(t *testing.T) {
	p, ok := preset.Find(preset.All(nil), preset.First)
	if !ok {
		t.Fatalf("no experiment %s", preset.First)
	}
	e, err := p.Experiment()
	if err != nil {
		t.Fatal(err)
	}
	text := func(e *experiment.Experiment) string {
		t.Helper()
		data, err := experiment.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if diff := cmp.Diff(text(experiment.Default()), text(e)); diff != "" {
		t.Errorf("(-Default +default.yaml):\n%s", diff)
	}
}
