package questdb

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver/kit/connection"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// resolve reads options given as names and values.
func resolve(t *testing.T, conf string, pairs ...string) (*settings, error) {
	t.Helper()
	d := Driver()
	options, err := d.Resolve(setOptions(map[string]string{}, pairs...))
	if err != nil {
		return nil, err
	}
	return newSettings(options, func(name string) string {
		if name != configVariable {
			t.Errorf("read the environment's %s", name)
		}
		return conf
	})
}

func TestOptionsThatDoNotGoTogether(t *testing.T) {
	for want, pairs := range map[string][]string{
		"a table without partitions has no write-ahead log": {optionPartitionBy, "none"},
		"line protocol over HTTP writes to tables with a":   {optionWAL, "false"},
		"only tables with a write-ahead log replace rows":   {optionWAL, "false", optionProtocol, "tcp", optionDedup, "tags"},
		"nobody says which rows arrived":                    {optionProtocol, "tcp", optionDedup, "tags"},
		"give either a token or a user":                     {optionToken, stub.Secret, connection.User, "joe"},
		"a password was given without a user":               {connection.Password, stub.Secret},
		"port=0: must be a port, from 1 to 65535":           {connection.Port, "0"},
		"timeout=-1s: must be a duration above 0":           {connection.Timeout, "-1s"},
		"tls=maybe: must be one of on, off, insecure":       {connection.TLS, "maybe"},
	} {
		_, err := resolve(t, "", pairs...)
		stub.Says(t, err, want)
	}
	if _, err := resolve(t, "", optionWAL, "false", optionProtocol, "tcp", optionPartitionBy, "none"); err != nil {
		t.Error(err)
	}
}

func TestCredentials(t *testing.T) {
	const conf = "https::addr=db:9000;username=ann;password=s3cret;"
	for name, test := range map[string]struct {
		conf                                      string
		pairs                                     []string
		user, password, token, pgUser, pgPassword string
	}{
		"none":                {"", nil, "", "", "", "admin", "quest"},
		"options":             {conf, []string{connection.User, "joe", connection.Password, "p"}, "joe", "p", "", "joe", "p"},
		"of the clients":      {conf, nil, "ann", stub.Secret, "", "ann", stub.Secret},
		"a token of theirs":   {"http::addr=db;token=t;", nil, "", "", "t", "admin", "quest"},
		"others over the two": {"", []string{connection.User, "joe", connection.Password, "p", optionPGUser, "x", optionPGPassword, "y"}, "joe", "p", "", "x", "y"},
	} {
		s, err := resolve(t, test.conf, test.pairs...)
		if err != nil {
			t.Fatal(err)
		}
		r := &http.Request{Header: http.Header{}}
		if s.wire.Authorize != nil {
			s.wire.Authorize(r)
		}
		user, password, _ := r.BasicAuth()
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if user != test.user || password != test.password || user == "" && token != test.token || s.pg.User != test.pgUser || s.pg.Password != test.pgPassword {
			t.Errorf("%s: %+v, %v", name, s, r.Header)
		}
	}
	_, err := resolve(t, "password=s3cret")
	stub.Says(t, err, "the environment's QDB_CLIENT_CONF is not as QuestDB's clients have it")
}

// TestTLS checks that connections to another machine are encrypted unless an option says otherwise.
func TestTLS(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1": "off", "localhost": "off", "::1": "off", "db.example": "on", "10.0.0.1": "on",
		"db.example off": "off", "localhost on": "on", "db.example insecure": "insecure",
	} {
		host, mode, _ := strings.Cut(text, " ")
		s, err := resolve(t, "", connection.Host, host, connection.TLS, mode)
		if err != nil {
			t.Fatal(err)
		}
		got := "off"
		if s.wire.TLS != nil {
			got = map[bool]string{true: "insecure", false: "on"}[s.wire.TLS.InsecureSkipVerify]
		}
		if got != want || s.pg.TLS != want {
			t.Errorf("%s: %s, and %s over the PostgreSQL protocol, want %s", text, got, s.pg.TLS, want)
		}
	}
}

func TestDescription(t *testing.T) {
	d := database{settings: &settings{wire: httpwire.Config{Host: "h", Port: "1"}, tcp: true, tables: tableSettings{wal: true}}}
	got := d.description("Build Information: QuestDB 9.3.4, JDK 24.0.2, Commit Hash 9ea", nil)
	if got.Version != "9.3.4" || got.Edition != "open source" || got.Safety != driver.Nowhere || !strings.HasPrefix(got.Durability, "line protocol over TCP acknowledges nothing; ") {
		t.Errorf("%+v", got)
	}
	if got := d.description("Build Information: QuestDB Enterprise 2.1.0, JDK", nil); got.Version != "2.1.0" || got.Edition != "Enterprise" {
		t.Errorf("%+v", got)
	}
	if Driver().Caps(driver.Options{optionDedup: dedupOff}).Dedupes || !Driver().Caps(driver.Options{optionDedup: dedupAllTags}).Dedupes {
		t.Error("rows that come again")
	}
}
