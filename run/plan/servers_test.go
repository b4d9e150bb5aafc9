package plan

import (
	"maps"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/run/experiment"
)

func TestFurtherPorts(t *testing.T) {
	target := experiment.Target{Start: "run {port}", Options: experiment.Options{"a": "{port+2}", "b": "{port+10}", "c": "7"}}
	if ports := takePorts(target); len(ports) != 1 || ports["a"] != 2 || len(target.Options) != 2 {
		t.Errorf("%v, left %v", ports, target.Options)
	}
}

// Settings without a command start the server by tsmark's script, with the options that it needs.
func TestStartByScript(t *testing.T) {
	settings := experiment.Options{"shared_buffers": "1GB"}
	known := driver.Driver{
		Name: "db", TestServer: driver.Options{"user": "postgres", "password": "@servers/password"},
		Options: []driver.Option{{Name: "port", Type: option.Port()}, {Name: "http", Type: option.Port()}},
	}
	got, err := startByScript(&known, experiment.Target{Server: settings, Options: experiment.Options{"user": "mine"}})
	want := experiment.Options{"user": "mine", "password": "@{servers}/password", "http": "{port+1}"}
	if err != nil || got.Start != "{servers}/db exec {dir} {port}" || !maps.Equal(got.Options, want) {
		t.Errorf("%+v, %v, want options %v", got, err, want)
	}
	got, err = startByScript(&known, experiment.Target{Version: "9.2.3"})
	if err != nil || got.Start != "env TSMARK_VERSION_DB=9.2.3 {servers}/db exec {dir} {port}" || got.Options["http"] != "{port+1}" {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = startByScript(&known, experiment.Target{Version: "9.2.3", Start: "env A=1 {servers}/db exec {dir} {port}"})
	if err != nil || got.Start != "env TSMARK_VERSION_DB=9.2.3 env A=1 {servers}/db exec {dir} {port}" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		kind   driver.Driver
		target experiment.Target
		want   string
	}{
		{known, experiment.Target{Options: experiment.Options{"host": "db1"}}, ""},
		{known, experiment.Target{Server: settings, Start: "{servers}/db {port}", Options: experiment.Options{"host": "db1"}}, ""},
		{known, experiment.Target{Server: settings, Options: experiment.Options{"host": "db1"}}, "this one runs at an address"},
		{driver.Driver{Name: "duckdb", Modules: []string{"m"}}, experiment.Target{Version: "1.0"}, "duckdb is linked into this tsmark"},
		{driver.Driver{Name: "duckdb"}, experiment.Target{Server: settings}, "no script that starts a server of duckdb"},
		{driver.Driver{Name: "griddb", TestServer: driver.Options{}, UserServer: &driver.UserServer{}}, experiment.Target{Server: settings}, "no script"},
	} {
		got, err := startByScript(&c.kind, c.target)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || c.want == "" && got.Start != c.target.Start {
			t.Errorf("%+v: %+v, %v, want %q", c.target, got, err, c.want)
		}
	}
}

// Only the command of a script has further verbs, unlike a command of the user's.
func TestScriptCommand(t *testing.T) {
	for start, want := range map[string]string{
		"{servers}/db exec {dir} {port}":                                                "{servers}/db",
		"env TSMARK_VERSION_DB=9.2.3 env TSMARK_HEAP=2g {servers}/db exec {dir} {port}": "env TSMARK_VERSION_DB=9.2.3 env TSMARK_HEAP=2g {servers}/db",
		"sh -c '{servers}/db exec {dir} {port}'":                                        "",
		"my-server {port}":                                                              "",
	} {
		if got := scriptCommand(start); got != want {
			t.Errorf("%s: %q, want %q", start, got, want)
		}
	}
}
