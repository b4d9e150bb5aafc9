package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
)

// connectionsTo starts a PostgreSQL of the test's own with a maximum number of connections (0: as
// it is shipped), and returns options that lead to it, and the same as a target.
func connectionsTo(t *testing.T, most int) (options map[string]string, target string) {
	t.Helper()
	var env []string
	if most > 0 {
		env = append(env, fmt.Sprintf("TSMARK_POSTGRES_CONNECTIONS=%d", most))
	}
	server := fault.Script(t, "postgres", env...)
	options = map[string]string{
		"host": "127.0.0.1", "port": strconv.Itoa(server.Port()), "database": "postgres", "user": "tsmark", "password": conformance.Password(t),
	}
	target = "postgres"
	for name, value := range options {
		target += "," + name + "=" + value
	}
	return options, target
}

// sessions returns the number of connections of a PostgreSQL, not counting its own.
func sessions(t *testing.T, options map[string]string) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://%s:%s@%s:%s/%s", options["user"], options["password"], options["host"], options["port"], options["database"]))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// manyWorkers are the flags of a run of a thousand workers with enough work for each.
func manyWorkers(target string, workers int) []string {
	return []string{
		"--target", target, "--replace", "--use-case", "cpu-only", "--scale", "1000", "--log-interval", "30s", "--timestamp-end", "2016-01-01T01:30:00Z",
		"--batch-size", "60", "--workers", strconv.Itoa(workers), "--repeats", "1", "--query-type", "single-groupby-1-1-1,single-groupby-5-1-1", "--queries", "4000", "--time-box", "20s",
		"--agents-lost", "30s", // a thousand sessions of a server on the same host leave agents little
	}
}

// A thousand workers of four agents load and query a PostgreSQL whose connections just
// suffice: all rows arrive, every answer is correct, and all sessions are closed afterwards.
func TestThousandConnections(t *testing.T) {
	conformance.Long(t)
	conformance.Address(t, "postgres") // describes how to provide a server if none is started
	const workers, agents = 1000, 4
	options, target := connectionsTo(t, workers+50)
	f := &nearFleet{t: t}
	coordinator, list := f.run(agents, "run", manyWorkers(target, workers)...)
	if code := f.awaitEnd(coordinator); code != app.ExitDone {
		t.Fatalf("exit status %d:\n%s", code, f.said.String())
	}
	for _, a := range list {
		if code := f.awaitEnd(a); code != app.ExitDone {
			t.Errorf("an agent ends with status %d:\n%s", code, f.said.String())
		}
	}
	run := f.newest()
	first := run.Targets[0].Repeats[0]
	if !run.Passed() || len(first.Load.Census) == 0 || first.Load.Rows != 1000*180 || first.Load.Workers != workers || len(first.Load.Parts) != agents || len(first.Queries) != 2 {
		t.Errorf("%s: load %+v, queries %+v", run.Reason, first.Load, first.Queries)
	}
	for _, q := range first.Queries {
		if !q.Verdict.OK() || q.Workers != workers || len(q.Parts) != agents || q.Withheld != "" {
			t.Errorf("%s: withheld %q, %d workers, %+v", q.Type, q.Withheld, q.Workers, q.Verdict)
		}
	}
	noneLeft(t, options)
}

// noneLeft waits until a server has no session any more.
func noneLeft(t *testing.T, options map[string]string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		n := sessions(t, options)
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions are left", n)
		}
	}
}

// If a PostgreSQL takes fewer connections than there are workers, a load and queries end
// soon, with one line that names the limit, its origin and a remedy; all sessions are
// closed; and with fewer workers they succeed.
func TestTooManyConnections(t *testing.T) {
	conformance.Address(t, "postgres") // describes how to provide a server if none is started
	options, target := connectionsTo(t, 0)
	f := &nearFleet{t: t}
	const beyond, most, enough = 1000, 99, 60 // of 100: the coordinator and each agent have one, too
	for _, step := range []struct {
		command string
		flags   []string
	}{{"load", rowsOf(target, "--replace")}, {"query", queriesOf(target)}} {
		for _, workers := range []int{beyond, most, enough} {
			begun := time.Now()
			coordinator, list := f.run(4, step.command, append(step.flags, "--workers", strconv.Itoa(workers))...)
			code := f.awaitEnd(coordinator)
			for _, a := range list {
				if code := f.awaitEnd(a); code != app.ExitDone {
					t.Errorf("an agent ends with status %d:\n%s", code, f.said.String())
				}
			}
			said := f.said.String()
			switch {
			case workers == beyond:
				f.refusesConnections(code, said, "1000 workers need as many connections, and the server takes 100 of this user: ")
			case workers == most:
				f.refusesConnections(code, said, `.*: agent agent-\d: .*the server takes no more connections \(.*\); `)
			case code != app.ExitDone:
				t.Errorf("tsmark %s with %d workers: exit status %d:\n%s", step.command, workers, code, said)
			}
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("tsmark %s with %d workers took %v", step.command, workers, took)
			}
			noneLeft(t, options)
		}
	}
}

// refusesConnections checks the output of a command whose server has too few connections for its
// workers: one line with the limit that was hit, and the reason.
func (f *nearFleet) refusesConnections(code int, said, met string) {
	f.t.Helper()
	if code != app.ExitTarget {
		f.t.Errorf("exit status %d", code)
	}
	const why = `its max_connections is 100, which was set in its configuration file /\S*, and 3 of them are kept for superusers; each worker needs one: use fewer workers, or raise max_connections and restart the server`
	lines := regexp.MustCompile("(?m)^tsmark: target postgres failed: "+met+why+"$").FindAllString(said, -1)
	if len(lines) != 1 || strings.Contains(said, "called off: ") {
		f.t.Errorf("no line, or several, that say why:\n%s", said)
	}
}
