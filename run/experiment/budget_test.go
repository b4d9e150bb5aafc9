package experiment

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A user who names no limit of the queries has the default budget. Every limit of one's own keeps its
// meaning, and a flag replaces the limits of a file.
func TestSetBudget(t *testing.T) {
	const budget = 5 * time.Minute
	for _, c := range []struct {
		name, file string
		flags      []string
		want       string // of Time, TimeBox and the rounds of two targets
	}{
		{"nothing named", "", nil, "5m0s 0s 6"},
		{"something else named", "queries: {types: [lastpoint], verify: 5, warm-up: 5s}", nil, "5m0s 0s 6"},
		{"a budget", "queries: {time: 90s}", nil, "1m30s 0s 6"},
		{"a budget by flag", "", []string{"time=90s"}, "1m30s 0s 6"},
		{"a budget, as a file has it", "queries: {count: 1000, repeats: 0, time: 90s, time-box: 0s}", nil, "1m30s 0s 6"},
		{"no budget", "queries: {time: 0s}", nil, "0s 1.2s 6"},
		{"no budget by flag", "queries: {time: 90s, time-box: 3s}", []string{"time=0s"}, "0s 3s 6"},
		{"a time box", "queries: {time-box: 3s}", nil, "0s 3s 6"},
		{"no time box", "", []string{"time-box=0s"}, "0s 0s 6"},
		{"queries", "queries: {count: 100}", nil, "0s 1.2s 6"},
		{"rounds", "", []string{"repeats=3"}, "0s 1.2s 3"},
		{"the default number of rounds", "", []string{"repeats=0"}, "5m0s 0s 6"},
		{"an interval", "queries: {until: 2%}", nil, "0s 1.2s 6"},
		{"a rate", "queries: {rate: 100/s}", nil, "0s 1.2s 6"},
		{"a highest rate", "queries: {find-max-rate: p99<1s}", nil, "0s 1.2s 6"},
		{"cold caches", "queries: {cache: cold}", nil, "0s 1.2s 6"},
		{"a warm-up of queries", "queries: {warm-up: 10}", nil, "0s 1.2s 6"},
		{"a swept time box", "matrix: {queries.time-box: [1s, 2s]}", nil, "0s 1.2s 6"},
		{"a swept budget", "matrix: {queries.time: [1m, 2m]}", nil, "0s 0s 6"},
		{"a flag replaces the file's budget", "queries: {time: 90s}", []string{"repeats=3"}, "0s 1.2s 3"},
		{"a time box replaces it", "queries: {time: 90s, time-box: 0s}", []string{"time-box=4s"}, "0s 4s 6"},
		{"a budget replaces the file's limits", "queries: {time-box: 3s, repeats: 2, until: 2%}", []string{"time=90s"}, "1m30s 0s 6"},
		{"fewer queries within a budget", "queries: {time: 90s}", []string{"count=10"}, "1m30s 0s 6"},
	} {
		e, err := Parse("e.yaml", []byte("name: e\n"+c.file))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.flags {
			key, value, _ := strings.Cut(f, "=")
			if err := e.Set("queries."+key, value, Origin{Flag: "--" + key}); err != nil {
				t.Fatal(err)
			}
		}
		e.SetBudget(budget)
		if got := fmt.Sprint(e.Queries.Time, e.Queries.TimeBox, e.QueryRepeats()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if err := e.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		again, err := Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		same, err := Parse("again.yaml", again)
		if err != nil {
			t.Fatal(err)
		}
		same.SetBudget(time.Hour)
		if same.Queries.Time != e.Queries.Time || same.Queries.TimeBox != e.Queries.TimeBox || same.QueryRepeats() != e.QueryRepeats() {
			t.Errorf("%s: written and read again %v, %v", c.name, same.Queries.Time, same.Queries.TimeBox)
		}
	}
}

// The default number of rounds gives way to limits that the user named.
func TestSetRounds(t *testing.T) {
	for file, want := range map[string]string{
		"": "0s 2s 20", "queries: {time: 90s}": "1m30s 0s 6", "queries: {time-box: 3s}": "0s 3s 6", "queries: {types: [lastpoint]}": "0s 2s 20",
	} {
		e, err := Parse("e.yaml", []byte("name: e\n"+file))
		if err != nil {
			t.Fatal(err)
		}
		e.SetRounds(20, 2*time.Second)
		if got := fmt.Sprint(e.Queries.Time, e.Queries.TimeBox, e.QueryRepeats()); got != want {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
		if err := e.Check(); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// A single target has as many rounds as several, if a time box is the only limit, or a number of queries
// and each round has enough of them.
func TestRoundsOfOneTarget(t *testing.T) {
	for queries, want := range map[string]int{
		"time: 1m": 6, "count: 30": 6, "count: 29": 1, "warm-up: 100": 6, "count: 1000, warm-up: 161": 6, "count: 1000, warm-up: 162": 1,
		"time-box: 3s": 6, "time-box: 0s": 6, "time-box: 3s, repeats: 1": 1, "time-box: 3s, rate: 10/s": 1, "time-box: 3s, warm-up: 10": 1,
		"count: 30, repeats: 1": 1, "count: 30, time-box: 3s": 1, "count: 30, rate: 10/s": 1, "count: 30, cache: cold": 1,
	} {
		e, err := Parse("e.yaml", []byte("targets: [{name: a, driver: sqlite}]\nqueries: {"+queries+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		e.SetBudget(time.Minute)
		if got := e.QueryRepeats(); got != want {
			t.Errorf("%s: %d rounds, want %d", queries, got, want)
		}
		if err := e.Check(); err != nil {
			t.Errorf("%s: %v", queries, err)
		}
	}
}

// A budget cannot be combined with a limit that is as explicit.
func TestBudgetWithOtherLimits(t *testing.T) {
	for _, other := range []string{"time-box: 1s", "repeats: 3", "until: 2%", "rate: 10/s", "find-max-rate: p50<1s", "cache: cold", "warm-up: 10"} {
		e, err := Parse("e.yaml", []byte("queries:\n  time: 1m\n  "+other+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		e.SetBudget(time.Minute)
		key, _, _ := strings.Cut(other, ":")
		want := "e.yaml:2:9: queries.time: is divided among as many rounds as the medians need, and queries." + key + " sets another limit; leave one of them out"
		if err := e.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// The first rounds take a third of the budget at most, and a single type no more than a 300th in each.
func TestTimeBoxOfBudget(t *testing.T) {
	e := Default()
	e.Queries.Time, e.Queries.TimeBox = 5*time.Minute, 0
	for _, c := range []struct {
		types, targets int
		want           time.Duration
	}{{1, 1, time.Second}, {8, 2, time.Second}, {10, 2, 833333333}, {16, 20, 52083333}, {16, 40, leastTimeBox}} {
		e.Targets = slices.Repeat([]Target{{}}, c.targets)
		got := e.TimeBoxOfRepeat(c.types)
		if got != c.want {
			t.Errorf("%d types of %d targets: %v, want %v", c.types, c.targets, got, c.want)
		}
		if first := got * time.Duration(DefaultRepeats*c.types*c.targets); got > leastTimeBox && first > e.Queries.Time/3 {
			t.Errorf("%d types of %d targets: the first rounds take %v", c.types, c.targets, first)
		}
	}
}
