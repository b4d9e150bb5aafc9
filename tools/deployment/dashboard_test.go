package deployment

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// The dashboards match Grafana's own types: each field that a panel needs exists,
// and unknown fields do not. The results of their queries are tested in package cli.
func TestDashboards(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	files, err := filepath.Glob("../../docs/grafana/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("there are %d dashboards, not two (%v)", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		//lint:ignore SA1019 the dashboards are files of this version, which every Grafana reads
		var strict, d dashboard.Dashboard
		if err := strict.UnmarshalJSONStrict(text); err != nil && err.Error() != "" { // an error without text is an empty list
			t.Errorf("%s: %v", file, err)
		}
		if err := errors.Join(json.Unmarshal(text, &d), d.Validate()); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, p := range d.Panels {
			if p.Panel == nil {
				t.Errorf("%s: something among the panels is not a panel", file)
			} else if _, unknown := p.Panel.Options.(map[string]any); unknown {
				t.Errorf("%s: panel %d is of a type that Grafana does not have, %q", file, *p.Panel.Id, p.Panel.Type)
			}
		}
	}
}
