package secret

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"html"
	"io/fs"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	r := New("license")
	r.Public("postgres")
	r.Add("tr0ub4dor", "p@ss/w rd", "postgres", "ab1", "", Mark)
	for in, want := range map[string]string{
		"nothing to hide":                           "nothing to hide",
		"login of tr0ub4dor failed":                 "login of *** failed",
		"xtr0ub4dory":                               "x***y",
		"p@ss/w rd, p%40ss%2Fw%20rd, p%40ss%2Fw+rd": "***, ***, ***",
		"postgres 17 at postgres://postgres:postgres@h:5432/postgres?sslmode=off": "postgres 17 at postgres://postgres:***@h:5432/postgres?sslmode=off",
		"http://u:a@b@host/x":                   "http://u:***@host/x",
		"http://host:8086/write?token=xyz&db=a": "http://host:8086/write?token=***&db=a",
		"host=x PASSWORD='a b' user=y":          "host=x PASSWORD=*** user=y",
		"pg,license=77,path=x":                  "pg,license=***,path=x",
		"pg,license=***,path=x":                 "pg,license=***,path=x",
		"ab1 ab1d (ab1) xab1 ab1":               "*** ab1d (***) xab1 ***",
		"secret_key=1;auth.token=2":             "secret_key=***;auth.token=***",
		"http://localhost:8086/ping":            "http://localhost:8086/ping",
		"unexpected token: x":                   "unexpected token: x",
		"sequence end token ']' not found":      "sequence end token ']' not found",
		"join by: tsmark agent --token @FILE":   "join by: tsmark agent --token @FILE",
		"agent --token @FILE --ca FILE":         "agent --token @FILE --ca FILE",
		"agent --token @FILEHANDLE":             "agent --token ***",
		"pg --password @FILE --token hunter2":   "pg --password @FILE --token ***",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestLearn(t *testing.T) {
	r := New("license")
	r.Learn("a=pg,license=hunter2,behind,the,path=/data/x,comma")
	r.Learn("postgres://me:sw%40rdfish@host/db")
	r.Learn(`host=x password="open sesame"`)
	for _, secret := range []string{"hunter2", "hunter2,behind", "hunter2,behind,the", "sw%40rdfish", "sw@rdfish", "open sesame"} {
		if got := r.Text("it is " + secret); got != "it is ***" {
			t.Errorf("%q: %q", secret, got)
		}
	}
	for _, public := range []string{"/data/x", "comma", "host"} {
		if got := r.Text(public); got != public {
			t.Errorf("%q became %q", public, got)
		}
	}
}

func TestError(t *testing.T) {
	r := New()
	r.Add("hunter2")
	err := r.Error(errors.Join(errors.New("hunter2 is wrong"), fs.ErrExist))
	if strings.Contains(err.Error(), "hunter2") || !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if r.Error(nil) != nil {
		t.Error("nil became an error")
	}
}

func TestInEnvironment(t *testing.T) {
	got := InEnvironment([]string{"PGPASSWORD=hunter2", "PWD=/home/me", "INFLUX_TOKEN=abcdef", "TOKENS=9", "X_KEY=abc", "EMPTY_SECRET="})
	if strings.Join(got, " ") != "hunter2 abcdef" {
		t.Errorf("found %q", got)
	}
}

// FuzzText checks that a secret does not appear in the output, whatever surrounds it.
func FuzzText(f *testing.F) {
	f.Add("error: ", "hunter2", " is the password")
	f.Add("http://u:", "p@ss", "@host")
	f.Add("**", "****", "*")
	f.Fuzz(func(t *testing.T, before, value, after string) {
		if !anywhere(value) || ordinary(value) || strings.Contains(value, "*") {
			t.Skip() // within words, and from stars, it cannot be told
		}
		r := New()
		r.Add(value)
		if got := r.Text(before + value + after); strings.Contains(got, value) {
			t.Errorf("%q is in %q", value, got)
		}
	})
}

// A value that is an ordinary word or number does not hide ordinary text, and is hidden in the
// places of secrets.
func TestOrdinary(t *testing.T) {
	const text = "the verified figure is on the page: 10 rows of 1234567 in test.db, 5 % of p99 - the latest, (is) \"is\" token bucket; the password is wrong --- Test"
	for _, value := range []string{"is", "on", "a", "1", "10", "1234567", "5", "%", "-", "---", "the", "rows", "test", "Test", "verified", "password", "p99", "page", "est", "0.5", "10s"} {
		r := New("license")
		r.Add(value)
		if got := r.Text(text); got != text {
			t.Errorf("of %q: %q", value, got)
		}
		escaped := url.UserPassword("u", value).String()
		for place, want := range map[string]string{
			"pg,password=" + value + ",port=1":                                          "pg,password=***,port=1",
			"run --password " + strconv.Quote(value) + " x":                             "run --password *** x",
			"postgres://" + escaped + "@h/db":                                           "postgres://u:***@h/db",
			"http://h/write?token=" + url.QueryEscape(value) + "&db=a":                  "http://h/write?token=***&db=a",
			`{"user":"ann","password":"` + value + `"}`:                                 `{"user":"ann","password":***}`,
			"license: " + value + "\nport: 1":                                           "license: ***\nport: 1",
			"login failed (password \"" + value + "\")":                                 "login failed (password \"***\")",
			"the password is '" + value + "'.":                                          "the password is '***'.",
			"using password: " + value + ".":                                            "using password: ***.",
			"you sent Basic " + base64.StdEncoding.EncodeToString([]byte("ann:"+value)): "you sent Basic ***",
		} {
			if got := r.Text(place); got != want {
				t.Errorf("of %q: %q became %q", value, place, got)
			}
		}
	}
	for _, value := range []string{"geheim", "x7q", "sw0rdfish", "hUnTer", "correct-horse", "is this", "test1", "1234567890123"} {
		r := New()
		r.Add(value)
		if got := r.Text("login with " + value + " failed"); got != "login with *** failed" {
			t.Errorf("%q: %q", value, got)
		}
	}
	// Short ones of letters alone are part of words.
	r := New()
	r.Add("tion")
	if got := r.Text("station tion"); got != "station ***" {
		t.Error(got)
	}
}

// In commands, addresses and what servers echo, secrets have places of their
// own. What merely looks like one stays readable.
func TestPlaces(t *testing.T) {
	for in, want := range map[string]string{
		"mysqld --password hunter2 --port 1":                    "mysqld --password *** --port 1",
		"mysqld --password 'a b' x":                             "mysqld --password *** x",
		"influx -password hunter2":                              "influx -password ***",
		"mysqladmin -phunter2 shutdown":                         "mysqladmin -p*** shutdown",
		"mysqladmin -p'a b' shutdown":                           "mysqladmin -p*** shutdown",
		"sshpass -p hunter2 ssh h":                              "sshpass -p *** ssh h",
		"curl -u ann:hunter2 http://h":                          "curl -u ann:*** http://h",
		"curl --user=ann:hunter2 http://h":                      "curl --user=ann:*** http://h",
		"ann:hunter2@db1":                                       "ann:***@db1",
		"host=ann:hunter2@db1,port=1":                           "host=ann:***@db1,port=1",
		"http://h/metrics?auth=hunter2&x=1":                     "http://h/metrics?auth=***&x=1",
		"http://h/query?u=ann&p=hunter2":                        "http://h/query?u=ann&p=***",
		"curl -H 'Authorization: Bearer hunter2'":               "curl -H 'Authorization: Bearer ***'",
		"ALTER USER ann PASSWORD 'hunter2'":                     "ALTER USER ann PASSWORD ***",
		`{"user":"ann","password":"hunter2"}`:                   `{"user":"ann","password":***}`,
		"docker run -p 8812:8812 --user 1000:1000 -p8086:8086":  "docker run -p 8812:8812 --user 1000:1000 -p8086:8086",
		"mkdir -p /data && server -port 1 -path=/x -properties": "mkdir -p /data && server -port 1 -path=/x -properties",
		"server -p {port} -p{port} --password-file /run/secret": "server -p {port} -p{port} --password-file /run/secret",
		"postgres:16@sha256:abcdef":                             "postgres:16@sha256:abcdef",
		"mongod --auth --port 1":                                "mongod --auth --port 1",
		`password authentication failed for user "ann"`:         `password authentication failed for user "ann"`,
		"at 12:30:15 user ann@db1 left":                         "at 12:30:15 user ann@db1 left",
	} {
		if got := New().Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if got := New().Text(want); got != want {
			t.Errorf("%q became %q the second time", want, got)
		}
		if r := New(); strings.Contains(in, "hunter2") {
			r.Learn(in)
			if got := r.Text("it is hunter2"); got != "it is ***" {
				t.Errorf("from %q nothing was learnt", in)
			}
		}
	}
}

// A value is found in whatever form it is written.
func TestForms(t *testing.T) {
	const value = "tr0ub/dor&'3+ü"
	r := New()
	r.Add(value, "pw1")
	for name, text := range map[string]string{
		"percents":       url.QueryEscape(value),
		"small percents": "tr0ub%2fdor%26%273%2b%c3%bc",
		"HTML":           html.EscapeString(value),
		"JSON":           `"tr0ub/dor\u0026'3+ü"`,
		"ASCII":          strconv.QuoteToASCII(value),
		"SQL":            "tr0ub/dor&''3+ü",
		"shell":          `tr0ub/dor&'\''3+ü`,
		"libpq":          `tr0ub/dor&\'3+ü`,
		"hex":            hex.EncodeToString([]byte(value)),
		"Base64":         base64.StdEncoding.EncodeToString([]byte(value)),
		"of user":        base64.StdEncoding.EncodeToString([]byte("ann:" + value)),
		"of another":     base64.StdEncoding.EncodeToString([]byte("anna:" + value)),
		"for URLs":       base64.RawURLEncoding.EncodeToString([]byte("ann:" + value)),
		"within":         base64.StdEncoding.EncodeToString([]byte(`{"auth":"` + value + `"}`)),
		"a short one":    base64.StdEncoding.EncodeToString([]byte("ann:pw1")),
	} {
		if got := r.Text("you sent Basic " + text + " to us"); !strings.Contains(got, "you sent Basic ") || !strings.Contains(got, Mark) || !strings.HasSuffix(got, " to us") || len(got) > len(text)+30 || strings.Contains(got, text) {
			t.Errorf("%s: %q became %q", name, text, got)
		}
	}
	const harmless = "20260131-154500-3f2a /var/lib/postgresql/data fingerprint 0123456789abcdef"
	if got := r.Text(harmless); got != harmless {
		t.Errorf("became %q", got)
	}
}

// The name of a secret may be the argument before it.
func TestArgs(t *testing.T) {
	got := New().Args([]string{"tsmark", "run", "--password", "hunter2", "--target", "pg,url=http://h/?x=hunter2", "-"})
	if want := "tsmark run --password *** --target pg,url=http://h/?x=*** -"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
