//go:build netns && linux

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/influxdb"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/db/questdb"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/netlab"
	"github.com/tsmark/tsmark/result"
)

// farFleet is a coordinator on host 1 of a lab and agents on those behind it, which reach a
// database on host 0.
type farFleet struct {
	t       *testing.T
	lab     *netlab.Lab
	dir     string
	target  string // as tsmark run takes it
	allowed string // to agents
	agents  int
	said    saidLines // by all
	running []*exec.Cmd
}

func newFleet(t *testing.T, d driver.Driver, agents int, seed uint64) *farFleet {
	t.Helper()
	f := &farFleet{t: t, lab: netlab.New(t, agents+1, seed), dir: t.TempDir(), agents: agents}
	if err := os.WriteFile(filepath.Join(f.dir, "token"), []byte("a token that only this test has"), 0o600); err != nil {
		t.Fatal(err)
	}
	options := databaseOf(t, d)
	options[connection.Host], options[connection.TLS] = f.lab.Address(0), "off" // the server is on loopback, behind a forwarder
	for _, option := range d.Ports() {
		port, err := strconv.Atoi(options[option])
		if err != nil {
			t.Fatal(err)
		}
		_, options[option], _ = strings.Cut(f.lab.Forward(port), ":")
	}
	f.target, f.allowed = d.Name, d.Name+"@"+f.lab.Address(0)
	for option, value := range options {
		f.target += "," + option + "=" + value
	}
	return f
}

// databaseOf are the options of a driver's server for tests, without a password: programs that
// the test starts have it in their environment.
func databaseOf(t *testing.T, d driver.Driver) map[string]string {
	t.Helper()
	if d.Name != postgres.Driver().Name {
		return conformance.TestServer(t, d)
	}
	options := conformance.NewDatabase(t, d, "DROP DATABASE IF EXISTS %s WITH (FORCE)")
	t.Setenv("TSMARK_POSTGRES_PASSWORD", options[connection.Password])
	delete(options, connection.Password)
	return options
}

// start starts tsmark on a host.
func (f *farFleet) start(host int, args ...string) *exec.Cmd {
	f.t.Helper()
	cmd := f.lab.Command(context.Background(), host, "tsmark", args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = &f.said, &f.said, f.dir
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.running = append(f.running, cmd)
	f.t.Cleanup(func() { _ = cmd.Process.Kill() }) // for processes that outlive the test
	return cmd
}

// join starts the agents, each for one run.
func (f *farFleet) join() (agents []*exec.Cmd) {
	for n := range f.agents {
		agents = append(agents, f.start(2+n, "agent", "--join", "nats://"+f.lab.Address(1)+":4222", "--token", "@token", "--name", fmt.Sprintf("agent-%d", n), "--once", "--allow", f.allowed))
	}
	return agents
}

// run starts the coordinator.
func (f *farFleet) run(args ...string) *exec.Cmd {
	return f.start(1, append([]string{"run", "--target", f.target, "--results", "results", "--agents", strconv.Itoa(f.agents),
		"--agents-listen", f.lab.Address(1) + ":4222", "--agents-token", "@token", "--replace"}, args...)...)
}

// awaitAgents waits until all agents have joined.
func (f *farFleet) awaitAgents() {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); strings.Count(f.said.String(), " joined: ") < f.agents; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("not all agents have joined:\n%s", f.said.String())
		}
	}
}

// saying waits until the output contains what.
func (f *farFleet) saying(what string) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(f.said.String(), what); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("nobody says %s:\n%s", what, f.said.String())
		}
	}
}

// awaitEnd waits until a program has ended, and returns its exit status.
func (f *farFleet) awaitEnd(cmd *exec.Cmd, within time.Duration) int {
	f.t.Helper()
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its status says it
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(within):
		_ = cmd.Process.Kill()
		f.t.Fatalf("%s has not ended within %v:\n%s", strings.Join(cmd.Args, " "), within, f.said.String())
	}
	return cmd.ProcessState.ExitCode()
}

// newest is the newest run of the results folder.
func (f *farFleet) newest() *result.Run {
	f.t.Helper()
	run, err := f.readStored()
	if err != nil {
		f.t.Fatalf("%v; said so far:\n%s", err, f.said.String())
	}
	return run
}

// readStored is the newest run, if one is stored.
func (f *farFleet) readStored() (*result.Run, error) {
	out, err := f.lab.Command(f.t.Context(), 0, "tsmark", "report", "--format", "json", "--results", filepath.Join(f.dir, "results")).Output()
	if err != nil {
		return nil, err
	}
	var runs []*result.Run
	if err := json.Unmarshal(out, &runs); err != nil {
		return nil, err
	}
	return runs[0], nil
}

// small is a load of some seconds and a few queries.
func small() []string {
	return []string{"--use-case", "cpu-only", "--scale", "200", "--log-interval", "10s", "--timestamp-end", "2016-01-01T06:00:00Z", "--repeats", "1", "--workers", "6",
		"--query-type", "single-groupby-1-1-1", "--queries", "40"}
}

// Far apart, with losses: all rows are loaded once, every answer is correct, and each agent
// does its share.
func TestAgentsFarApart(t *testing.T) {
	for _, c := range []struct {
		driver driver.Driver
		agents int
	}{{influxdb.Driver(), 3}, {questdb.Driver(), 8}, {postgres.Driver(), 3}} {
		t.Run(c.driver.Name, func(t *testing.T) {
			f := newFleet(t, c.driver, c.agents, 1)
			for host := range f.agents + 2 {
				f.lab.Set(host, netlab.Link{Delay: time.Duration(5*host) * time.Millisecond, Loss: 0.002})
			}
			agents, coordinator := f.join(), f.run(append(small(), "--workers", "8")...)
			if code := f.awaitEnd(coordinator, 5*time.Minute); code != app.ExitDone {
				t.Fatalf("exit status %d:\n%s", code, f.said.String())
			}
			for _, a := range agents {
				if code := f.awaitEnd(a, 30*time.Second); code != app.ExitDone {
					t.Errorf("an agent ends with status %d:\n%s", code, f.said.String())
				}
			}
			run := f.newest()
			if len(run.Agents) != f.agents || run.Status != result.Complete {
				t.Fatalf("%d agents, %s", len(run.Agents), run.Status)
			}
			for _, a := range run.Agents {
				if c := a.Clock(); c == nil || c.RoundTrip < 0.015 || c.RoundTrip > 1 || c.Offset > c.Uncertainty || c.Offset < -c.Uncertainty {
					t.Errorf("agent %s has the clock %+v; it is this machine's", a.Name, c)
				}
			}
			load := run.Targets[0].Repeats[0].Load
			rows := int64(0)
			for _, p := range load.Parts {
				rows += p.Rows
			}
			if len(load.Parts) != f.agents || rows != load.Rows || len(load.Missing()) > 0 {
				t.Errorf("the parts have %d of %d rows: %+v", rows, load.Rows, load.Parts)
			}
			if lost := f.lab.LostPackets(); lost == 0 {
				t.Error("no packet was lost")
			}
		})
	}
}

// checkShares compares the withheld figures of a run with the shares that no agent finished:
// a figure is withheld if and only if one of its shares is missing. It reports
// whether a share of a load was hit.
func (f *farFleet) checkShares(when string, run *result.Run, code int) (hit bool) {
	t := f.t
	t.Helper()
	for i := range run.Targets {
		for _, r := range run.Targets[i].Repeats {
			if l := r.Load; l != nil {
				hit = hit || slices.ContainsFunc(l.Parts, func(p result.Part) bool { return !p.Complete() })
				if l.HasFigures() && len(l.Missing()) > 0 || l.Withheld != "" && len(l.Missing()) == 0 {
					t.Errorf("%s: the load is withheld: %q, with %d missing shares", when, l.Withheld, len(l.Missing()))
				}
			}
			for j := range r.Queries {
				q := &r.Queries[j]
				if (q.Withheld == "") != (len(q.Missing()) == 0) || q.Withheld != "" && !strings.Contains(q.Withheld, " was lost: ") {
					t.Errorf("%s: %s is withheld: %q, with %d missing shares", when, q.Type, q.Withheld, len(q.Missing()))
				}
				if q.Withheld != "" {
					t.Logf("%s: %s is withheld: %s", when, q.Type, q.Withheld)
				}
			}
		}
	}
	if (code == app.ExitDone) != run.Passed() {
		t.Errorf("%s: exit status %d of a run that passed: %v:\n%s", when, code, run.Passed(), f.said.String())
	}
	return hit
}

// coordinatorStops is the number of coordinators of each database that are stopped, each in a run of its own.
const coordinatorStops = 6

// A coordinator that is stopped for longer than its agents wait for it loses only them and
// the current phase: the withheld figures are the ones that the agents did not finish, and
// resume completes a run that ended early.
func TestCoordinatorStopped(t *testing.T) {
	f := newFleet(t, postgres.Driver(), 3, 9)
	most, random := killSeries(t, coordinatorStops)
	for n := range most {
		f.said.forget()
		if err := os.RemoveAll(filepath.Join(f.dir, "results")); err != nil {
			t.Fatal(err)
		}
		agents, coordinator := f.join(), f.run(append(small(), "--repeats", "2", "--queries", "4000")...)
		f.awaitAgents()
		after := time.Duration(random.IntN(10000)) * time.Millisecond
		time.Sleep(after)
		_ = coordinator.Process.Signal(syscall.SIGSTOP)
		time.Sleep(9 * time.Second)
		_ = coordinator.Process.Signal(syscall.SIGCONT)
		code := f.awaitEnd(coordinator, 5*time.Minute)
		when := fmt.Sprintf("stop %d after %v", n, after)
		run := f.newest()
		f.checkShares(when, run, code)
		if run.Status != result.Complete {
			agents = append(agents, f.join()...) // the others were released
			resume := f.start(1, "resume", "--results", "results", "--agents", strconv.Itoa(f.agents), "--agents-listen", f.lab.Address(1)+":4222", "--agents-token", "@token")
			code = f.awaitEnd(resume, 5*time.Minute)
			if run = f.newest(); run.Status != result.Complete {
				t.Errorf("%s: resume ends with status %d, and the run is %s: %s\n%s", when, code, run.Status, run.Reason, f.said.String())
			}
			f.checkShares(when+", resumed", run, code)
		}
		if left := leftovers(t, filepath.Join(f.dir, "results")); left != nil {
			t.Errorf("%s: there are still %v", when, left)
		}
		for _, a := range agents {
			_ = a.Process.Signal(syscall.SIGTERM)
			f.awaitEnd(a, 30*time.Second)
		}
	}
}

// kills is the number of agents of each database that die, each in a run of its own.
const kills = 25

// An agent that dies at any time is named if it had a share, its rows are loaded by another
// agent or withheld, and every wrong result is reported.
func TestAgentsKilled(t *testing.T) {
	for _, d := range []driver.Driver{questdb.Driver(), postgres.Driver()} {
		t.Run(d.Name, func(t *testing.T) { testAgentsKilled(t, newFleet(t, d, 3, 2)) })
	}
}

func testAgentsKilled(t *testing.T, f *farFleet) {
	most, random := killSeries(t, kills)
	hit := 0
	for n := range most {
		agents, coordinator := f.join(), f.run(small()...)
		after := time.Duration(random.IntN(8000)) * time.Millisecond
		time.Sleep(after)
		victim := random.IntN(len(agents))
		_ = agents[victim].Process.Kill()
		// A coordinator that still waits for agents gets another one.
		again := f.start(2+victim, "agent", "--join", "nats://"+f.lab.Address(1)+":4222", "--token", "@token", "--name", "again", "--once", "--allow", f.allowed)
		code := f.awaitEnd(coordinator, 5*time.Minute)
		run := f.newest()
		_ = again.Process.Signal(syscall.SIGTERM)
		for i, a := range agents {
			// The slower one waits for a run in which it has a place.
			if !slices.ContainsFunc(run.Agents, func(r result.Agent) bool { return r.Name == fmt.Sprintf("agent-%d", i) }) {
				_ = a.Process.Signal(syscall.SIGTERM)
			}
		}
		for _, a := range append(slices.Delete(agents, victim, victim+1), again) {
			f.awaitEnd(a, 30*time.Second)
		}
		if f.checkShares(fmt.Sprintf("kill %d after %v", n, after), run, code) {
			hit++
		}
	}
	if t.Logf("%d of %d kills hit a share of the load", hit, most); hit == 0 {
		t.Error("no kill hit a share of the load: the moments are all before it or after it")
	}
}

// An agent that is cut off from its coordinator, but not from the database, stops
// loading. Its share is named; if rows that are sent again replace the earlier ones, another
// agent takes the share over, and the load is valid.
func TestAgentsCutOff(t *testing.T) {
	for _, c := range []struct {
		driver driver.Driver
		scale  string
		holds  bool
	}{{questdb.Driver(), "4000", false}, {influxdb.Driver(), "1500", true}, {postgres.Driver(), "1500", false}} {
		t.Run(c.driver.Name, func(t *testing.T) {
			f := newFleet(t, c.driver, 3, 4)
			agents, coordinator := f.join(), f.run(append(small(), "--scale", c.scale, "--reporting-period", "200ms")...)
			f.awaitAgents()
			f.saying("load " + c.driver.Name + ": ")
			time.Sleep(time.Second) // into the load
			f.lab.Cut(1, 3)
			f.awaitEnd(coordinator, 5*time.Minute)
			f.lab.Join(1, 3)
			run := f.newest()
			if lost := run.Agent("agent-1"); lost == nil || lost.Lost == "" {
				t.Fatalf("agent-1 is not named as lost:\n%s", f.said.String())
			}
			load := run.Targets[0].Repeats[0].Load
			if load == nil || load.HasFigures() != c.holds {
				t.Fatalf("the load has figures: %v, want %v:\n%s", load.HasFigures(), c.holds, f.said.String())
			}
			at := slices.IndexFunc(load.Parts, func(p result.Part) bool { return p.Agent == "agent-1" })
			if at < 0 || load.Parts[at].Complete() || (load.Parts[at].TakenOver != "") != c.holds {
				t.Errorf("parts %+v:\n%s", load.Parts, f.said.String())
			}
			_ = agents[1].Process.Signal(syscall.SIGTERM)
			f.awaitEnd(agents[1], 30*time.Second)
		})
	}
}

// An agent that is cut off in a mixed phase stops writing and querying: the load is withheld with the
// agent's name, and the run does not wait for its rows.
func TestAgentsCutOffMixed(t *testing.T) {
	for _, d := range []driver.Driver{questdb.Driver(), postgres.Driver()} {
		t.Run(d.Name, func(t *testing.T) { testAgentsCutOffMixed(t, d) })
	}
}

func testAgentsCutOffMixed(t *testing.T, d driver.Driver) {
	f := newFleet(t, d, 3, 6)
	agents, coordinator := f.join(), f.run(append(small(), "--query-type", "lastpoint", "--mixed", "50", "--set", "mixed.row-rate=10000/s", "--set", "mixed.query-rate=100/s", "--reporting-period", "200ms")...) // 22 s
	f.awaitAgents()
	f.saying("load and query " + d.Name + ": ")
	time.Sleep(3 * time.Second) // into the phase
	f.lab.Cut(1, 3)
	begun := time.Now()
	if code := f.awaitEnd(coordinator, time.Minute); code == app.ExitDone {
		t.Errorf("exit status %d:\n%s", code, f.said.String())
	}
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("the others went on for %v", took)
	}
	f.lab.Join(1, 3)
	run := f.newest()
	if lost := run.Agent("agent-1"); lost == nil || lost.Lost == "" {
		t.Fatalf("agent-1 is not named as lost:\n%s", f.said.String())
	}
	load := run.Targets[0].Repeats[0].Load
	if load == nil || load.HasFigures() || !strings.Contains(load.Withheld, "agent agent-1 was lost") || load.Mixed == nil {
		t.Fatalf("withheld %q:\n%s", load.Withheld, f.said.String())
	}
	for _, p := range load.Mixed.Writes.Parts {
		if stopped := strings.HasPrefix(p.Lost, "stopped, since agent agent-1"); stopped == (p.Agent == "agent-1") {
			t.Errorf("part %+v", p)
		}
	}
	_ = agents[1].Process.Signal(syscall.SIGTERM)
	for _, a := range agents {
		f.awaitEnd(a, 30*time.Second)
	}
}

// Far apart, with losses, the agents of a mixed phase keep to its rates, and every answer is
// right for the rows that all of them had acknowledged, or stale.
func TestAgentsFarApartMixed(t *testing.T) {
	f := newFleet(t, questdb.Driver(), 3, 7)
	for host := range f.agents + 2 {
		f.lab.Set(host, netlab.Link{Delay: time.Duration(5*host) * time.Millisecond, Loss: 0.002})
	}
	agents, coordinator := f.join(), f.run(append(small(), "--query-type", "lastpoint", "--mixed", "50", "--set", "mixed.row-rate=40000/s", "--set", "mixed.query-rate=60/s")...) // 5.4 s
	if code := f.awaitEnd(coordinator, 5*time.Minute); code != app.ExitDone {
		t.Fatalf("exit status %d:\n%s", code, f.said.String())
	}
	for _, a := range agents {
		f.awaitEnd(a, 30*time.Second)
	}
	run := f.newest()
	m := run.Targets[0].Repeats[0].Load.Mixed
	if m == nil || m.Problem() != "" || len(m.Writes.Parts) != 3 || m.Writes.Rows != 200*2160/2 || m.Arrivals < 200 {
		t.Fatalf("%+v:\n%s", m, f.said.String())
	}
	for _, q := range m.Types {
		t.Logf("%s: %d run, %d verified, %d stale by up to %v s", q.Type, q.Executed, q.Verdict.Checked, q.Stale, q.Freshness.Max)
	}
}

// Without its coordinator every agent stops loading, and resume does the rest.
func TestCoordinatorKilled(t *testing.T) {
	f := newFleet(t, questdb.Driver(), 3, 5)
	agents, coordinator := f.join(), f.run(append(small(), "--scale", "1000", "--repeats", "4")...)
	f.awaitAgents()
	time.Sleep(3 * time.Second) // of a run that takes longer
	_ = coordinator.Process.Kill()
	if code := f.awaitEnd(coordinator, 10*time.Second); code != -1 {
		t.Fatalf("the coordinator ended with status %d before it was killed:\n%s", code, f.said.String())
	}
	resumed := f.start(1, "resume", "--results", "results", "--agents", strconv.Itoa(f.agents), "--agents-listen", f.lab.Address(1)+":4222", "--agents-token", "@token")
	if code := f.awaitEnd(resumed, 5*time.Minute); code != app.ExitDone {
		t.Fatalf("resume ends with status %d:\n%s", code, f.said.String())
	}
	for _, a := range agents {
		f.awaitEnd(a, 30*time.Second)
	}
	if run := f.newest(); run.Status != result.Complete || len(run.Targets[0].Repeats) != 4 {
		t.Errorf("%s with %d repeats", run.Status, len(run.Targets[0].Repeats))
	}
}

// coordinatorKills is the number of coordinators of each database that die, each in a run of its own.
const coordinatorKills = 6

// A coordinator that dies at any time loses only work that can be repeated: resume finds
// the agents, and the loaded data is complete, without a row of a share that went on.
func TestCoordinatorKilledAnytime(t *testing.T) {
	for _, d := range []driver.Driver{questdb.Driver(), postgres.Driver()} {
		t.Run(d.Name, func(t *testing.T) { testCoordinatorKilled(t, newFleet(t, d, 3, 8)) })
	}
}

func testCoordinatorKilled(t *testing.T, f *farFleet) {
	most, random := killSeries(t, coordinatorKills)
	resumed := 0
	for n := range most {
		f.said.forget()
		if err := os.RemoveAll(filepath.Join(f.dir, "results")); err != nil {
			t.Fatal(err)
		}
		agents, coordinator := f.join(), f.run(append(small(), "--scale", "400", "--repeats", "2")...)
		f.awaitAgents()
		after := time.Duration(random.IntN(12000)) * time.Millisecond
		time.Sleep(after)
		_ = coordinator.Process.Kill()
		killed := f.awaitEnd(coordinator, 10*time.Second) == -1
		// One that was killed at its very beginning has stored no run, and one at its very end a
		// whole one.
		if run, err := f.readStored(); err != nil || run.Status == result.Complete {
			for _, a := range agents {
				_ = a.Process.Signal(syscall.SIGTERM)
				f.awaitEnd(a, 30*time.Second)
			}
			continue
		}
		if !killed {
			t.Fatalf("kill %d after %v: the coordinator ended by itself, and its run is not complete:\n%s", n, after, f.said.String())
		}
		resumed++
		resume := f.start(1, "resume", "--results", "results", "--agents", strconv.Itoa(f.agents), "--agents-listen", f.lab.Address(1)+":4222", "--agents-token", "@token")
		if code := f.awaitEnd(resume, 5*time.Minute); code != app.ExitDone {
			t.Fatalf("kill %d after %v: resume ends with status %d:\n%s", n, after, code, f.said.String())
		}
		for _, a := range agents {
			f.awaitEnd(a, 30*time.Second)
		}
		run := f.newest()
		if !run.Passed() || run.Status != result.Complete || len(run.Targets[0].Repeats) != 2 {
			t.Fatalf("kill %d after %v: %s with %d repeats: %s\n%s", n, after, run.Status, len(run.Targets[0].Repeats), run.Reason, f.said.String())
		}
		if left := leftovers(t, filepath.Join(f.dir, "results")); left != nil {
			t.Errorf("kill %d after %v: there are still %v", n, after, left)
		}
		// The rows were counted: no row of a share that went on is stored twice.
		if l := run.Targets[0].Repeats[0].Load; l == nil || !l.HasFigures() || l.Rows != 400*2160 || len(l.Missing()) > 0 {
			t.Errorf("kill %d after %v: the load %+v", n, after, l)
		}
	}
	if t.Logf("%d of %d kills left a run to resume", resumed, most); resumed == 0 {
		t.Error("no kill left a run to resume: the moments are all before it or after it")
	}
}
