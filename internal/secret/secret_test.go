package secret

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	r := New("license")
	r.Public("postgres")
	r.Add("tr0ub4dor", "p@ss/w rd", "postgres", "abc", "", Mark)
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
		"abc abcd (abc) xabc abc":               "*** abcd (***) xabc ***",
		"secret_key=1;auth.token=2":             "secret_key=***;auth.token=***",
		"http://localhost:8086/ping":            "http://localhost:8086/ping",
		"unexpected token: x":                   "unexpected token: x",
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
	for _, secret := range []string{"hunter2", "behind", "sw%40rdfish", "sw@rdfish", "open sesame"} {
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

// FuzzText: whatever surrounds a secret, it is not in what comes out.
func FuzzText(f *testing.F) {
	f.Add("error: ", "hunter2", " is no password")
	f.Add("http://u:", "p@ss", "@host")
	f.Add("**", "****", "*")
	f.Fuzz(func(t *testing.T, before, value, after string) {
		if len(value) < shortest || strings.Contains(value, "*") {
			t.Skip() // within words, and from stars, it cannot be told
		}
		r := New()
		r.Add(value)
		if got := r.Text(before + value + after); strings.Contains(got, value) {
			t.Errorf("%q is in %q", value, got)
		}
	})
}
