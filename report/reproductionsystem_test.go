package report_test

import (
	"testing"

	"github.com/tsmark/tsmark/report/reproduction"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// The head of a page says with which options a system was measured, and where these are
// not the document's.
func TestSystemText(t *testing.T) {
	d := &document.Document{
		Systems:     []document.System{{Driver: "tdengine", Version: "3.0", Options: map[string]string{"vgroups": "6", "cachemodel": "last_row"}, Unlike: "SIMD is yours."}, {Driver: "influxdb", Version: "1.8"}},
		Experiments: []document.Experiment{{Options: []document.Setting{{Driver: "tdengine", Set: map[string]string{"stt_trigger": "1"}}}}},
	}
	run := func(vgroups, trigger string) *result.Run {
		return &result.Run{Targets: []result.Target{{Driver: "tdengine", Options: map[string]string{"vgroups": vgroups, "cachemodel": "last_row", "stt_trigger": trigger, "port": "1"}}}}
	}
	runs := []*result.Run{run("4", "1"), run("4", "")}
	want := "printed: 3.0; here: not tested; with cachemodel=last_row, stt_trigger=1 or the server's own, vgroups=4 (the document: 6). SIMD is yours."
	if got := reproduction.SystemText(d, &d.Systems[0], runs); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := reproduction.SystemText(d, &d.Systems[1], runs); got != "printed: 1.8; here: not tested (--target influxdb,host=HOST measures your server; tsmark server start influxdb --container starts one)" {
		t.Errorf("%q", got)
	}
}
