package pgwire_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
)

// resolve checks options as those of a kind are.
func resolve(t *testing.T, options map[string]string) (driver.Options, error) {
	t.Helper()
	d := driver.Driver{Name: "x", Options: pgwire.Options()}
	return d.Resolve(options)
}

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	service, pass := filepath.Join(dir, "service.conf"), filepath.Join(dir, "pass")
	if err := os.WriteFile(service, []byte("[lab]\nhost=192.0.2.7\nport=5433\ndbname=readings\nuser=lab\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pass, []byte("192.0.2.7:5433:readings:lab:sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD", "PGSSLMODE", "PGSERVICE"} {
		t.Setenv(name, "")
	}
	t.Setenv("PGSERVICEFILE", service)
	t.Setenv("PGPASSFILE", pass)
	for _, c := range []struct {
		name     string
		env      []string
		options  map[string]string
		address  string
		database string
		tls      string // off, on, insecure
		password string
	}{
		{"options", nil, map[string]string{"host": "localhost", "port": "5555", "database": `it's \ `, "user": "u", "password": `p'w\`}, "localhost:5555", `it's \ `, "off", `p'w\`},
		{"remote", nil, map[string]string{"host": "db.example.org", "user": "u"}, "db.example.org:5432", "", "on", ""},
		{"remote, unencrypted", nil, map[string]string{"host": "db.example.org", "user": "u", "tls": "off"}, "db.example.org:5432", "", "off", ""},
		{"remote, unverified", nil, map[string]string{"host": "db.example.org", "user": "u", "tls": "insecure"}, "db.example.org:5432", "", "insecure", ""},
		{"near, encrypted", nil, map[string]string{"host": "::1", "user": "u", "tls": "on"}, "[::1]:5432", "", "on", ""},
		{"mode of the environment", []string{"PGSSLMODE=require"}, map[string]string{"host": "127.0.0.1", "user": "u"}, "127.0.0.1:5432", "", "insecure", ""},
		{"environment", []string{"PGHOST=127.0.0.2", "PGPORT=6000", "PGDATABASE=d", "PGUSER=u", "PGPASSWORD=secret"}, nil, "127.0.0.2:6000", "d", "off", "secret"},
		{"options above environment", []string{"PGHOST=127.0.0.2", "PGPASSWORD=secret"}, map[string]string{"host": "127.0.0.3", "user": "u", "password": "mine"}, "127.0.0.3:5432", "", "off", "mine"},
		{"service and password file", []string{"PGSERVICE=lab"}, nil, "192.0.2.7:5433", "readings", "on", "sesame"},
		{"socket", nil, map[string]string{"host": "/run/somewhere", "user": "u"}, "127.0.0.1:5432", "", "off", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, e := range c.env {
				name, value, _ := strings.Cut(e, "=")
				t.Setenv(name, value)
			}
			options, err := resolve(t, c.options)
			if err != nil {
				t.Fatal(err)
			}
			config, err := pgwire.NewConfig(connection.NewSettings(options))
			if err != nil {
				t.Fatal(err)
			}
			if config.Address() != c.address || config.Database() != c.database {
				t.Errorf("%s, database %q", config.Address(), config.Database())
			}
			if tls, password := config.Encryption(); tls != c.tls || password != c.password {
				t.Errorf("tls %s, password %q", tls, password)
			}
		})
	}
}

func TestWrongOptions(t *testing.T) {
	for set, says := range map[[2]string]string{
		{"port", "70000"}:  "from 1 to 65535",
		{"tls", "maybe"}:   "one of on, off, insecure",
		{"timeout", "0s"}:  "above 0",
		{"timeout", "60"}:  "such as 60s",
		{"hots", "x"}:      `did you mean "host"`,
		{"passwort", "hh"}: `did you mean "password"`,
	} {
		if _, err := resolve(t, map[string]string{set[0]: set[1]}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", set, err)
		}
	}
	t.Setenv("PGSERVICE", "nowhere")
	t.Setenv("PGSERVICEFILE", filepath.Join(t.TempDir(), "none"))
	_, err := pgwire.NewConfig(connection.NewSettings(driver.Options{"timeout": "1s", "password": "hunter2"}))
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a service that is not there: %v", err)
	}
}
