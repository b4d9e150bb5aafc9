package runner

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
)

// startsIn names the folder in which the test binary, played as a tsmark that is
// to be killed, starts a server that is not ready before a file lets it be.
const startsIn = "TSMARK_TEST_STARTS_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(startsIn); dir != "" && len(os.Args) == 1 {
		if os.Unsetenv(startsIn) == nil {
			_, _ = newServers(nil, nil).turn(context.Background(), slowly("slow"), driver.Env{Dir: dir, Create: true})
		}
		os.Exit(7)
	}
	puppet.Main(m)
}

// served is a kind whose server only has to listen.
func served() driver.Driver {
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

// listener is a target whose server is a puppet that writes its number to
// {dir}/pid.
func listener(t *testing.T, name, idle string) *plannedTarget {
	t.Helper()
	return puppetServer(puppet.Program(t), name, idle, "pid:{dir}/pid", "serve:{port}", "wait:")
}

// slowly is a listener that is not ready before the file {dir}/go is there.
func slowly(name string) *plannedTarget {
	return puppetServer(os.Args[0], name, experiment.IdlePause, "pid:{dir}/pid", "await:{dir}/go", "serve:{port}", "wait:")
}

func puppetServer(program, name, idle string, steps ...string) *plannedTarget {
	line := strings.Join(append([]string{shellQuoted(program)}, puppet.Args(steps...)...), " ")
	return &plannedTarget{name: name, driver: served(), options: driver.Options{}, start: line, idle: idle}
}

// status is the state of a process as Linux names it; empty: it is gone.
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

func TestServersTakeTurns(t *testing.T) {
	dir := t.TempDir()
	all := newServers(nil, nil)
	defer all.leave(context.Background())
	turn := func(p *plannedTarget) int {
		t.Helper()
		env := driver.Env{Dir: filepath.Join(dir, p.name), Create: true}
		here, err := all.turn(t.Context(), p, env)
		if err != nil {
			t.Fatal(err)
		}
		if p.start == "" {
			return 0
		}
		if err := answers(t.Context(), p.driver, env, here.options); err != nil {
			t.Fatalf("%s does not answer in its turn: %v", p.name, err)
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
	first := turn(paused)
	expect(first, "runs")
	second := turn(stopped)
	expect(first, "stop")
	expect(second, "runs")
	third := turn(runs)
	expect(first, "stop")
	expect(second, "")
	turn(&plannedTarget{name: "embedded"})
	expect(first, "stop")
	expect(third, "runs")
	if again := turn(paused); again != first {
		t.Errorf("a paused server was started again: %d after %d", again, first)
	}
	expect(first, "runs")
	expect(third, "runs")
	if again := turn(stopped); again == second {
		t.Error("a stopped server was not started again")
	}
	if err := all.leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(first, "")
	expect(third, "")
}

// A server that a killed tsmark left behind is found by its PID file.
func TestServersOfAnEarlierTsmark(t *testing.T) {
	env := driver.Env{Dir: t.TempDir(), Create: true}
	planned := listener(t, "left", experiment.IdlePause)
	before := newServers(nil, nil)
	if _, err := before.turn(t.Context(), planned, env); err != nil {
		t.Fatal(err)
	}
	defer before.leave(context.Background())
	left := before.of["left"].running
	if err := left.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := newServers(nil, nil)
	defer after.leave(context.Background())
	if _, err := after.turn(t.Context(), planned, env); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); left.Running(t.Context()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server of the earlier tsmark still runs") // it was killed, and waits to be noticed at most
		}
	}
	if err := after.leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A process that only has the number of one is let alone.
	if err := os.WriteFile(filepath.Join(env.Dir, pidFile), fmt.Appendf(nil, "%d\n1\n", os.Getpid()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := stopLeftOver(t.Context(), filepath.Join(env.Dir, pidFile)); err != nil {
		t.Error(err)
	}
}

// One that is killed while its server starts leaves a note of it all the same.
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
	after := newServers(nil, nil)
	defer after.leave(context.Background())
	if _, err := after.turn(t.Context(), slowly("slow"), env); err != nil {
		t.Fatal(err)
	}
	if state := status(t, pid); state != "" && state != "zombie" {
		t.Errorf("the server that the killed tsmark was starting still runs, as process %d: %s", pid, state)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if now := puppet.Number(t, filepath.Join(filesOf(env.Dir), "pid")); now == pid {
		t.Error("no server was started anew")
	}
}

// A server for the whole sweep is there for each of its runs, and ends after the last.
func TestStandingServers(t *testing.T) {
	dir := t.TempDir()
	sweep := NewStanding(filepath.Join(dir, "sweep"))
	defer sweep.Stop(context.Background())
	pidOf := func(dir string) int { return puppet.Number(t, filepath.Join(filesOf(dir), "pid")) }
	shared, other := listener(t, "shared", experiment.IdlePause), listener(t, "other", experiment.IdlePause)
	shared.startFor, other.startFor = experiment.ForSweep, experiment.ForRun
	folder := "shared"
	run := func(name string, option string) (pid, otherPid int) {
		t.Helper()
		here := newServers(nil, sweep)
		env := func(p *plannedTarget) driver.Env {
			return driver.Env{Dir: filepath.Join(dir, name, p.name), Create: true}
		}
		shared.options = driver.Options{"option": option}
		found, err := here.turn(t.Context(), shared, env(shared))
		if err != nil {
			t.Fatal(err)
		}
		if found.options["option"] != option || found.options["port"] == "" {
			t.Errorf("options %v", found.options)
		}
		pid = pidOf(filepath.Join(sweep.dir, folder))
		if _, err := here.turn(t.Context(), other, env(other)); err != nil {
			t.Fatal(err)
		}
		if got := status(t, pid); got != "stop" {
			t.Errorf("the sweep's server is in state %q while another target has its turn", got)
		}
		otherPid = pidOf(env(other).Dir)
		if here.serverOf(shared) == nil || here.serverOf(other) == nil {
			t.Error("the server of a target is not found")
		}
		if _, err := here.turn(t.Context(), shared, env(shared)); err != nil {
			t.Fatal(err)
		}
		if err := here.leave(t.Context()); err != nil {
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
	shared.start += " # as another point has it"
	folder = "shared-2"
	third, _ := run("three", "2")
	if third == first || status(t, first) != "" {
		t.Error("a server that is to be started otherwise still runs")
	}
	if process.CanLimitMemory() == nil {
		shared.memory, folder = 256<<20, "shared-3"
		fourth, _ := run("four", "2")
		if fourth == third || status(t, third) != "" {
			t.Error("a server that is to have less memory still runs with all")
		}
		third = fourth
	}
	if err := sweep.Stop(t.Context()); err != nil || status(t, third) != "" {
		t.Errorf("after the sweep its server runs: %v", err)
	}
}

// The files of an earlier sweep's server stay, and are no other's; one that a killed tsmark
// left running there is stopped.
func TestStandingServersOfAnEarlierTsmark(t *testing.T) {
	dir := t.TempDir()
	shared := listener(t, "shared", experiment.IdlePause)
	shared.startFor = experiment.ForSweep
	begin := func(folder string) (pid int) {
		t.Helper()
		sweep := NewStanding(dir)
		t.Cleanup(func() { _ = sweep.Stop(context.Background()) }) // it is a killed one's
		if _, err := newServers(nil, sweep).turn(t.Context(), shared, driver.Env{Create: true}); err != nil {
			t.Fatal(err)
		}
		return puppet.Number(t, filepath.Join(filesOf(filepath.Join(dir, folder)), "pid"))
	}
	left := begin("shared")
	begin("shared-2")
	if state := status(t, left); state != "" && state != "zombie" {
		t.Errorf("the server of the killed tsmark is in state %q", state)
	}
	begin("shared-3")
}

func TestServerThatDoesNotStart(t *testing.T) {
	all := newServers(nil, nil)
	env := driver.Env{Dir: t.TempDir(), Create: true}
	_, err := all.turn(t.Context(), &plannedTarget{name: "bad", driver: served(), options: driver.Options{}, start: "sh -c 'echo no disk today; exit 3' {port}"}, env)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no disk today") {
		t.Errorf("the error does not say why: %v", err)
	}
	discard(all.of)
	if _, err := os.Stat(env.Dir); err == nil {
		t.Error("the folder of a discarded run is still there")
	}
}

func TestFurtherPorts(t *testing.T) {
	given := experiment.Target{Start: "run {port}", Options: experiment.Options{"a": "{port+2}", "b": "{port+10}", "c": "7"}}
	if ports := furtherPorts(given); len(ports) != 1 || ports["a"] != 2 || len(given.Options) != 2 {
		t.Errorf("%v, left %v", ports, given.Options)
	}
}
