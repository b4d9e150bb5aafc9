//go:build !light

package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/driver/serve"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// tryExternal executes a command line on external targets, and returns all that it says.
func tryExternal(t *testing.T, patience time.Duration, args ...string) (code int, said string) {
	t.Helper()
	programs := &external.Programs{Start: patience}
	known := testCatalog(tsbs.Workloads(), []driver.Driver{programs.Driver()})
	known.Programs = programs
	var stdout, stderr bytes.Buffer
	code = execute(t.Context(), append([]string{"tsmark"}, args...), &stdout, &stderr, known)
	return code, stdout.String() + stderr.String()
}

// A driver that does not answer at its endpoint is a target that could not be reached.
func TestUnreachableEndpoint(t *testing.T) {
	endpoint := fmt.Sprintf("external,endpoint=grpc://127.0.0.1:%d", fault.FreePort(t))
	for _, args := range [][]string{{"run", "--target", endpoint}, {"load", endpoint}, {"check", endpoint}, {"conformance", endpoint}} {
		code, said := tryExternal(t, 300*time.Millisecond, append(args, "--results", t.TempDir())...)
		if code != app.ExitTarget || !strings.Contains(said, "cannot be reached: no answer within 300ms") || !strings.Contains(said, "is it running there?") {
			t.Errorf("%s: exit status %d, said %s", args[0], code, said)
		}
	}
}

// A driver that runs already is used with its token alone, and a run with its secret option is resumed. Neither secret
// is told, though the driver tells its option at every step.
func TestExternalSecrets(t *testing.T) {
	step := "write"
	d := sqlite.Driver()
	d.Name, d.Options = "leaky", append(d.Options, driver.Option{Name: "password", Secret: true})
	open := d.Open
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		if o["password"] != plantedPassword {
			return driver.DB{}, fmt.Errorf("password %q is wrong", o["password"])
		}
		db, err := open(ctx, env, o)
		if err == nil {
			db.Required = &leak{db.Required, o["password"], step}
		}
		return db, err
	}
	folder := t.TempDir()
	secretFile := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	right := secretFile("right", plantedToken)
	address := fmt.Sprintf("grpc://127.0.0.1:%d", fault.FreePort(t))
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve.Serve(ctx, d, address, right, nil) }()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	dir := t.TempDir()
	run := func(more string) (int, string) {
		return tryExternal(t, 0, "run", "--verbose", "--results", dir, "--scale", "40", "--log-interval", "10m", "--queries", "2", "--verify", "1",
			"--query-type", "lastpoint", "--target", "leak=external,endpoint="+address+",password="+plantedPassword+more)
	}
	for name, more := range map[string]string{"missing": "", "wrong": ",token_file=" + secretFile("wrong", "x"+plantedToken)} {
		code, said := run(more)
		if code != app.ExitUsage || strings.Count(said, "\n") != 1 || !strings.Contains(said, "it refuses the token (the token is missing or wrong); give token_file=FILE") {
			t.Errorf("%s token: exit status %d, said %s", name, code, said)
		}
		clean(t, name+" token", said)
	}
	check := func(said string) {
		t.Helper()
		clean(t, "the command", said)
		checkFiles(t, dir)
		for _, format := range write.Formats() {
			_, said := tryExternal(t, 0, "report", "--results", dir, "--format", format)
			clean(t, format, said)
		}
	}
	code, said := run(",token_file=" + right)
	if code != app.ExitTarget || !strings.Contains(said, "cannot log in: ***") {
		t.Fatalf("exit status %d\n%s", code, said)
	}
	check(said)
	step = "nowhere"
	if code, said := tryExternal(t, 0, "resume", "--results", dir); code != app.ExitUsage || !strings.Contains(said, "set the environment variable TSMARK_LEAK_PASSWORD to it") {
		t.Errorf("without the password: exit status %d, said %s", code, said)
	}
	t.Setenv("TSMARK_LEAK_PASSWORD", plantedPassword)
	code, said = tryExternal(t, 0, "resume", "--results", dir)
	if code != app.ExitDone {
		t.Errorf("exit status %d, said %s", code, said)
	}
	check(said)
}
