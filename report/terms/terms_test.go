package terms

import (
	"testing"

	"github.com/tsmark/tsmark/result"
)

// Sides with the same words are listed together; location and credentials are not options;
// options of different systems are not compared.
func TestAmong(t *testing.T) {
	side := func(name, kind, index string, embedded bool) Side {
		r := &result.Run{ID: "r"}
		return Side{name, []Measured{{r, &result.Target{Name: name, Driver: kind, Embedded: embedded, CoLocated: !embedded, Options: map[string]string{"index": index, "port": name}}}}}
	}
	for _, c := range []struct {
		sides []Side
		want  string
	}{
		{[]Side{side("a", "x", "on", true), side("b", "x", "on", true)}, ""},
		{[]Side{side("a", "x", "on", true), side("b", "x", "off", true), side("c", "x", "on", true)}, "option index: on (a, c), off (b)"},
		{[]Side{side("a", "x", "on", true), side("b", "y", "off", false)}, "place: in tsmark's process (a), a server on tsmark's host (b)"},
	} {
		got := ""
		for _, d := range Differences(c.sides...) {
			if d.Condition == "host" { // a server on the host is on the same one
				t.Errorf("%s", d)
			}
			got += d.String()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A server that tsmark started with settings of its own differs from one that was started without,
// whatever systems they are, and the words say what the server made of them.
func TestServerSettings(t *testing.T) {
	r := &result.Run{ID: "r"}
	side := func(name string, settings map[string]string) Side {
		target := &result.Target{Name: name, Driver: name, Embedded: true, ServerSettings: settings}
		target.Description.Settings = map[string]string{"shared_buffers": "1GB", "work_mem": "8MB"}
		return Side{name, []Measured{{r, target}}}
	}
	got := Differences(side("a", map[string]string{"work_mem": "8192kB", "shared_buffers": "1GB"}), side("b", nil))
	if want := "server settings: shared_buffers=1GB, work_mem=8192kB (the server: 8MB) (a), none (b)"; len(got) != 1 || got[0].String() != want || got[0].Bars {
		t.Errorf("%v, want %s", got, want)
	}
}

// A disk that was made for crashes is slower than others: it bars verdicts on different runs.
func TestDisk(t *testing.T) {
	side := func(name string, crash *result.Crash) Side {
		return Side{name, []Measured{{&result.Run{ID: name}, &result.Target{Name: name, Driver: "x", Embedded: true, Crash: crash}}}}
	}
	got := Differences(side("a", &result.Crash{Disk: "ext4"}), side("b", &result.Crash{}))
	if want := "disk: made for crashes (a), none (b)"; len(got) != 1 || got[0].String() != want || !got[0].Bars {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestUnranked(t *testing.T) {
	wrong := result.Queries{Type: "wrong", Withheld: "query 1", Verdict: result.Verdict{Difference: "query 1"}}
	missing := result.Queries{Type: "missing", Withheld: "an agent did not finish its share"}
	own := wrong
	own.Type, own.Texts = "own", result.TextsOwn
	for _, c := range []struct {
		repeat result.Repeat
		want   string
	}{
		{result.Repeat{Queries: []result.Queries{{Type: "fine"}, own, {Type: "none", Unsupported: "no"}}}, ""},
		{result.Repeat{Queries: []result.Queries{wrong, {Type: "fine"}, missing}}, "wrong answers in wrong; figures of missing withheld"},
		{result.Repeat{Load: &result.Load{Withheld: "7 rows are lost"}}, "the load is withheld"},
		{result.Repeat{Load: &result.Load{Mixed: &result.Mixed{Types: []result.MixedType{{Type: "m", Withheld: "w", Verdict: wrong.Verdict}}}}}, "wrong answers in m (while rows were written)"},
	} {
		if got := ReasonUnranked(&result.Target{Repeats: []result.Repeat{c.repeat}}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
