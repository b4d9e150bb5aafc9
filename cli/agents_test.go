package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/db/questdb"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/result"
)

// nearFleet is a coordinator and agents on loopback, each a process.
type nearFleet struct {
	t    *testing.T
	dir  string
	said saidLines // by all
}

// saidLines collects the output of several programs as it arrives.
type saidLines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *saidLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// forget drops the collected lines.
func (l *saidLines) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}

func (l *saidLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start starts tsmark.
func (f *nearFleet) start(args ...string) *exec.Cmd {
	f.t.Helper()
	cmd := exec.Command("tsmark", args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = &f.said, &f.said, f.dir
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = cmd.Process.Kill() }) // for a process that outlives the test
	return cmd
}

// awaitLine waits for a line of output, and returns its submatches.
func (f *nearFleet) awaitLine(pattern string) []string {
	f.t.Helper()
	line := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if found := line.FindStringSubmatch(f.said.String()); found != nil {
			return found
		}
	}
	f.t.Fatalf("nobody says %s:\n%s", pattern, f.said.String())
	return nil
}

// run starts a coordinator, by a command of tsmark, and the agents, each for one run.
func (f *nearFleet) run(agents int, command string, args ...string) (coordinator *exec.Cmd, list []*exec.Cmd) {
	f.t.Helper()
	if f.dir == "" {
		f.dir = f.t.TempDir()
	}
	f.said.forget()
	if err := os.WriteFile(filepath.Join(f.dir, "token"), []byte("a token that only this test has"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	coordinator = f.start(append([]string{command, "--results", "results", "--agents", strconv.Itoa(agents), "--agents-listen", "127.0.0.1:0", "--agents-token", "@token"}, args...)...)
	hint := f.awaitLine(joinHint)
	for n := range agents {
		list = append(list, f.start(slices.Concat([]string{"agent", "--join", hint[1], "--token", "@token", "--name", fmt.Sprintf("agent-%d", n), "--once"}, strings.Fields(hint[2]))...))
	}
	return coordinator, list
}

// joinHint matches a coordinator's instructions for agents: its URL, and the permissions they must grant.
const joinHint = `which join by: tsmark agent --join ([a-z]+://127\.0\.0\.1:[0-9]+)(?: --token @FILE)?(.*)\n`

// awaitEnd waits until a program has ended, and returns its exit status.
func (f *nearFleet) awaitEnd(cmd *exec.Cmd) int {
	f.t.Helper()
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // its status says it
	if !timer.Stop() {
		f.t.Errorf("%s did not end:\n%s", strings.Join(cmd.Args, " "), f.said.String())
	}
	return cmd.ProcessState.ExitCode()
}

// losesOne kills the second of three agents. The coordinator, whose exit status it
// returns, ends within that time, and the other agents end as they should.
func (f *nearFleet) losesOne(coordinator *exec.Cmd, list []*exec.Cmd, within time.Duration) int {
	f.t.Helper()
	if err := list[1].Process.Kill(); err != nil {
		f.t.Fatal(err)
	}
	begun := time.Now()
	status := f.awaitEnd(coordinator)
	if took := time.Since(begun); took > within {
		f.t.Errorf("the others went on for %v", took)
	}
	for _, a := range []*exec.Cmd{list[0], list[2]} {
		if code := f.awaitEnd(a); code != app.ExitDone {
			f.t.Errorf("an agent ends with status %d:\n%s", code, f.said.String())
		}
	}
	return status
}

// newest is the newest run.
func (f *nearFleet) newest() *result.Run {
	f.t.Helper()
	cmd := exec.CommandContext(context.Background(), "tsmark", "report", "--format", "json", "--results", filepath.Join(f.dir, "results"))
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("%v; said so far:\n%s", err, f.said.String())
	}
	var runs []*result.Run
	if err := json.Unmarshal(out, &runs); err != nil {
		f.t.Fatal(err)
	}
	return runs[0]
}

// rowsOf are the flags of a small dataset of cpu-only.
func rowsOf(more ...string) []string {
	return append([]string{"--use-case", "cpu-only", "--scale", "40", "--log-interval", "10s", "--timestamp-end", "2016-01-01T01:00:00Z", "--workers", "4"}, more...)
}

// queriesOf are the flags of a few queries.
func queriesOf(more ...string) []string {
	return append([]string{"--repeats", "1", "--query-type", "single-groupby-1-1-1", "--queries", "40"}, more...)
}

// Agents and their coordinator, each a process, do a run over the server that the
// coordinator embeds, and all of them end with it.
func TestRunWithAgents(t *testing.T) {
	for _, agents := range []int{1, 3} {
		f := &nearFleet{t: t}
		coordinator, list := f.run(agents, "load", rowsOf("null")...)
		if code := f.awaitEnd(coordinator); code != app.ExitDone {
			t.Fatalf("exit status %d:\n%s", code, f.said.String())
		}
		for _, a := range list {
			if code := f.awaitEnd(a); code != app.ExitDone {
				t.Errorf("an agent ends with status %d:\n%s", code, f.said.String())
			}
		}
		f.awaitLine(`load null: 14,400 rows`)
		run := f.newest()
		load := run.Targets[0].Repeats[0].Load
		if run.Status != result.Complete || len(run.Agents) != agents || len(load.Parts) != agents || load.Rows != 40*360 || len(load.Missing()) > 0 {
			t.Errorf("%s; %d agents, %d rows, parts %+v", run.Status, len(run.Agents), load.Rows, load.Parts)
		}
		for _, a := range run.Agents {
			if a.Begin == nil || a.End == nil || a.Lost != "" {
				t.Errorf("agent %s: clocks %v and %v, lost: %s", a.Name, a.Begin, a.End, a.Lost)
			}
		}
	}
}

// Files with series of their own are divided among agents: by files each has half of the rows,
// and by series it would not.
func TestAgentsOwnData(t *testing.T) {
	f := &nearFleet{t: t, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(f.dir, "own"), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, hosts := range map[string]int{"a": 1, "b": 3} {
		text := "time,host,load\n"
		for row := range 600 {
			text += fmt.Sprintf("%d,%s_%d,%d.5\n", 1_700_000_000+row, file, row%hosts, row)
		}
		if err := os.WriteFile(filepath.Join(f.dir, "own", file+".csv"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	coordinator, list := f.run(2, "load", "null", "--use-case", "own", "--own", "files=own,tags=host", "--workers", "2")
	for _, cmd := range append(list, coordinator) {
		if code := f.awaitEnd(cmd); code != app.ExitDone {
			t.Fatalf("exit status %d:\n%s", code, f.said.String())
		}
	}
	load := f.newest().Targets[0].Repeats[0].Load
	if len(load.Parts) != 2 || load.Parts[0].Rows != 600 || load.Parts[1].Rows != 600 || load.Rows != 1200 {
		t.Errorf("%d rows, in parts %+v", load.Rows, load.Parts)
	}
}

// Temporary files of a killed coordinator or agent are removed by the next ones.
func TestAgentsLeftovers(t *testing.T) {
	f := &nearFleet{t: t, dir: t.TempDir()}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	left := func() []string {
		entries, err := filepath.Glob(filepath.Join(temporary, "tsmark-*"))
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	coordinator, list := f.run(1, "load", rowsOf("null", "--scale", "4000", "--timestamp-end", "2016-01-02T00:00:00Z")...)
	f.awaitLine("load null")
	for _, cmd := range append(list, coordinator) {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		f.awaitEnd(cmd)
	}
	if killed := left(); len(killed) != 2 {
		t.Fatalf("they left %v; they have one folder each", killed)
	}
	coordinator, list = f.run(1, "load", rowsOf("null")...)
	for _, cmd := range append(list, coordinator) {
		if code := f.awaitEnd(cmd); code != app.ExitDone {
			t.Errorf("exit status %d:\n%s", code, f.said.String())
		}
	}
	if still := left(); len(still) > 0 {
		t.Errorf("%v is still there", still)
	}
}

// The hint how others join can be copied. A password that an agent lacks is reported once: a run that cannot
// begin has no report.
func TestAgentsPasswords(t *testing.T) {
	f := &nearFleet{t: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.dir, "token"), []byte("a token that only this test has"), 0o600); err != nil {
		t.Fatal(err)
	}
	few := f.start(append([]string{"load", "--results", "results", "--agents", "1", "--agents-listen", "127.0.0.1:0", "--agents-token", "@token", "--agents-wait", "100ms"}, rowsOf("null")...)...)
	if code := f.awaitEnd(few); code != app.ExitTarget || !regexp.MustCompile(`start the others by: tsmark agent --join tls://127\.0\.0\.1:[0-9]+ --token @FILE\n`).MatchString(f.said.String()) {
		t.Errorf("exit status %d:\n%s", code, f.said.String())
	}

	const variable = "TSMARK_POSTGRES_PASSWORD"
	missing := regexp.MustCompile(variable + ` is not set on this agent`)
	target := "postgres"
	for option, value := range conformance.NewDatabase(t, postgres.Driver(), "DROP DATABASE IF EXISTS %s WITH (FORCE)") {
		if option == connection.Password {
			t.Setenv(variable, value)
			continue
		}
		target += "," + option + "=" + value
	}
	f.said.forget()
	coordinator := f.start(append([]string{"run", "--target", target, "--results", "results", "--agents", "1", "--agents-listen", "127.0.0.1:0"}, rowsOf(queriesOf()...)...)...)
	hint := f.awaitLine(joinHint)
	if err := os.Unsetenv(variable); err != nil { // t.Setenv sets it right at the end
		t.Fatal(err)
	}
	agent := f.start(slices.Concat([]string{"agent", "--join", hint[1], "--name", "a", "--once"}, strings.Fields(hint[2]))...)
	if code := f.awaitEnd(coordinator); code != app.ExitTarget || len(missing.FindAllString(f.said.String(), -1)) != 1 {
		t.Errorf("exit status %d:\n%s", code, f.said.String())
	}
	f.awaitEnd(agent)
}

// Ctrl-C at the coordinator stops all, and resume does the rest with as many agents as the
// run had.
func TestAgentsResumed(t *testing.T) {
	f := &nearFleet{t: t}
	coordinator, list := f.run(2, "load", rowsOf("null", "--scale", "4000", "--timestamp-end", "2016-01-02T00:00:00Z")...)
	f.awaitLine("load null")
	if err := coordinator.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := f.awaitEnd(coordinator); code != app.ExitInterrupted {
		t.Errorf("exit status %d:\n%s", code, f.said.String())
	}
	for _, a := range list {
		if code := f.awaitEnd(a); code != app.ExitDone {
			t.Errorf("an agent ends with status %d:\n%s", code, f.said.String())
		}
	}
	f.said.forget()
	again := f.start("resume", "--results", "results", "--agents-listen", "127.0.0.1:0", "--agents-token", "@token", "--agents-wait", "1s")
	f.awaitLine(`waiting for 2 of 2 agents`)
	if code := f.awaitEnd(again); code != app.ExitTarget {
		t.Errorf("resume without agents ends with status %d:\n%s", code, f.said.String())
	}
}

// mixedOf are the flags of a run with a mixed phase.
func mixedOf(target string, more ...string) []string {
	return append([]string{"--target", target, "--use-case", "cpu-only", "--scale", "40", "--log-interval", "10s", "--timestamp-end", "2016-01-01T04:00:00Z", "--workers", "4", "--batch-size", "500",
		"--repeats", "1", "--query-type", "single-groupby-1-1-1,lastpoint", "--queries", "40", "--replace", "--mixed", "50", "--set", "mixed.row-rate=max", "--reporting-period", "200ms"}, more...)
}

// A mixed phase that Ctrl-C stopped is done again by resume, and its figures are those of
// all operations of all agents.
func TestAgentsMixedResumed(t *testing.T) {
	target := "postgres"
	for option, value := range conformance.NewDatabase(t, postgres.Driver(), "DROP DATABASE IF EXISTS %s WITH (FORCE)") {
		target += "," + option + "=" + value
		if option == connection.Password {
			t.Setenv("TSMARK_POSTGRES_PASSWORD", value) // it is not stored
		}
	}
	f := &nearFleet{t: t}
	coordinator, list := f.run(2, "run", mixedOf(target, "--set", "mixed.row-rate=10000/s", "--set", "mixed.query-rate=100/s")...) // 3 s
	f.awaitLine("load and query postgres: [1-9]")
	time.Sleep(time.Second)
	if err := coordinator.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := f.awaitEnd(coordinator); code != app.ExitInterrupted {
		t.Errorf("exit status %d:\n%s", code, f.said.String())
	}
	for _, a := range list {
		if code := f.awaitEnd(a); code != app.ExitDone {
			t.Errorf("an agent ends with status %d:\n%s", code, f.said.String())
		}
	}
	if run := f.newest(); run.Status == result.Complete || run.Targets[0].Repeats[0].Load.Withheld == "" {
		t.Errorf("%s: %+v", run.Status, run.Targets[0].Repeats[0].Load)
	}
	resumed, list := f.run(2, "resume")
	if code := f.awaitEnd(resumed); code != app.ExitDone {
		t.Fatalf("resume ends with status %d:\n%s", code, f.said.String())
	}
	for _, a := range list {
		f.awaitEnd(a)
	}
	run := f.newest()
	l := run.Targets[0].Repeats[0].Load
	if !run.Passed() || l.AllRows() != 40*1440 || l.Mixed.Arrivals < 250 || l.Mixed.Response == nil || len(l.Mixed.Writes.Parts) != 2 {
		t.Fatalf("%s: %+v", run.Reason, l)
	}
	for _, q := range l.Mixed.Types {
		if q.Executed < 100 || !q.Verdict.OK() || q.Stale > 0 {
			t.Errorf("%s: %d run, %s, %d stale", q.Type, q.Executed, q.Verdict, q.Stale)
		}
	}
}

// An agent that is killed in a mixed phase withholds the load, whose reason names it, and the
// run does not wait for its rows.
func TestAgentKilledMixed(t *testing.T) {
	target := "postgres"
	for option, value := range conformance.NewDatabase(t, postgres.Driver(), "DROP DATABASE IF EXISTS %s WITH (FORCE)") {
		target += "," + option + "=" + value
	}
	f := &nearFleet{t: t}
	coordinator, list := f.run(3, "run", mixedOf(target, "--set", "mixed.row-rate=2000/s")...) // 14 s
	f.awaitLine("load and query postgres: [1-9]")
	time.Sleep(2 * time.Second)
	if code := f.losesOne(coordinator, list, 12*time.Second); code == app.ExitDone {
		t.Errorf("exit status %d:\n%s", code, f.said.String())
	}
	run := f.newest()
	load := run.Targets[0].Repeats[0].Load
	if run.Passed() || !strings.Contains(load.Withheld, "agent agent-1 was lost: its connection ended") || load.Mixed == nil || load.Mixed.Writes.Rows == 0 {
		t.Errorf("withheld %q; agents %+v", load.Withheld, run.Agents)
	}
}

// Databases that several agents load concurrently hold the dataset, and every answer is correct.
func TestAgentsOnServers(t *testing.T) {
	for name, options := range map[string]func(*testing.T) map[string]string{
		"postgres": func(t *testing.T) map[string]string {
			return conformance.NewDatabase(t, postgres.Driver(), "DROP DATABASE IF EXISTS %s WITH (FORCE)")
		},
		"questdb": func(t *testing.T) map[string]string {
			conformance.Sole(t, questdb.Driver())
			return conformance.TestServer(t, questdb.Driver())
		},
	} {
		t.Run(name, func(t *testing.T) {
			target := name
			for option, value := range options(t) {
				target += "," + option + "=" + value
			}
			f := &nearFleet{t: t}
			f.loadAndQuery(target)
			coordinator, list := f.run(3, "run", queriesOf(rowsOf("--target", target, "--replace")...)...)
			if code := f.awaitEnd(coordinator); code != app.ExitDone {
				t.Fatalf("exit status %d:\n%s", code, f.said.String())
			}
			for _, a := range list {
				f.awaitEnd(a)
			}
			run := f.newest()
			first := run.Targets[0].Repeats[0]
			if !run.Passed() || len(first.Load.Census) == 0 || first.Load.Rows != 40*360 || len(first.Queries) != 1 || !first.Queries[0].Verdict.OK() || len(first.Queries[0].Parts) != 3 {
				t.Errorf("%s: load %+v, queries %+v", run.Reason, first.Load, first.Queries)
			}
		})
	}
}

// loadAndQuery loads a target by two agents, and then queries it by three others.
func (f *nearFleet) loadAndQuery(target string) {
	f.t.Helper()
	for _, step := range []struct {
		agents  int
		command string
		flags   []string
	}{{2, "load", rowsOf(target, "--replace")}, {3, "query", queriesOf(target, "--workers", "3")}} {
		coordinator, list := f.run(step.agents, step.command, step.flags...)
		if code := f.awaitEnd(coordinator); code != app.ExitDone {
			f.t.Fatalf("tsmark %s: exit status %d:\n%s", step.command, code, f.said.String())
		}
		for _, a := range list {
			if code := f.awaitEnd(a); code != app.ExitDone {
				f.t.Errorf("tsmark %s: an agent ends with status %d:\n%s", step.command, code, f.said.String())
			}
		}
		run := f.newest()
		if !run.Passed() || len(run.Agents) != step.agents {
			f.t.Errorf("tsmark %s: %s, %d agents", step.command, run.Reason, len(run.Agents))
		}
		for _, a := range run.Agents {
			if a.Lost != "" {
				f.t.Errorf("tsmark %s: %s", step.command, a.Lost)
			}
		}
	}
}

// An agent that is killed in the middle of a load into a database that would keep rows twice
// withholds the load, which names it, and the others are stopped.
func TestAgentKilled(t *testing.T) {
	conformance.Long(t) // TestAgentKilledMixed is CI's, and TestLostAgents of package runner
	target := "postgres"
	for option, value := range conformance.NewDatabase(t, postgres.Driver(), "DROP DATABASE IF EXISTS %s WITH (FORCE)") {
		target += "," + option + "=" + value
	}
	f := &nearFleet{t: t}
	coordinator, list := f.run(3, "load", rowsOf(target, "--replace", "--scale", "4000", "--timestamp-end", "2016-01-01T06:00:00Z")...)
	f.awaitLine("load postgres")
	time.Sleep(2 * time.Second) // into the load, which takes longer
	f.losesOne(coordinator, list, 30*time.Second)
	run := f.newest()
	load := run.Targets[0].Repeats[0].Load
	if run.Passed() || !strings.Contains(load.Withheld, "agent agent-1 was lost: its connection ended") || load.Rows == 0 || run.Agent("agent-1").Lost == "" {
		t.Errorf("withheld %q after %d rows; agents %+v", load.Withheld, load.Rows, run.Agents)
	}
}
