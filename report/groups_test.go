package report_test

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

func TestTargetGroups(t *testing.T) {
	target := func(name string, part int) result.Target {
		return result.Target{Name: name, Group: &result.TargetGroup{Number: part, Count: 2}}
	}
	for want, targets := range map[string][]result.Target{
		"":                {{Name: "a"}, {Name: "b"}},
		": a, c; then b.": {target("a", 1), target("b", 2), target("c", 1)},
		": b; then c.":    {target("a", -1), target("b", 1), target("c", 2), target("d", 1<<40)}, // no run of ours
	} {
		var said string
		for _, n := range rank.OrderNotes(&result.Run{Targets: targets}) {
			said += n.Text
		}
		if said != "" != (want != "") || !strings.Contains(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
	}
}

func TestOrderIsNamed(t *testing.T) {
	two := []result.Target{{Name: "a"}, {Name: "b"}}
	for want, r := range map[string]*result.Run{
		"The targets ran in random order, chosen by seed XYZ.": {OrderSeed: "XYZ", Targets: two},
		"": {OrderSeed: "XYZ", Targets: two[:1]},
	} {
		var said string
		for _, n := range rank.OrderNotes(r, &result.Run{Targets: two}) {
			said += n.Text
		}
		if said != want {
			t.Errorf("said %q, want %q", said, want)
		}
	}
}
