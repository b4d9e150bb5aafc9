package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/puppet"
)

func TestMain(m *testing.M) { puppet.Main(m) }

// exists is a Ready for puppets that write a file.
func exists(file string) func(context.Context) error {
	return func(context.Context) error {
		_, err := os.Stat(file)
		return err
	}
}

// start starts a puppet that says in dir/ready when it is ready, and sees that
// nothing is left of it.
func start(t *testing.T, dir string, c Command, steps ...string) *Process {
	t.Helper()
	ready := filepath.Join(dir, "ready")
	c.Env = append(c.Env, puppet.Env()...)
	c.Path, c.Args, c.Ready = puppet.Program(t), puppet.Args(append(steps, "pid:"+ready, "wait:")...), exists(ready)
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// checkGone fails the test if one of the processes still runs.
func checkGone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if _, err := Lookup(context.Background(), pid); err == nil {
			t.Errorf("process %d still runs", pid)
		}
	}
}

func TestStopEndsChildrenToo(t *testing.T) {
	dir := t.TempDir()
	child := filepath.Join(dir, "child")
	p := start(t, dir, Command{Grace: 30 * time.Second}, "fork:pid:"+child+"|wait:")
	pids := []int{p.PID(), puppet.Number(t, child)}
	if !p.Running(t.Context()) {
		t.Error("it does not run")
	}
	begin := time.Now()
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkGone(t, pids...)
	if p.Running(t.Context()) {
		t.Error("it still counts as running")
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %s: the grace was waited for although all heeded the signal", took)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Errorf("stopped a second time: %v", err)
	}
}

// The program runs only once its process was noted.
func TestNote(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		dir := t.TempDir()
		ran := filepath.Join(dir, "ran")
		var noted Info
		var all Children
		p, err := Start(t.Context(), Command{
			Path: puppet.Program(t), Args: puppet.Args("pid:"+ran, "wait:"), Env: puppet.Env(), Ready: exists(ran), Among: &all,
			Note: func(info Info) error {
				noted = info
				time.Sleep(100 * time.Millisecond)
				if _, err := os.Stat(ran); err == nil {
					t.Error("the program ran before its process was noted")
				}
				if refuse {
					return errors.New("the disk is full")
				}
				return nil
			},
		})
		if refuse {
			if err == nil || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("the error is %v", err)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("the program ran although its process could not be noted")
			}
			checkGone(t, noted.PID)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		now, err := Lookup(t.Context(), puppet.Number(t, ran))
		if err != nil || now.PID != noted.PID || now.Started != noted.Started || p.PID() != noted.PID {
			t.Errorf("noted %+v, runs %+v: %v", noted, now, err)
		}
		all.Kill()
		<-p.ended
		checkGone(t, noted.PID)
		all.Kill() // of nobody
	}
}

func TestStopKillsTheDeaf(t *testing.T) {
	dir := t.TempDir()
	child := filepath.Join(dir, "child")
	p := start(t, dir, Command{Grace: 300 * time.Millisecond}, "fork:deaf:|pid:"+child+"|wait:", "deaf:")
	pids := []int{p.PID(), puppet.Number(t, child)}
	begin := time.Now()
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 300*time.Millisecond {
		t.Errorf("killed after %s, before the grace was over", took)
	}
	checkGone(t, pids...)
}

func TestStopWithoutPatience(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, Command{Grace: time.Minute}, "deaf:")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if err := p.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	checkGone(t, p.PID())
}

func TestKillOfAFoundServer(t *testing.T) {
	dir := t.TempDir()
	child, port := filepath.Join(dir, "child"), filepath.Join(dir, "port")
	p := start(t, dir, Command{}, "fork:pid:"+child+"|wait:", "listen:"+port)
	childPID := puppet.Number(t, child)
	pids, err := ByPort(t.Context(), puppet.Number(t, port))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(pids, []int{p.PID()}) {
		t.Fatalf("found %v by port, want %d", pids, p.PID())
	}
	found, err := Attach(t.Context(), pids[0])
	if err != nil {
		t.Fatal(err)
	}
	if !found.Running(t.Context()) {
		t.Error("found, and does not run")
	}
	if err := found.Kill(); err != nil {
		t.Fatal(err)
	}
	checkGone(t, p.PID(), childPID)
	if found.Running(t.Context()) {
		t.Error("killed, and counts as running")
	}
}

// A server that was stopped is started again, and its log goes on.
func TestStartAgain(t *testing.T) {
	dir := t.TempDir()
	command := Command{Log: filepath.Join(dir, "log")}
	first := start(t, dir, command, "print:hello")
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := start(t, dir, command, "print:hello")
	checkGone(t, first.PID())
	if !second.Running(t.Context()) || second.PID() == first.PID() {
		t.Error("it was not started again")
	}
	// Its first file still lay there, so it may not have printed yet.
	log := ""
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit) && log != "hello\nhello\n"; time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(dir, "log"))
		log = string(text)
	}
	if log != "hello\nhello\n" {
		t.Errorf("log %q: it should hold both starts", log)
	}
}

func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	never := errors.New("connection refused")
	refuse := func(context.Context) error { return never }
	// Before: what an earlier start left must not be shown.
	if err := os.WriteFile(log, []byte("an older problem\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := []string{"PGPASSWORD=tr0ub4dor", "MODE=fast"}
	for name, c := range map[string]struct {
		command Command
		steps   []string
		want    []string
	}{
		"ends": {
			Command{Ready: refuse, Log: log, Env: secret},
			[]string{"print:password $PGPASSWORD mode $MODE", "exit:3"},
			[]string{"did not start", "exit status 3", "password *** mode fast", log},
		},
		"late": {
			Command{Ready: refuse, Log: log, Within: 3 * time.Second},
			[]string{"print:recovering", "wait:"},
			[]string{"not ready within 3s", "connection refused", "recovering"},
		},
		"silent": {
			Command{Ready: refuse, Log: log, Within: 100 * time.Millisecond},
			[]string{"wait:"},
			[]string{"wrote nothing to " + log},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.command.Path, c.command.Args = puppet.Program(t), puppet.Args(c.steps...)
			_, err := Start(t.Context(), c.command)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			for _, never := range []string{"tr0ub4dor", "an older problem"} {
				if strings.Contains(err.Error(), never) {
					t.Errorf("%q shows %q", err, never)
				}
			}
			if name == "late" && !errors.Is(err, never) {
				t.Errorf("%q does not wrap what the probe said", err)
			}
		})
	}
	if _, err := Start(t.Context(), Command{Path: filepath.Join(dir, "not-there")}); err == nil || !strings.Contains(err.Error(), "cannot start not-there") {
		t.Errorf("a program that does not exist: %v", err)
	}
}

func TestStartIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	ctx, cancel := context.WithCancel(t.Context())
	ready := func(context.Context) error {
		if exists(pid)(ctx) == nil {
			cancel()
		}
		return errors.New("not yet")
	}
	_, err := Start(ctx, Command{Path: puppet.Program(t), Args: puppet.Args("pid:"+pid, "wait:"), Ready: ready})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	checkGone(t, puppet.Number(t, pid))
}

func TestEnvironmentIsClean(t *testing.T) {
	t.Setenv("CLIENT_TOKEN", "of the client")
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	start(t, dir, Command{Log: log, Dir: dir, Env: []string{"OWN=of the server"}}, "print:<$CLIENT_TOKEN> <$OWN> <$PWD>")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); !strings.HasPrefix(got, "<> <of the server> ") {
		t.Errorf("it saw %q", got)
	}
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	var all strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&all, "line %d with hunter2\n", i)
	}
	if err := os.WriteFile(file, []byte(all.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := tail(Command{Log: file, Env: []string{"API_KEY=hunter", "DB_PASS=hunter2"}}, 10)
	lines := strings.Split(got, "\n")
	if len(lines) != 1+tailLines || lines[len(lines)-1] != "  line 999 with ***" || lines[1] != "  line 980 with ***" {
		t.Errorf("%d lines: %q", len(lines), got)
	}
}

func TestByPortOfNothing(t *testing.T) {
	if pids, err := ByPort(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "nothing listens on port 1") {
		t.Errorf("found %v, %v", pids, err)
	}
}
