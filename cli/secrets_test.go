package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The secrets that are planted.
const (
	plantedPassword = "tr0ub4dor&3"
	plantedInURL    = "sw0rdfish"
	plantedToken    = "correct-horse"
)

// leaky is a driver that leaks its secrets wherever it can. At the
// step it fails, with all of them in the error.
func leaky(failsAt *string) driver.Driver {
	kind := memory.Driver("leaky")
	kind.Options = []driver.Option{
		{Name: "password", Secret: true, Type: option.CheckedBy("text", func(v string) error {
			if v == "bad"+plantedPassword {
				return fmt.Errorf("must not be %s", v)
			}
			return nil
		})},
		{Name: "token", Secret: true},
		{Name: "url"},
		{Name: "user"},
	}
	open := kind.Open
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		t, err := open(ctx, env, o)
		l := &leak{Required: t, failsAt: *failsAt, said: fmt.Sprintf("%s %q %s %s as %s", o["password"], o["password"], o["token"], o["url"], o["user"])}
		if err == nil {
			err = l.failAt("open")
		}
		return driver.DB{Required: l}, err
	}
	return kind
}

type leak struct {
	driver.Required
	said, failsAt string
}

func (l *leak) failAt(step string) error {
	if step == l.failsAt {
		return fmt.Errorf("cannot log in: %s", l.said)
	}
	return nil
}

func (l *leak) Describe(context.Context) (driver.Description, error) {
	return driver.Description{Version: "1 " + l.said, Edition: l.said, Location: l.said, Durability: l.said,
		Settings: map[string]string{"everything": l.said}}, l.failAt("describe")
}

func (l *leak) Census(ctx context.Context, table *series.Table) (driver.Census, error) {
	if err := l.failAt("census"); err != nil {
		return driver.Census{}, err
	}
	return l.Required.Census(ctx, table)
}

func (l *leak) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	if err := l.failAt("write"); err != nil {
		return nil, err
	}
	return l.Required.NewWriter(ctx, worker)
}

func (l *leak) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	if err := l.failAt("query"); err != nil {
		return nil, err
	}
	q, err := l.Required.NewQuerier(ctx, worker)
	return &leakyQuerier{q, l}, err
}

type leakyQuerier struct {
	driver.Querier
	leak *leak
}

func (q *leakyQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if q.leak.failsAt == "unsupported" {
		return driver.Cost{}, fmt.Errorf("%w: %s", query.ErrUnsupported, q.leak.said)
	}
	if err := q.leak.failAt("answer"); err != nil {
		return driver.Cost{}, err
	}
	return q.Querier.Do(ctx, r, sink)
}

// leakyArgs is a small run with a secret in an option, one in a URL, and one
// in the environment. The user's name is not a secret, though it is in a URL.
func leakyArgs(dir string, more ...string) []string {
	return append([]string{"tsmark", "run", "--verbose", "--results", dir, "--scale", "40", "--log-interval", "10m", "--queries", "2", "--verify", "1",
		"--query-type", "single-groupby-1-1-1,lastpoint",
		"--target", "leak=leaky,user=ann,password=" + plantedPassword + ",url=postgres://ann:" + plantedInURL + "@db.example:5432/x"}, more...)
}

// try executes a command line on a leaky target, and returns all that it says.
func try(t *testing.T, kind driver.Driver, args ...string) (code int, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = execute(t.Context(), args, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{kind}))
	return code, stdout.String() + stderr.String()
}

// clean fails the test if a text has a planted secret, in any form.
func clean(t *testing.T, where, text string) {
	t.Helper()
	for _, s := range []string{plantedPassword, plantedInURL, plantedToken, `tr0ub4dor\u00263`, "tr0ub4dor%263", "tr0ub4dor&amp;3", "tr0ub4dor"} {
		if at := strings.Index(text, s); at >= 0 {
			t.Errorf("%s tells %q: …%s…", where, s, text[max(0, at-80):min(len(text), at+80)])
		}
	}
}

// TestSecrets plants secrets, lets the target leak them at every step, and
// looks for them in all output and files.
func TestSecrets(t *testing.T) {
	t.Setenv("TSMARK_LEAK_TOKEN", plantedToken)
	for _, step := range []string{"nowhere", "open", "describe", "write", "census", "query", "answer", "unsupported"} {
		t.Run(step, func(t *testing.T) {
			dir, kind := t.TempDir(), leaky(&step)
			code, said := try(t, kind, leakyArgs(dir)...)
			if step == "nowhere" && code != app.ExitDone {
				t.Fatalf("exit status %d\n%s", code, said)
			}
			if step != "unsupported" && !strings.Contains(said, "***") {
				t.Errorf("nothing was blotted out, so the test shows nothing:\n%s", said)
			}
			clean(t, "the run", said)
			if _, list := try(t, kind, "tsmark", "runs", "--results", dir); !strings.Contains(list, "leak") {
				return // nothing was kept: the target could not be opened
			}
			for _, format := range write.Formats() {
				_, said := try(t, kind, "tsmark", "report", "--results", dir, "--format", format)
				clean(t, format, said)
			}
			exported := filepath.Join(t.TempDir(), "run.json")
			if code, said := try(t, kind, "tsmark", "export", "--results", dir, "--output", exported); code != app.ExitDone {
				t.Errorf("exit status %d, said %s", code, said)
			}
			made := filepath.Join(t.TempDir(), "site")
			if code, said := try(t, kind, "tsmark", "site", exported, dir, "--output", made); code != app.ExitDone {
				t.Errorf("exit status %d, said %s", code, said)
			}
			private(t, made, dir)
			checkFiles(t, made)
			checkFiles(t, filepath.Dir(exported))
			checkFiles(t, dir)
		})
	}
}

// private looks for the path of a folder in all files of another one.
func private(t *testing.T, in, path string) {
	t.Helper()
	err := filepath.WalkDir(in, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if at := strings.Index(string(text), path); at >= 0 {
			t.Errorf("%s tells a path of this machine: …%s…", name, text[max(0, at-80):min(len(text), at+80)])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// checkFiles looks for secrets in all files of a folder.
func checkFiles(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		clean(t, path, string(data))
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files: %v", files, err)
	}
}

// Errors in a command line are reported without its secrets.
func TestSecretsInUsageErrors(t *testing.T) {
	for name, spec := range map[string]string{
		"another option":   "leaky,path=x,password=" + plantedPassword,
		"a misspelled one": "leaky,pasword=" + plantedPassword,
		"a rejected value": "leaky,password=bad" + plantedPassword,
		"a comma":          "leaky,password=tr0ub4dor," + plantedPassword,
		"no kind":          "nothing,password=" + plantedPassword,
		"no name":          "=leaky,url=http://ann:" + plantedInURL + "@h",
	} {
		t.Run(name, func(t *testing.T) {
			code, said := try(t, leaky(new(string)), "tsmark", "run", "--verbose", "--results", t.TempDir(), "--target", spec)
			if code != app.ExitUsage || strings.Count(said, "\n") != 1 {
				t.Errorf("exit status %d, said %s", code, said)
			}
			clean(t, "the error", said)
		})
	}
}

// The stored experiment runs again, and a run is resumed, if the
// environment has the secrets; otherwise one line names the missing ones.
func TestSecretsAreReadAgain(t *testing.T) {
	t.Setenv("TSMARK_LEAK_TOKEN", plantedToken)
	step := "query"
	dir, kind := t.TempDir(), leaky(&step)
	_, printed := try(t, kind, leakyArgs(dir, "--print")...)
	clean(t, "--print", printed)
	for _, want := range []string{`password: "***"`, `token: "***"`, `user: ann`, `postgres://ann:***@db.example:5432/x`} {
		if !strings.Contains(printed, want) {
			t.Errorf("--print does not say %s:\n%s", want, printed)
		}
	}
	if code, said := try(t, kind, leakyArgs(dir)...); code != app.ExitTarget {
		t.Fatalf("exit status %d\n%s", code, said)
	}
	step = "nowhere"
	code, said := try(t, kind, "tsmark", "resume", "--results", dir)
	if code != app.ExitUsage || !strings.Contains(said, "set the environment variable TSMARK_LEAK_PASSWORD to it") {
		t.Errorf("exit status %d, said %s", code, said)
	}
	t.Setenv("TSMARK_LEAK_PASSWORD", plantedPassword)
	t.Setenv("TSMARK_LEAK_URL", "postgres://ann:"+plantedInURL+"@db.example:5432/x")
	if code, said = try(t, kind, "tsmark", "resume", "--results", dir); code != app.ExitDone {
		t.Errorf("exit status %d, said %s", code, said)
	}
	clean(t, "the resumed run", said)
	checkFiles(t, dir)
}

// Commands and addresses of an experiment may have secrets in them too.
func TestSecretsInSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "e.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("queries: {cache: cold}\ntargets:\n  - driver: leaky\n    exporter: http://ann:" + plantedInURL + "@h:9100/metrics\n" +
		"    restart: ADMIN_PASSWORD=" + plantedToken + " pg_ctl restart\n")
	code, printed := try(t, leaky(new(string)), "tsmark", "run", file, "--print")
	if code != app.ExitDone || !strings.Contains(printed, "http://ann:***@h:9100/metrics") || !strings.Contains(printed, "ADMIN_PASSWORD=*** pg_ctl restart") {
		t.Fatalf("exit status %d, said %s", code, printed)
	}
	clean(t, "--print", printed)
	write(printed)
	code, said := try(t, leaky(new(string)), "tsmark", "run", file, "--print")
	if code != app.ExitUsage || !strings.Contains(said, "exporter is secret and was not stored; set the environment variable TSMARK_LEAKY_EXPORTER to it") {
		t.Errorf("exit status %d, said %s", code, said)
	}
	t.Setenv("TSMARK_LEAKY_EXPORTER", "http://ann:"+plantedInURL+"@h:9100/metrics")
	t.Setenv("TSMARK_LEAKY_RESTART", "ADMIN_PASSWORD="+plantedToken+" pg_ctl restart")
	if code, again := try(t, leaky(new(string)), "tsmark", "run", file, "--print"); code != app.ExitDone || again != printed {
		t.Errorf("exit status %d, said %s", code, again)
	}
}

// A secret may come from a file, which is named instead of it.
func TestSecretsFromFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	if err := os.WriteFile(file, []byte(plantedPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	step := "query"
	kind := leaky(&step)
	results := filepath.Join(dir, "results")
	args := []string{"tsmark", "run", "--verbose", "--results", results, "--scale", "40", "--log-interval", "10m", "--queries", "2", "--verify", "1",
		"--query-type", "lastpoint", "--target", "leaky,password=@" + file}
	_, printed := try(t, kind, append(args, "--print")...)
	if !strings.Contains(printed, "password: \"@"+file+`"`) {
		t.Errorf("--print does not say where the password is:\n%s", printed)
	}
	code, said := try(t, kind, args...)
	if code != app.ExitTarget || !strings.Contains(said, "cannot log in: ***") {
		t.Errorf("the password was not read: exit status %d, said %s", code, said)
	}
	clean(t, "the run", said+printed)
	checkFiles(t, results)
	step = "nowhere"
	if code, said := try(t, kind, "tsmark", "resume", "--results", results); code != app.ExitDone {
		t.Errorf("exit status %d, said %s", code, said)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	code, said = try(t, kind, args...)
	if code != app.ExitUsage || strings.Count(said, "\n") != 1 || !strings.Contains(said, "cannot read the secret behind @ in ") {
		t.Errorf("exit status %d, said %s", code, said)
	}
}

// A password that is an ordinary word or number hides nothing but itself.
func TestOrdinaryPasswords(t *testing.T) {
	stars := func(password string) map[string]int {
		kind := memory.Driver("plain")
		kind.Options = []driver.Option{{Name: "password", Secret: true}}
		dir, count := t.TempDir(), make(map[string]int)
		code, said := try(t, kind, "tsmark", "run", "--verbose", "--results", dir, "--scale", "2", "--log-interval", "10m", "--queries", "2", "--verify", "1",
			"--query-type", "lastpoint", "--target", "p=plain,password="+password)
		if code != app.ExitDone {
			t.Fatalf("exit status %d\n%s", code, said)
		}
		count["run"] = strings.Count(said, "***")
		for _, format := range write.Formats() {
			if format == "png" {
				continue // any bytes
			}
			_, said := try(t, kind, "tsmark", "report", "--results", dir, "--format", format)
			count[format] = strings.Count(said, "***")
		}
		return count
	}
	want := stars(plantedPassword)
	for _, password := range []string{"is", "rows", "1", "verified"} {
		if got := stars(password); !maps.Equal(got, want) {
			t.Errorf("%s is hidden %v times, a password that is not a word %v times", password, got, want)
		}
	}
	for _, password := range []string{"is", "option"} {
		code, said := try(t, leaky(new(string)), "tsmark", "run", "--results", t.TempDir(), "--target", "leaky,path=x,password="+password)
		if want := "tsmark: --target leaky,path=x,password=***: leaky has no option \"path\"; known: password, token, url, user\n"; code != app.ExitUsage || said != want {
			t.Errorf("exit status %d, said %s", code, said)
		}
	}
}
