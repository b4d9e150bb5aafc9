package buildinfo

import (
	"runtime"
	"runtime/debug"
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
