package runner_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/db/questdb"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

// onServer is an experiment against a server.
func onServer(t *testing.T, w string, k driver.Driver, options map[string]string) *experiment.Experiment {
	e := small(t, w)
	e.Targets = []experiment.Target{{Name: "x", Driver: k.Name, Options: options}}
	e.Load.Replace = true // other tests left their datasets
	return e
}

// agentsOnServer is the number of agents that load and query a server. TestAgentsAsOne and
// TestAgentsMixed test without a server whatever depends on the number.
const agentsOnServer = 2

func testOnServer(t *testing.T, k driver.Driver, options map[string]string) {
	c := catalogOf(k)
	for _, w := range []string{"cpu-only", "iotdb"} {
		t.Run(w, func(t *testing.T) {
			e := onServer(t, w, k, options)
			run, err := execute(t, e, c, newCrew(t, agentsOnServer, c), everything)
			if err != nil {
				t.Fatal(err)
			}
			if !run.Passed() {
				t.Fatal(run.Reason)
			}
			x := run.Targets[0]
			if x.Load.Rows != run.Dataset.Rows || len(x.Load.Census) == 0 || len(x.Load.Parts) != agentsOnServer {
				t.Errorf("%+v", x.Load)
			}
			for _, q := range x.Queries {
				if q.Unsupported == "" && !q.Verdict.OK() {
					t.Errorf("%s: %+v", q.Type, q.Verdict)
				}
			}
		})
	}
}

// testMixedOnServer has agents write and query at the same time. QuestDB shows rows after it has
// acknowledged them, so answers may be stale there, and must be correct once all rows are written.
func testMixedOnServer(t *testing.T, k driver.Driver, options map[string]string) {
	c := catalogOf(k)
	for way, mixed := range map[string]experiment.Mixed{
		"by share":   {Loaded: 50, Writes: "30"},
		"for a time": {Loaded: 40, RowRate: "20000/s", QueryRate: "200/s", Duration: 250 * time.Millisecond},
	} {
		t.Run(way, func(t *testing.T) {
			e := onServer(t, "cpu-only", k, options)
			e.Workload.End, e.Mixed = e.Workload.Start.Add(4*time.Hour), mixed
			run, err := execute(t, e, c, newCrew(t, agentsOnServer, c), everything)
			if err != nil {
				t.Fatal(err)
			}
			l := run.Targets[0].Load
			if !run.Passed() || l.Mixed == nil || l.AllRows() != run.Dataset.Rows || len(l.Census) == 0 || len(l.Mixed.Writes.Parts) != agentsOnServer || (l.Mixed.Rest > 0) != (mixed.Duration > 0) {
				t.Fatalf("%s: %+v", run.Reason, l)
			}
			for _, q := range l.Mixed.Types {
				if t.Logf("%s: %d run, %d verified, %d counted, %d stale", q.Type, q.Executed, q.Verdict.Checked, q.Counted, q.Stale); q.Withheld != "" || q.Executed == 0 {
					t.Errorf("%s: withheld %q", q.Type, q.Withheld)
				}
			}
		})
	}
}

// Agents load PostgreSQL and QuestDB concurrently, and all results are correct.
func TestAgentsOnPostgres(t *testing.T) {
	options := conformance.NewDatabase(t, postgres.Driver(), "DROP DATABASE IF EXISTS %s WITH (FORCE)")
	testOnServer(t, postgres.Driver(), options)
	testMixedOnServer(t, postgres.Driver(), options)
}

func TestAgentsOnQuestDB(t *testing.T) {
	conformance.Sole(t, questdb.Driver())
	options := conformance.TestServer(t, questdb.Driver())
	testOnServer(t, questdb.Driver(), options)
	testMixedOnServer(t, questdb.Driver(), options)
}

// If an agent of QuestDB, which keeps one row per series and time, is lost, another one loads its
// share, whatever the progress.
func TestLostAgentsOnQuestDB(t *testing.T) {
	k := questdb.Driver()
	conformance.Sole(t, k)
	options, c := conformance.TestServer(t, k, "dedup", "tags"), catalogOf(k)
	random := rand.New(rand.NewPCG(18, 50))
	for i := range 5 {
		agents := newCrew(t, 3, c)
		victim, after := random.IntN(3), random.Int64N(1400)
		agents.dies = func(call, member int) int64 {
			if call == 2 && member == victim {
				return after
			}
			return -1
		}
		run, err := execute(t, onServer(t, "cpu-only", k, options), c, agents, plan.Steps{Load: true})
		if err != nil {
			t.Fatal(err)
		}
		if l := run.Targets[0].Load; run.Status != result.Complete || l.Withheld != "" || len(l.Census) == 0 || l.Rows != run.Dataset.Rows {
			t.Errorf("%d: agent %s died after %d rows: %s, withheld %q, %d rows", i, nameOf(victim), after, run.Reason, l.Withheld, l.Rows)
		}
	}
}
