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
	for _, c := range []struct {
		kind   driver.Driver
		target experiment.Target
		want   string
	}{
		{known, experiment.Target{Options: experiment.Options{"host": "db1"}}, ""},
		{known, experiment.Target{Server: settings, Start: "{servers}/db {port}", Options: experiment.Options{"host": "db1"}}, ""},
		{known, experiment.Target{Server: settings, Options: experiment.Options{"host": "db1"}}, "this one runs at an address"},
		{driver.Driver{Name: "duckdb"}, experiment.Target{Server: settings}, "no script that starts a server of duckdb"},
		{driver.Driver{Name: "griddb", TestServer: driver.Options{}, UserServer: &driver.UserServer{}}, experiment.Target{Server: settings}, "no script"},
	} {
		got, err := startByScript(&c.kind, c.target)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || c.want == "" && got.Start != c.target.Start {
			t.Errorf("%+v: %+v, %v, want %q", c.target, got, err, c.want)
		}
	}
}
