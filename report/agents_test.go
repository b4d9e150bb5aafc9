package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// withAgents returns a run of three agents, with every kind of outcome: one was the limit
// in a query type, one was lost in a load that another agent finished for it, and
// one has a clock that is known badly.
func withAgents(t *testing.T) *result.Run {
	t.Helper()
	run, _ := fixture(t)
	run.ID, run.Name = "20260131-180000-a9e2", "scaled"
	run.Targets = run.Targets[1:]
	host := run.Host
	clock := func(at, offset, roundTrip float64) *result.Clock {
		return &result.Clock{At: at, Offset: offset, Uncertainty: roundTrip / 2, RoundTrip: roundTrip}
	}
	run.Agents = []result.Agent{
		{Name: "north-1", Host: host, Tool: run.Tool, Begin: clock(0.4, 0.0031, 0.0004), End: clock(190, 0.0033, 0.0005)},
		{Name: "north-2", Host: host, Tool: run.Tool, Begin: clock(0.4, -0.12, 0.0024), End: clock(190, -0.02, 0.0030)},
		{Name: "south", Host: host, Tool: run.Tool, Begin: clock(0.4, 1.5, 0.0600), Lost: "agent south was lost: no heartbeat for 10 s"},
	}
	seed := uint64(1000)
	client := func(busy float64) *result.Client {
		return &result.Client{Wall: 8, CPU: result.Value(8 * 16 * busy), User: result.Value(7 * 16 * busy), System: result.Value(16 * busy), Share: result.Value(busy), Procs: 16, Cores: 16, GCPauseMax: 0.0003,
			SchedulingP99: 40e-6, SchedulingMax: 360e-6, NetSent: 8 << 27, NetReceived: 8 << 20, Loopback: result.Absent()}
	}
	part := func(agent string, share int, skew, wall float64) result.Part {
		return result.Part{Agent: agent, Share: share, Skew: skew, Wall: wall, Client: client(0.11)}
	}
	drawn := func(n int, median time.Duration) *result.Latency {
		seed++
		l := latencies(t, seed, n, median)
		return &l
	}
	target := &run.Targets[0]
	load := *target.Load
	load.Batches = *drawn(864, 12*time.Millisecond)
	load.Rows, load.Acked = 8_640_000, 8.1
	load.Retries = &result.Retries{Tries: 1, SentTwice: 700_000, Cause: "agent south was lost"}
	load.Parts = []result.Part{part("north-1", 0, 0.0004, 4.0), part("north-2", 1, 0.0021, 4.1), part("south", 2, 0.0300, 1.2), part("north-1", 2, 4.05, 3.9)}
	for i, rows := range []int64{2_880_000, 2_880_000, 700_000, 2_880_000} {
		load.Parts[i].Rows, load.Parts[i].Batches = rows, drawn(int(rows/10000), 12*time.Millisecond)
	}
	load.Parts[2].Lost, load.Parts[2].TakenOver = "agent south was lost: no heartbeat for 10 s", "north-1"
	target.Repeats = nil
	target.RepeatOf(1).Load = &load
	for number := 1; number <= 3; number++ {
		repeat := target.RepeatOf(number)
		for k, name := range []string{"single-groupby-1-1-1", "double-groupby-all", "lastpoint"} {
			seed++
			median := []time.Duration{800 * time.Microsecond, 1900 * time.Millisecond, 5 * time.Millisecond}[k]
			q := queries(t, seed, name, "a query", 300, median, 60)
			q.Parts = []result.Part{part("north-1", 0, 0.0002*float64(number), q.Wall), part("north-2", 1, 0.0005, q.Wall)}
			for i := range q.Parts {
				q.Parts[i].Queries, q.Parts[i].Service = 150, drawn(150, median)
			}
			switch {
			case k == 2 && number == 2:
				q.Parts[1].ClientBound = "the client used 93 % of its processors"
				q.Parts[1].Client = client(0.93)
			case k == 1 && number == 3:
				q.Parts[1].Lost, q.Withheld = "its program ended", "agent north-2 did not finish share 1: its program ended"
			case k == 0:
				q.Parts[1].Skew = 0.0061
			}
			repeat.Queries = append(repeat.Queries, q)
		}
	}
	pooled, err := target.Pool()
	if err != nil {
		t.Fatal(err)
	}
	*target = pooled
	return run
}

// The agents of a run in every format: their names, their work, and the warnings about
// them before all figures.
func TestAgents(t *testing.T) {
	run := withAgents(t)
	golden(t, "agents.txt", render(t, write.Text, write.Options{Verbose: true}, run))
	golden(t, "agents-brief.txt", render(t, write.Text, write.Options{}, run))
	golden(t, "agents.md", render(t, write.Markdown, write.Options{}, run))
	golden(t, "agents.csv", render(t, write.CSV, write.Options{}, run))
	if _, brief, _ := strings.Cut(render(t, write.Text, write.Options{Width: 1000}, run), "Agents: what each did"); strings.Count(brief, " all ") < 3 {
		t.Errorf("agents stand without all of them:\n%s", brief)
	}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML} {
		out := strings.Join(strings.Fields(strings.ReplaceAll(render(t, format, write.Options{Verbose: true, Width: 1000}, run), `\_`, "_")), " ")
		for _, want := range []string{
			"agent south did not finish share 3: no heartbeat for 10 s. Agent north-1 loaded it again",
			"agent north-2 did not finish share 2: its program ended. Nobody took it over.",
			"Figures of 1 query type withheld: an agent did not finish its share.",
			"Client-bound: agent north-2 in quest, lastpoint (the client used 93 % of its processors)",
			"Agents began further apart than 1 % of the phase",
			"Clocks of two agents are uncertain against each other",
			"clock was set",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is not in\n%s", format, want, out)
			}
		}
	}
	var decoded []*result.Run
	if err := json.Unmarshal([]byte(render(t, write.JSON, write.Options{}, run)), &decoded); err != nil {
		t.Fatal(err)
	}
	if got := decoded[0].Targets[0].Repeats[0].Load.Parts; len(decoded[0].Agents) != 3 || len(got) != 4 || got[2].TakenOver != "north-1" {
		t.Errorf("JSON has other agents: %+v", got)
	}
}

// A type with wrong answers is reported as such, even if an agent did not
// finish its share of it.
func TestMissingAndWrong(t *testing.T) {
	run := withAgents(t)
	run.Targets[0].Repeats[0].Queries[1].Withheld = "query 7: 3 rows, 4 expected"
	run.Targets[0].Repeats[0].Queries[1].Verdict.Difference = "query 7: 3 rows, 4 expected"
	out := render(t, write.Text, write.Options{Width: 1000}, run)
	if !strings.Contains(out, "Figures of 1 query type withheld: the check of the answers failed.") || strings.Contains(out, "withheld: an agent") {
		t.Error(out)
	}
}

// A figure that does not stand is in no part either.
func TestPartsOfWithheldFigures(t *testing.T) {
	run := withAgents(t)
	load := run.Targets[0].Repeats[0].Load
	load.Withheld, load.Parts[0].Wall, load.Parts[0].Rows = "rows were lost", 1, 123_456_789
	*run.Targets[0].Load = *load
	for _, format := range []write.Format{write.Text, write.Markdown, write.CSV, write.HTML, write.JSON} {
		out := render(t, format, write.Options{Verbose: true, Width: 1000}, run)
		if strings.Contains(out, "123,000,000") || strings.Contains(out, "123456789") {
			t.Errorf("%s shows what an agent did of a load that is withheld", format)
		}
		if format != write.CSV && !strings.Contains(out, "no heartbeat for 10") {
			t.Errorf("%s does not say that an agent was lost", format)
		}
	}
}

// If there are many agents, a table shows only the notable ones.
func TestManyAgents(t *testing.T) {
	slowtest.Skip(t)
	run := withAgents(t)
	for i := range run.Targets[0].Repeats {
		for j := range run.Targets[0].Repeats[i].Queries {
			q := &run.Targets[0].Repeats[i].Queries[j]
			for n := range 100 {
				one := q.Parts[0]
				one.Agent, one.Share, one.Skew, one.Wall = fmt.Sprintf("more-%d", n), n+2, 1e-6*float64(n), one.Wall*(1+float64((7*n)%100))
				q.Parts = append(q.Parts, one)
			}
		}
	}
	out := render(t, write.Markdown, write.Options{}, run)
	_, out, _ = strings.Cut(out, "## Agents: what each did")
	for name, want := range map[string]int{"| north-1 |": 3, "| north-2 |": 3, "| more-0 |": 0, "| more-57 |": 2, "| more-3 |": 0} {
		if got := strings.Count(out, name); got != want {
			t.Errorf("%s is in %d rows, want %d:\n%s", name, got, want, out)
		}
	}
	if !strings.Contains(out, "up to 99 more") {
		t.Errorf("nothing says that agents are left out:\n%s", out)
	}
}

// A run without agents says nothing of them, and has no columns for them.
func TestNoAgents(t *testing.T) {
	complete, _ := fixture(t)
	with, err := csv.NewReader(strings.NewReader(render(t, write.CSV, write.Options{}, withAgents(t)))).Read()
	if err != nil {
		t.Fatal(err)
	}
	without, err := csv.NewReader(strings.NewReader(render(t, write.CSV, write.Options{}, complete))).Read()
	if err != nil {
		t.Fatal(err)
	}
	if len(with) <= len(without) || strings.Join(with[:len(without)], " ") != strings.Join(without, " ") {
		t.Error("columns of agents come before others, or are missing")
	}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML} {
		if out := render(t, format, write.Options{Verbose: true}, complete); strings.Contains(out, "gents") {
			t.Errorf("%s of a run without agents says something of agents", format)
		}
	}
	text, err := result.Encode(complete)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(`"agents"`)) || bytes.Contains(text, []byte(`"parts"`)) {
		t.Error("the document of a run without agents has fields for them")
	}
}
