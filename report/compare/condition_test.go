package compare

import (
	"strings"
	"testing"
)

func TestParseConditions(t *testing.T) {
	for text, want := range map[string]string{
		"p99 > +5%":                       "p99 > +5%",
		"median>10%":                      "median > +10%",
		" load < -5% , disk > +20%! ":     "load < -5%, disk > +20%!",
		"p99.9 >\t+0.5 %,geomean > +0% !": "p99.9 > +0.5%, geomean > +0%!",
		"acked < -99.5%":                  "acked < -99.5%",
		"p99 +5%":                         `character 5: > or < is expected, not "+5%"`,
		"p99 > 50ms":                      "p99 > 50ms",
		"max > 0.0015 s!, median<20us":    "max > 1.5ms!, median < 20us",
		"load < 100k, sent < 2.5M/s":      "load < 100000rows/s, sent < 2500000rows/s",
		"acked < 12":                      "acked < 12rows/s",
		"disk > 2GiB, disk > 512 B":       "disk > 2147.483648MB, disk > 512B",
		"p99 >":                           "character 6: a change is expected, as +5%, or a limit, as 50ms, not the end",
		"p99 > +5":                        "character 9: % or a unit is expected, as in 50ms, not the end",
		"p99 > 5":                         "character 8: % or a unit is expected, as in 50ms, not the end",
		"p99 > 5rows/s":                   `character 8: % or a unit is expected, as in 50ms, not "rows/s"`,
		"disk > 5ms":                      `character 9: % or a unit is expected, as in 2GiB, not "ms"`,
		"load < +5/s":                     `character 10: % or a unit is expected, as in 100000rows/s, not "/s"`,
		"p99 > +5% twice":                 `character 11: a comma, ! or the end is expected, not "twice"`,
		"p99 > +5%!!":                     `character 10: a comma, ! or the end is expected, not "!!"`,
		"p99 > -5%":                       "character 7: > takes a rise, as +5%: no change at all would be above -5%",
		"median > +1%, load < 5%":         "character 22: < takes a fall, as -5%: no change at all would be below +5%",
		"load < -100%":                    "character 9: a change is above -100% and up to +1000000%",
		"":                                "character 1: a metric is missing before the end; write one as in p99 > +5%",
		"p99 > +5%,":                      "character 11: a metric is missing before the end; write one as in p99 > +5%",
		"p98 > +5%":                       `character 1: there is no metric "p98"; did you mean "p90" or "p95" or "p99"?`,
		"median > +1.2.3%":                `character 10: a change is expected, as +5%, or a limit, as 50ms, not "+1.2.3%"`,
		"median >> +1%":                   `character 8: > or < is expected, not ">> +1%"`,
		"\xff\n":                          `character 1: a metric is missing before "\xff\n"; write one as in p99 > +5%`,
	} {
		conditions, err := ParseConditions(text)
		var parts []string
		for _, c := range conditions {
			parts = append(parts, c.String())
		}
		got := strings.Join(parts, ", ")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A parsed condition is written so that it parses to the same condition; a parse error
// is one line.
func FuzzParseConditions(f *testing.F) {
	for _, text := range []string{"p99 > +5%", "load < -5%, disk > +20%!", "median>10%", "p99.9 > +1e3%", "p99 > 50ms", "load < 1.5M!", "disk > .001KiB", "disk>.00001%", "load<-0%", "x", ",", "p99 > +\xff%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		conditions, err := ParseConditions(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: more than a line: %q", text, err)
			}
			return
		}
		for _, c := range conditions {
			again, err := ParseConditions(c.String())
			if err != nil || len(again) != 1 || again[0].String() != c.String() || again[0].Metric != c.Metric || again[0].Rise != c.Rise || again[0].Absolute != c.Absolute || again[0].AsIs != c.AsIs {
				t.Errorf("%q: %+v is written %s and read as %+v: %v", text, c, c, again, err)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	conditions := func(text string) []Condition {
		list, err := ParseConditions(text)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	withheld := system(2, 6, 1)
	for _, r := range withheld.Runs {
		r.Targets[0].Repeats[0].Queries[0].Withheld = "wrong"
	}
	noLoad := system(2, 6, 1)
	for _, r := range noLoad.Runs {
		r.Targets[0].Repeats[0].Load = nil
	}
	few := system(2, 6, 1)
	few.Runs[3].Targets[0].Repeats[0].Queries[0].Each = few.Runs[3].Targets[0].Repeats[0].Queries[0].Each[:99]
	cut := Side{}
	for i, r := range system(2, 6, 1).Runs {
		q := &r.Targets[0].Repeats[0].Queries[0]
		q.Each = []float64{-30, -30, -30 - float64(i)}
		cut.Runs = append(cut.Runs, r)
	}
	for _, c := range []struct {
		name        string
		a, b        Side
		text        string
		holds, open []string // beginnings
	}{
		{"two of three types", system(1, 6, 1), system(2, 6, 1.1), "median > +5%",
			[]string{"median > +5%: duck first median changed by +9.36% (p = 0.015)", "median > +5%: duck second median changed by +8.95% (p = 0.015)"}, nil},
		{"not so far", system(1, 6, 1), system(2, 6, 1.1), "median > +20%, load < -20%, disk > +20%", nil, nil},
		{"load and disk", system(1, 6, 1), system(2, 6, 1.1), "load < -5%,disk > +5%",
			[]string{"load < -5%: duck load load changed by -8.83% (p = 0.015)", "disk > +5%: duck load disk changed by +10%"}, nil},
		{"chance", system(1, 6, 1), system(2, 6, 1), "median > +0%", nil, nil},
		{"too few", system(1, 1, 1), system(2, 1, 1.5), "geomean > +5%", nil, []string{"geomean > +5%: duck all types geomean changed by +3"}},
		{"as it is", system(1, 1, 1), system(2, 1, 1.5), "geomean > +5%!", []string{"geomean > +5%!: duck all types geomean changed by +3"}, nil},
		{"withheld in B", system(1, 6, 1), withheld, "p99 > +50%", []string{"p99 > +50%: duck first p99 not compared: B: withheld: wrong"}, []string{"p99 > +50%: duck second", "p99 > +50%: duck third"}},
		{"withheld in A", withheld, system(1, 6, 1), "p99 > +50%", nil, []string{"p99 > +50%: duck first p99 not compared: A: ", "p99 > +50%: duck second", "p99 > +50%: duck third"}},
		{"no load in B", system(1, 6, 1), noLoad, "load < -50%", []string{"load < -50%: duck load load not compared: B: not loaded"}, nil},
		{"no load at all", noLoad, withNewIDs(noLoad), "load < -50%", nil, []string{"load < -50%: no target has the metric load"}},
		{"too few queries", system(1, 6, 1), few, "p99 > +50%, p99.9 > +5%!", nil, []string{
			"p99 > +50%: duck first p99 not compared: too few queries: p99 needs 100 in each round, and one has 99 in common",
			"p99.9 > +5%!: duck first p99.9 not compared: too few queries: p99.9 needs 1000 in each round, and one has 99 in common",
			"p99.9 > +5%!: duck second", "p99.9 > +5%!: duck third"}},
		{"cut off", system(1, 6, 1), cut, "median > +50%", []string{"median > +50%: duck first median changed by ≥+"}, nil},
	} {
		holds, open, _ := mustCompare(t, c.a, c.b).Check(conditions(c.text))
		for what, pair := range map[string]struct {
			got  []Finding
			want []string
		}{"holds": {holds, c.holds}, "open": {open, c.open}} {
			ok := len(pair.got) == len(pair.want)
			for i := range pair.want {
				ok = ok && strings.HasPrefix(pair.got[i].String(), pair.want[i])
			}
			if !ok {
				t.Errorf("%s: %s: %v, want %v", c.name, what, pair.got, pair.want)
			}
		}
	}
}

// withNewIDs returns the same runs under other IDs.
func withNewIDs(s Side) Side {
	var other Side
	for _, r := range s.Runs {
		again := *r
		again.ID += "'"
		other.Runs = append(other.Runs, &again)
	}
	return other
}

// An absolute limit applies to the figures of one run, and counts if the whole interval is
// beyond it.
func TestAlone(t *testing.T) {
	six, one := system(1, 6, 1).Runs, system(1, 1, 1).Runs
	several := Side{Runs: six}
	withheld := system(3, 6, 1)
	for _, r := range withheld.Runs {
		r.Targets[0].Repeats[0].Queries[0].Withheld = "wrong"
	}
	for _, c := range []struct {
		name        string
		of          Side
		text        string
		holds, open []string // beginnings
	}{
		{"below", several, "median > 3600s!", nil, nil},
		{"one repeat", Side{Runs: one}, "geomean > 1ns", nil, []string{"geomean > 1ns: duck all types geomean is "}},
		{"one repeat as it is", Side{Runs: one}, "geomean > 1ns!", []string{"geomean > 1ns!: duck all types geomean is "}, nil},
		{"six", several, "geomean > 1ns", []string{"geomean > 1ns: duck all types geomean is "}, nil},
		{"a rate", several, "load < 1000M", []string{"load < 1000000000rows/s: duck load load is "}, nil},
		{"a size", several, "disk > 1B, disk < 1B", []string{"disk > 1B: duck load disk is "}, nil},
		{"withheld", withheld, "p90 > 3600s", nil, []string{"p90 > 3600s: duck first p90 is not known: "}},
		{"nobody has it", several, "mixed-load < 1k", nil, []string{"mixed-load < 1000rows/s: no target has the metric mixed-load"}},
	} {
		conditions, err := ParseConditions(c.text)
		if err != nil {
			t.Fatal(err)
		}
		// Several runs are repeats of one thing: as B they are judged as one run is.
		compared := &Comparison{}
		for _, s := range c.of.subjects() {
			compared.Targets = append(compared.Targets, compareTarget(s, s, nil, Options{}))
		}
		if len(c.of.Runs) == 1 {
			compared = SingleRun(c.of.Runs[0])
		}
		holds, open, _ := compared.Check(conditions)
		for what, pair := range map[string]struct {
			got  []Finding
			want []string
		}{"holds": {holds, c.holds}, "open": {open, c.open}} {
			ok := len(pair.got) == len(pair.want)
			for i := range pair.want {
				ok = ok && i < len(pair.got) && strings.HasPrefix(pair.got[i].String(), pair.want[i])
			}
			if !ok {
				t.Errorf("%s: %s: %v, want %v", c.name, what, pair.got, pair.want)
			}
		}
	}
}

// A lack that is certain is known before the run.
func TestForeseen(t *testing.T) {
	for _, c := range []struct {
		text                    string
		repeats, loads, queries int
		lack                    Lack
		needs                   int
	}{
		{"median > 1s", 6, 1, 60, LacksNothing, 0},
		{"median > 1s", 5, 6, 60, LacksRepeats, 6},
		{"median > 1s!", 1, 1, 60, LacksNothing, 0},
		{"geomean > 1s", 1, 1, 60, LacksRepeats, 6},
		{"load < 1k", 6, 5, 60, LacksLoads, 6},
		{"load < 1k", 1, 6, 60, LacksNothing, 0},
		{"disk > 1GiB", 1, 1, 60, LacksLoads, 6},
		{"load < 1k!", 1, 1, 60, LacksNothing, 0},
		{"p99 > 1s", 6, 1, 594, LacksQueries, 100},
		{"p99 > 1s", 6, 1, 595, LacksNothing, 0}, // one repeat has 100; the others' types may have more
		{"p99 > 1s!", 1, 1, 99, LacksQueries, 100},
		{"p99.9 > 1s", 6, 1, 1000, LacksQueries, 1000},
		{"max > 1s", 6, 1, 6, LacksNothing, 0},
		{"mixed-p99 > 1s", 1, 1, 1, LacksNothing, 0},
		{"p99 > +5%", 1, 1, 1, LacksNothing, 0},
	} {
		conditions, err := ParseConditions(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if lack, needs := conditions[0].Foreseen(c.repeats, c.loads, c.queries); lack != c.lack || needs != c.needs {
			t.Errorf("%s with %d repeats, %d loads, %d queries: lacks %q, needs %d", c.text, c.repeats, c.loads, c.queries, lack, needs)
		}
	}
}
