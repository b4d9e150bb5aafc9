package buildinfo

import (
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/result"
)

func TestTool(t *testing.T) {
	if got := Tool(); got.Version == "" || got.Go != runtime.Version() {
		t.Errorf("Tool() = %+v", got)
	}
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	tests := []struct {
		info debug.BuildInfo
		want result.Tool
	}{
		{debug.BuildInfo{GoVersion: "go1.26"}, result.Tool{Version: "(devel)", Go: "go1.26"}},
		{
			debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{setting("vcs.revision", "abc"), setting("vcs.modified", "false")}},
			result.Tool{Version: "v1.2.3", Commit: "abc", Go: "go1.26"},
		},
		{
			debug.BuildInfo{Settings: []debug.BuildSetting{setting("vcs.modified", "true"), setting("vcs.revision", "abc")}},
			result.Tool{Version: "(devel)", Commit: "abc+dirty"},
		},
		{
			debug.BuildInfo{Settings: []debug.BuildSetting{setting("vcs.modified", "true")}},
			result.Tool{Version: "(devel)"},
		},
	}
	for _, tt := range tests {
		if got := tool(&tt.info); got != tt.want {
			t.Errorf("tool(%+v) = %+v, want %+v", tt.info, got, tt.want)
		}
	}
}

func TestModules(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.0.0"},
		{Path: "example.org/b", Version: "v1.2.3"},
		{Path: "example.org/c", Version: "v2.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v2.0.1"}},
		{Path: "example.org/d", Version: "v1.0.0", Replace: &debug.Module{Path: "../d"}},
	}}
	got := modules(info, []string{"example.org/d", "example.org/c", "example.org/b", "example.org/none"})
	want := []result.Module{{Path: "example.org/b", Version: "v1.2.3"}, {Path: "example.org/fork", Version: "v2.0.1"}, {Path: "../d", Version: "(devel)"}}
	if !slices.Equal(got, want) {
		t.Errorf("modules are %v, want %v", got, want)
	}
}
