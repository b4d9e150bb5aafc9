package launch

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/puppet"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

// startsIn names the folder in which the test binary, acting as a tsmark to be killed, starts a
// server that waits for a file before it is ready.
const startsIn = "TSMARK_TEST_STARTS_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(startsIn); dir != "" && len(os.Args) == 1 {
		if os.Unsetenv(startsIn) == nil {
			_, _ = NewServers(nil, nil).Switch(context.Background(), slowly("slow"), driver.Env{Dir: dir, Create: true})
		}
		os.Exit(7)
	}
	puppet.Main(m)
}

// newDriver returns a driver whose server only has to listen.
func newDriver() driver.Driver {
	kind := driver.Driver{Name: "served", Options: []driver.Option{{Name: "host"}, {Name: "port"}}}
	kind.Open = func(ctx context.Context, _ driver.Env, o driver.Options) (driver.DB, error) {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(o["host"], o["port"]))
		if err != nil {
			return driver.DB{}, fmt.Errorf("%w: %w", driver.ErrUnreachable, err)
		}
		return driver.DB{Required: closing{conn: c}}, nil
	}
	return kind
}

type closing struct {
	driver.Required
	conn net.Conn
}

func (c closing) Close() error { return c.conn.Close() }

// listener is a target whose server is a puppet that writes its process ID to {dir}/pid.
func listener(t *testing.T, name, idle string) *plan.Target {
	t.Helper()
	return puppetServer(puppet.Program(t), name, idle, "pid:{dir}/pid", "serve:{port}", "wait:")
}

// slowly is a listener that is not ready before the file {dir}/go exists.
func slowly(name string) *plan.Target {
	return puppetServer(os.Args[0], name, experiment.IdlePause, "pid:{dir}/pid", "await:{dir}/go", "serve:{port}", "wait:")
}

func puppetServer(program, name, idle string, steps ...string) *plan.Target {
	line := strings.Join(append([]string{plan.ShellQuote(program)}, puppet.Args(steps...)...), " ")
	return &plan.Target{Name: name, Driver: newDriver(), Options: driver.Options{}, Start: line, Idle: idle}
}

// status returns the state of a process in Linux's terms; empty: it is gone.
func status(t *testing.T, pid int) string {
	t.Helper()
	p, err := gopsutil.NewProcessWithContext(t.Context(), int32(pid))
	if err != nil {
		return ""
	}
	s, err := p.StatusWithContext(t.Context())
	if err != nil {
		return ""
	}
	return s[0]
}

// A failed installation says why, in one line.
func TestInstall(t *testing.T) {
	for script, want := range map[string]string{
		"": "", "true": "", "sh -c 'echo a; printf \"\\033[0m[ERROR] b\\n\"; echo c; exit 1'": "installing the server: [ERROR] b", "sh -c 'echo a; echo c; exit 1'": "installing the server: c", "false": "installing the server: exit status 1",
	} {
		if err := Install(t.Context(), &plan.Target{Script: script}, nil); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
	}
}

// A server of tsmark's own script is ready when the script says so, and not only when it accepts
// connections.
func TestReadyByScript(t *testing.T) {
	dir := t.TempDir()
	target := listener(t, "db", experiment.IdleRun)
	target.Script = `sh -c 'echo "$*" >>` + filepath.Join(dir, "calls") + `; [ "$(wc -l <` + filepath.Join(dir, "calls") + `)" -gt 2 ]' script`
	all := NewServers(nil, nil)
	defer all.Leave(context.Background())
	here, err := all.Switch(t.Context(), target, driver.Env{Dir: filepath.Join(dir, "db"), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "calls"))
	if want := "ready " + filesOf(filepath.Join(dir, "db")) + " " + here.Options["port"] + "\n"; err != nil || string(text) != strings.Repeat(want, 3) {
		t.Errorf("calls %q, %v, want %q three times", text, err, want)
	}
}

func TestServersAlternate(t *testing.T) {
	dir := t.TempDir()
	all := NewServers(nil, nil)
	defer all.Leave(context.Background())
	switchTo := func(p *plan.Target) int {
		t.Helper()
		env := driver.Env{Dir: filepath.Join(dir, p.Name), Create: true}
		here, err := all.Switch(t.Context(), p, env)
		if err != nil {
			t.Fatal(err)
		}
		if p.Start == "" {
			return 0
		}
		if err := checkAnswers(t.Context(), p.Driver, env, here.Options); err != nil {
			t.Fatalf("%s does not answer in its turn: %v", p.Name, err)
		}
		return puppet.Number(t, filepath.Join(filesOf(env.Dir), "pid"))
	}
	expect := func(pid int, want string) {
		t.Helper()
		if got := status(t, pid); want == "stop" && got != "stop" || want == "runs" && (got == "" || got == "stop") || want == "" && got != "" {
			t.Errorf("process %d: %q, want %q", pid, got, want)
		}
	}
	paused, stopped, runs := listener(t, "paused", experiment.IdlePause), listener(t, "stopped", experiment.IdleStop), listener(t, "runs", experiment.IdleRun)
	first := switchTo(paused)
	expect(first, "runs")
	second := switchTo(stopped)
	expect(first, "stop")
	expect(second, "runs")
	third := switchTo(runs)
	expect(first, "stop")
	expect(second, "")
	switchTo(&plan.Target{Name: "embedded"})
	expect(first, "stop")
	expect(third, "runs")
	if again := switchTo(paused); again != first {
		t.Errorf("a paused server was started again: %d after %d", again, first)
	}
	expect(first, "runs")
	expect(third, "runs")
	if again := switchTo(stopped); again == second {
		t.Error("a stopped server was not started again")
	}
	if err := all.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(first, "")
	expect(third, "")
}

// The PID file identifies a server that a killed tsmark left behind.
func TestServersOfAnEarlierTsmark(t *testing.T) {
	env := driver.Env{Dir: t.TempDir(), Create: true}
	planned := listener(t, "left", experiment.IdlePause)
	before := NewServers(nil, nil)
	if _, err := before.Switch(t.Context(), planned, env); err != nil {
		t.Fatal(err)
	}
	defer before.Leave(context.Background())
	left := before.Own["left"].running
	if err := left.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := NewServers(nil, nil)
	defer after.Leave(context.Background())
	if _, err := after.Switch(t.Context(), planned, env); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); left.Running(t.Context()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server of the earlier tsmark still runs") // it was killed, and may at most be waiting for its parent
		}
	}
	if err := after.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A process that only has the same ID is not stopped.
	if err := os.WriteFile(filepath.Join(env.Dir, pidFile), fmt.Appendf(nil, "%d\n1\n", os.Getpid()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := stopLeftOver(t.Context(), filepath.Join(env.Dir, pidFile)); err != nil {
		t.Error(err)
	}
}

// A tsmark that is killed while its server starts has already written the PID file.
func TestServerOfATsmarkKilledMeanwhile(t *testing.T) {
	env := driver.Env{Dir: t.TempDir(), Create: true}
	tsmark := exec.Command(puppet.Program(t))
	tsmark.Env = append(os.Environ(), startsIn+"="+env.Dir)
	if err := tsmark.Start(); err != nil {
		t.Fatal(err)
	}
	pid := puppet.Number(t, filepath.Join(filesOf(env.Dir), "pid"))
	if err := tsmark.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = tsmark.Wait() // killed
	if status(t, pid) == "" {
		t.Fatal("the server ended with the tsmark that started it: nothing is tested")
	}
	if err := os.WriteFile(filepath.Join(filesOf(env.Dir), "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	after := NewServers(nil, nil)
	defer after.Leave(context.Background())
	if _, err := after.Switch(t.Context(), slowly("slow"), env); err != nil {
		t.Fatal(err)
	}
	if state := status(t, pid); state != "" && state != "zombie" {
		t.Errorf("the server that the killed tsmark was starting still runs, as process %d: %s", pid, state)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if now := puppet.Number(t, filepath.Join(filesOf(env.Dir), "pid")); now == pid {
		t.Error("no server was started again")
	}
}

// A server for the whole sweep serves all of its runs, and is stopped after the last.
func TestSweepServers(t *testing.T) {
	dir := t.TempDir()
	sweep := NewPool(filepath.Join(dir, "sweep"))
	defer sweep.Stop(context.Background())
	pidOf := func(dir string) int { return puppet.Number(t, filepath.Join(filesOf(dir), "pid")) }
	shared, other := listener(t, "shared", experiment.IdlePause), listener(t, "other", experiment.IdlePause)
	shared.StartFor, other.StartFor = experiment.ForSweep, experiment.ForRun
	folder := "shared"
	run := func(name string, option string) (pid, otherPid int) {
		t.Helper()
		here := NewServers(nil, sweep)
		env := func(p *plan.Target) driver.Env {
			return driver.Env{Dir: filepath.Join(dir, name, p.Name), Create: true}
		}
		shared.Options = driver.Options{"option": option}
		found, err := here.Switch(t.Context(), shared, env(shared))
		if err != nil {
			t.Fatal(err)
		}
		if found.Options["option"] != option || found.Options["port"] == "" {
			t.Errorf("options %v", found.Options)
		}
		pid = pidOf(filepath.Join(sweep.dir, folder))
		if _, err := here.Switch(t.Context(), other, env(other)); err != nil {
			t.Fatal(err)
		}
		if got := status(t, pid); got != "stop" {
			t.Errorf("the sweep's server is in state %q while another target has its turn", got)
		}
		otherPid = pidOf(env(other).Dir)
		if here.ServerOf(shared) == nil || here.ServerOf(other) == nil {
			t.Error("the server of a target is not found")
		}
		if _, err := here.Switch(t.Context(), shared, env(shared)); err != nil {
			t.Fatal(err)
		}
		if err := here.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := status(t, pid); got != "stop" {
			t.Errorf("the sweep's server is in state %q after a run", got)
		}
		if got := status(t, otherPid); got != "" {
			t.Errorf("a run's own server is in state %q after it", got)
		}
		return pid, otherPid
	}
	first, own := run("one", "1")
	if second, otherOwn := run("two", "2"); second != first || otherOwn == own {
		t.Errorf("servers %d and %d after %d and %d: one is for the sweep, the other for a run", second, otherOwn, first, own)
	}
	shared.Start += " # as another point has it"
	folder = "shared-2"
	third, _ := run("three", "2")
	if third == first || status(t, first) != "" {
		t.Error("a server that is to be started otherwise still runs")
	}
	if process.CanLimitMemory() == nil {
		shared.Memory, folder = 256<<20, "shared-3"
		fourth, _ := run("four", "2")
		if fourth == third || status(t, third) != "" {
			t.Error("a server that is to have less memory still runs with all")
		}
		third = fourth
	}
	if err := sweep.Stop(t.Context()); err != nil || status(t, third) != "" {
		t.Errorf("after the sweep its server runs: %v", err)
	}
	for _, folder := range []string{"shared", "shared-2", folder} {
		if HasData(filepath.Join(sweep.dir, folder)) {
			t.Errorf("the data of %s stays", folder)
		}
		if _, err := os.Stat(filepath.Join(sweep.dir, folder, "server.log")); err != nil {
			t.Error(err)
		}
	}
}

// The data of a server goes with its run if the server has stopped and its folder was made for it.
func TestRemoveData(t *testing.T) {
	planned := listener(t, "own", experiment.IdlePause)
	for _, before := range []bool{false, true} {
		env := driver.Env{Dir: t.TempDir(), Create: true}
		if before {
			if err := os.MkdirAll(filesOf(env.Dir), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		all := NewServers(nil, nil)
		defer all.Leave(context.Background())
		if _, err := all.Switch(t.Context(), planned, env); err != nil {
			t.Fatal(err)
		}
		RemoveData(all.Own)
		if !HasData(env.Dir) {
			t.Error("the data of a running server is removed")
		}
		if err := all.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		RemoveData(all.Own)
		if HasData(env.Dir) != before {
			t.Errorf("folder made before: %v; its data is there: %v", before, !before)
		}
		if _, err := os.Stat(filepath.Join(env.Dir, "server.log")); err != nil {
			t.Error(err)
		}
	}
}

// The files of an earlier sweep's server are not reused; a server that a killed tsmark left running
// there is stopped, and its data removed.
func TestSweepServersOfAnEarlierTsmark(t *testing.T) {
	dir := t.TempDir()
	shared := listener(t, "shared", experiment.IdlePause)
	shared.StartFor = experiment.ForSweep
	begin := func(folder string) (pid int) {
		t.Helper()
		sweep := NewPool(dir)
		t.Cleanup(func() { _ = sweep.Stop(context.Background()) }) // it belongs to a killed tsmark
		if _, err := NewServers(nil, sweep).Switch(t.Context(), shared, driver.Env{Create: true}); err != nil {
			t.Fatal(err)
		}
		return puppet.Number(t, filepath.Join(filesOf(filepath.Join(dir, folder)), "pid"))
	}
	left := begin("shared")
	begin("shared-2")
	if state := status(t, left); state != "" && state != "zombie" {
		t.Errorf("the server of the killed tsmark is in state %q", state)
	}
	if HasData(filepath.Join(dir, "shared")) {
		t.Error("the data of the killed tsmark's server stays")
	}
	begin("shared-3")
}

func TestServerThatDoesNotStart(t *testing.T) {
	all := NewServers(nil, nil)
	env := driver.Env{Dir: t.TempDir(), Create: true}
	_, err := all.Switch(t.Context(), &plan.Target{Name: "bad", Driver: newDriver(), Options: driver.Options{}, Start: "sh -c 'echo no disk today; exit 3' {port}"}, env)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no disk today") {
		t.Errorf("the error does not say why: %v", err)
	}
	RemoveFolders(all.Own)
	if _, err := os.Stat(env.Dir); err == nil {
		t.Error("the folder of a discarded run is still there")
	}
}

// A server is started again when its settings change, and finds those of today alone.
func TestSettings(t *testing.T) {
	all, env := NewServers(nil, nil), driver.Env{Dir: t.TempDir(), Create: true}
	defer all.Leave(context.Background())
	last := 0
	for _, c := range []struct {
		settings map[string]string
		file     string
		again    bool
	}{
		{map[string]string{"b": "2", "a": "1 x"}, "a=1 x\nb=2\n", true},
		{map[string]string{"a": "1 x", "b": "2"}, "a=1 x\nb=2\n", false},
		{map[string]string{"a": "2"}, "a=2\n", true},
		{nil, "", true},
	} {
		target := listener(t, "set", experiment.IdleRun)
		target.Server = c.settings
		if _, err := all.Switch(t.Context(), target, env); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(filepath.Join(filesOf(env.Dir), "settings")) // "": no file
		pid := puppet.Number(t, filepath.Join(filesOf(env.Dir), "pid"))
		if string(text) != c.file || (pid != last) != c.again {
			t.Errorf("%v: the script finds %q, want %q; started again: %v", c.settings, text, c.file, pid != last)
		}
		last = pid
	}
}

// A server of tsmark's own scripts is stopped by the signal that its driver names.
func TestStopSignal(t *testing.T) {
	target := puppetServer(puppet.Program(t), "stubborn", experiment.IdleStop, "deaf:", "serve:{port}", "wait:")
	target.Driver.StopSignal, target.Script = os.Interrupt, "true"
	s := NewServers(nil, nil)
	if _, err := s.Switch(t.Context(), target, driver.Env{Dir: t.TempDir(), Create: true}); err != nil {
		t.Fatal(err)
	}
	patient, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.ServerOf(target).Stop(patient); err != nil || patient.Err() != nil {
		t.Errorf("it was not stopped by the signal: %v, %v", err, patient.Err())
	}
}
