package experiment

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTarget(t *testing.T) {
	tests := []struct {
		text string
		want Target
	}{
		{"duckdb", Target{Name: "duckdb", Driver: "duckdb"}},
		{"duckdb,threads=2", Target{Name: "duckdb", Driver: "duckdb", Options: Options{"threads": "2"}}},
		{"small=duckdb,threads=1,memory_limit=512MB", Target{Name: "small", Driver: "duckdb", Options: Options{"threads": "1", "memory_limit": "512MB"}}},
		{"postgres://me:p%40ss@h:5433/db?sslmode=require", Target{Name: "postgres", Driver: "postgres", Options: Options{"host": "h", "port": "5433", "user": "me", "password": "p@ss", "database": "db", "tls": "insecure"}}},
		{"pg=postgresql://me:p@ss,word@h/db,layout=wide,workers=2", Target{Name: "pg", Driver: "postgres", Workers: 2, Options: Options{"host": "h", "user": "me", "password": "p@ss,word", "database": "db", "layout": "wide"}}},
		{"postgres:///db?host=/run/postgresql&sslmode=prefer", Target{Name: "postgres", Driver: "postgres", Options: Options{"host": "/run/postgresql", "database": "db"}}},
		{"mysql://h", Target{Name: "mysql", Driver: "mysql", Options: Options{"host": "h"}}},
		{"clickhouse://[::1]:9440/?secure=true", Target{Name: "clickhouse", Driver: "clickhouse", Options: Options{"host": "::1", "port": "9440", "tls": "on"}}},
		{"questdb://h:9000,password=@/run/secret", Target{Name: "questdb", Driver: "questdb", Options: Options{"host": "h", "port": "9000", "password": "@/run/secret"}}},
		{"https://h/db?token=x", Target{Name: HTTP, Driver: HTTP, Options: Options{"host": "h", "port": "443", "database": "db", "token": "x", "tls": "on"}}},
		{"tsdb=http://h:8086", Target{Name: "tsdb", Driver: HTTP, Options: Options{"host": "h", "port": "8086", "tls": "off"}}},
		{"questdb@9.2.3,server.a=1", Target{Name: "questdb@9.2.3", Driver: "questdb", Version: "9.2.3", Server: Options{"a": "1"}}},
		{"old=questdb@9.2.3", Target{Name: "old", Driver: "questdb", Version: "9.2.3"}},
		{"questdb,version=9.2.3", Target{Name: "questdb", Driver: "questdb", Version: "9.2.3"}},
		{"pg=postgres,dsn=host=a port=1,ssl=", Target{Name: "pg", Driver: "postgres", Options: Options{"dsn": "host=a port=1", "ssl": ""}}},
	}
	for _, tt := range tests {
		got, err := ParseTarget(tt.text)
		if err != nil {
			t.Errorf("ParseTarget(%q): %v", tt.text, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("ParseTarget(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestParseTargetErrors(t *testing.T) {
	const form = "; write [NAME=]DRIVER[,OPTION=VALUE]… or a connection string"
	for text, want := range map[string]string{
		"":               `target "" names no driver` + form,
		"small=":         `target "small=" names no driver` + form,
		"=duckdb":        `target "=duckdb" has an empty name` + form,
		"duckdb,":        `target "duckdb,": option "" is not of the form OPTION=VALUE` + form,
		"duckdb,threads": `target "duckdb,threads": option "threads" is not of the form OPTION=VALUE` + form,
		"duckdb,=2":      `target "duckdb,=2": option "=2" is not of the form OPTION=VALUE` + form,
		"@9.2.3":         `target "@9.2.3" names a version and no driver` + form,
		"a@1,version=2":  `target "a@1,version=2" sets option "version" twice`,
		"duckdb,a=1,a=2": `target "duckdb,a=1,a=2" sets option "a" twice`,
		"=mysql://h/db":  `target "=mysql://h/db" has an empty name` + form,
		// The password is not quoted, even where it makes the URL malformed.
		"postgres://me:hunter2@h:port/db":        `target "postgres://me:***@h:port/db" is not SCHEME://USER:PASSWORD@HOST:PORT/DATABASE; write special characters of the password as %XX`,
		"postgres://me:hunter2#@h/db":            `target "postgres://me:***@h/db" is not SCHEME://USER:PASSWORD@HOST:PORT/DATABASE; write special characters of the password as %XX`,
		"postgres://h/db?password=hunter2,host=": `target "postgres://h/db?password=***" sets option "host" twice`,
		"postgres://a,b/db":                      `target "postgres://a,b/db" names several hosts; name one`,
		"postgres://h/db/table":                  `target "postgres://h/db/table" has a path of several parts in place of a database; name the driver and its options instead`,
		"postgres://h/?sslmode=maybe":            `target "postgres://h/?sslmode=maybe" requests an unknown encryption; give tls=on, off or insecure`,
		"postgres://h/a?dbname=b":                `target "postgres://h/a?dbname=b" sets database twice`,
		"http:///db":                             `target "http:///db" names no host`,
	} {
		if got, err := ParseTarget(text); err == nil {
			t.Errorf("ParseTarget(%q) took it: %+v", text, got)
		} else if err.Error() != want {
			t.Errorf("ParseTarget(%q)\n got %s\nwant %s", text, err, want)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	f.Add("small=duckdb,threads=1,memory_limit=512MB")
	f.Add("pg=postgres://me:p%40ss@h:5433/db?sslmode=require,layout=wide")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseTarget(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error on several lines: %q", err)
			}
			return
		}
		if got.Name == "" || got.Driver == "" {
			t.Errorf("ParseTarget(%q) = %+v", text, got)
		}
	})
}

// Settings of a server are read of a command line, a file, --set and a matrix, and written again.
func TestServerSettings(t *testing.T) {
	target, err := ParseTarget("pg=postgres,server.shared_buffers=1GB,user=a,server.data.cache=2g")
	if err != nil || !maps.Equal(target.Server, Options{"shared_buffers": "1GB", "data.cache": "2g"}) || !maps.Equal(target.Options, Options{"user": "a"}) {
		t.Fatalf("%+v, %v", target, err)
	}
	if _, err := ParseTarget("postgres,server.a=1,server.a=2"); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("set twice: %v", err)
	}
	e := Default()
	e.Targets = []Target{target}
	if err := e.Set("targets.pg.server.work_mem", "64MB", Origin{Flag: "--set"}); err != nil || e.Targets[0].Server["work_mem"] != "64MB" {
		t.Errorf("%+v, %v", e.Targets[0], err)
	}
	text, err := Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Parse("x", text)
	if err != nil || !maps.Equal(read.Targets[0].Server, e.Targets[0].Server) {
		t.Errorf("read again as %+v, %v, of\n%s", read, err, text)
	}
	e.Matrix.Set(Axis{"targets.pg.server.shared_buffers", []string{"128MB", "1GB"}})
	points, err := e.Expand()
	if err != nil || len(points) != 1 || len(points[0].Experiment.Targets) != 2 {
		t.Fatalf("points %+v, %v", points, err)
	}
	for i, want := range []string{"128MB", "1GB"} {
		if got := points[0].Experiment.Targets[i]; got.Server["shared_buffers"] != want || got.Name != "pg-server.shared_buffers-"+want {
			t.Errorf("variant %d is %+v", i, got)
		}
	}
}

// A setting that cannot reach the server, or would make a secret public, is refused.
func TestServerSettingsRefused(t *testing.T) {
	for _, c := range []struct {
		target Target
		want   string
	}{
		{Target{Server: Options{"shared_buffers": "1GB"}}, ""},
		{Target{Start: "{servers}/postgres exec {dir} {port}", Server: Options{"shared_buffers": "1GB"}, Idle: IdleRun}, ""},
		{Target{Start: "my-server {port}", Server: Options{"a": "1"}}, "write the settings of another command into the command"},
		{Target{Server: Options{"a b": "1"}}, `"a b" is not a name of a setting`},
		{Target{Server: Options{"-a": "1"}}, `"-a" is not a name of a setting`},
		{Target{Server: Options{"a": "1\nb=2"}}, "has several lines"},
		{Target{Server: Options{"ssl_Passphrase_command": "x"}}, "settings are stored and shown as written"},
		{Target{Start: "my-server {port}", Version: "9.2.3"}, "targets[0].version: is for tsmark's own scripts"},
		{Target{Version: "9.2.3; true"}, `"9.2.3; true" is not a version, such as 9.2.3`},
		{Target{Version: "2.0.1-beta", Idle: IdleStop}, ""},
		{Target{Server: Options{"password_encryption": "scram-sha-256"}}, ""},
	} {
		e := Default()
		c.target.Name, c.target.Driver = "pg", "postgres"
		e.Targets = []Target{c.target}
		if err := e.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.target, err, c.want)
		}
	}
}

// The interval of monitoring is set in a file and by --set, within its bounds.
func TestMonitorInterval(t *testing.T) {
	for text, fails := range map[string]bool{"5s": false, "100ms": false, "1m": false, "99ms": true, "1m1s": true, "-1s": true} {
		e := Default()
		if err := e.Set(MonitorPath, text, Origin{Flag: "--set"}); err != nil {
			t.Fatal(err)
		}
		if err := e.Check(); (err != nil) != fails || err != nil && !strings.Contains(err.Error(), "must be from 100ms to 1m0s") {
			t.Errorf("%s: %v", text, err)
		}
		written, err := Marshal(e)
		if err == nil {
			e, err = Parse("x", written)
		}
		if err != nil || DurationText(e.MonitorInterval) != text {
			t.Errorf("%s: read again as %v, %v", text, e.MonitorInterval, err)
		}
	}
}
