package process

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/puppet"
)

// family is a server (10) with children 11 and 12 and a grandchild 13, beside
// a shell (20) with a child.
func family() []Info {
	return []Info{
		{PID: 1}, {PID: 10, Parent: 1, Group: 10, Started: 5}, {PID: 11, Parent: 10, Group: 10, Started: 6},
		{PID: 12, Parent: 10, Group: 12, Started: 7}, {PID: 13, Parent: 12, Group: 12, Started: 8, Ended: true},
		{PID: 20, Parent: 1, Group: 20, Started: 1}, {PID: 21, Parent: 20, Group: 20, Started: 2},
	}
}

func pids(infos []Info) []int {
	var all []int
	for _, p := range infos {
		all = append(all, p.PID)
	}
	return all
}

func TestTree(t *testing.T) {
	for _, c := range []struct{ roots, want []int }{
		{[]int{10}, []int{10, 11, 12, 13}},
		{[]int{12, 10}, []int{10, 11, 12, 13}},
		{[]int{21, 99}, []int{21}},
		{nil, nil},
	} {
		if got := pids(tree(family(), c.roots)); !slices.Equal(got, c.want) {
			t.Errorf("tree of %v is %v, want %v", c.roots, got, c.want)
		}
	}
	circle := []Info{{PID: 1, Parent: 2}, {PID: 2, Parent: 1}}
	if got := pids(tree(circle, []int{1})); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("a circle: %v", got)
	}
	if got := topmost(circle, []int{1}); len(got) > 1 {
		t.Errorf("topmost of a circle: %v", got)
	}
}

func TestTopmost(t *testing.T) {
	for _, c := range []struct{ pids, want []int }{
		{[]int{13, 10, 11}, []int{10}}, // 13's parent is not listed, its grandparent is
		{[]int{21, 12}, []int{12, 21}},
		{[]int{10, 10}, []int{10}},
		{nil, nil},
	} {
		if got := topmost(family(), c.pids); !slices.Equal(got, c.want) {
			t.Errorf("topmost of %v is %v, want %v", c.pids, got, c.want)
		}
	}
}

func TestMembers(t *testing.T) {
	server := Info{PID: 10, Started: 5}
	for name, c := range map[string]struct {
		table []Info
		known []Info
		want  []int
	}{
		"all of the tree, without the ended":   {table: family(), want: []int{10, 11, 12}},
		"the leader has gone, its group runs":  {table: family()[2:3], want: []int{11}},
		"an orphan that was known":             {table: family()[3:4], known: []Info{{PID: 12, Started: 7}}, want: []int{12}},
		"another process under a known number": {table: family()[3:4], known: []Info{{PID: 12, Started: 6}}},
		"another process under the leader's number": {
			table: []Info{{PID: 10, Group: 10, Started: 99}, {PID: 30, Parent: 10, Group: 10, Started: 100}},
		},
		"nobody": {},
	} {
		if got := pids(membersIn(c.table, server, 10, c.known)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestTracker checks that children are found although the tracker does not read all processes
// again.
func TestTracker(t *testing.T) {
	dir := t.TempDir()
	late, await := filepath.Join(dir, "late"), filepath.Join(dir, "go")
	p, err := Start(t.Context(), Command{
		Path: puppet.Program(t), Args: puppet.Args("pid:"+filepath.Join(dir, "ready"), "await:"+await, "fork:pid:"+late+"|wait:", "wait:"),
		Ready: exists(filepath.Join(dir, "ready")),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	var tracker Tracker
	before, err := tracker.Tree(t.Context(), p.PID())
	if err != nil || !slices.Equal(pids(before), []int{p.PID()}) {
		t.Fatalf("found %v, %v", before, err)
	}
	tracker.refresh = time.Now().Add(time.Hour)
	if err := os.WriteFile(await, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	child := puppet.Number(t, late)
	both, err := tracker.Tree(t.Context(), p.PID())
	if want := []int{min(p.PID(), child), max(p.PID(), child)}; err != nil || !slices.Equal(pids(both), want) {
		t.Errorf("found %v, %v; want %v", both, err, want)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if after, err := tracker.Tree(t.Context(), p.PID()); err != nil || len(after) > 0 && after[0].PID == p.PID() {
		t.Errorf("found %v, %v after it was killed", after, err)
	}
}
