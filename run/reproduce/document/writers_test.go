package document

import (
	"testing"

	"github.com/tsmark/tsmark/run/experiment"
)

// Fixstars loads GridDB with 10 workers and batches of 10,000 rows, and the others with 8 workers and
// batches of 1,000, in one comparison. Smaller sizes cut the workers alike. A user's own target keeps
// its own.
func TestWritersOfTargets(t *testing.T) {
	d, ok := Find("fixstars-2023")
	if !ok {
		t.Fatal("no such document")
	}
	e, ok := d.Experiment("load")
	if !ok {
		t.Fatal("no such experiment")
	}
	for _, c := range []struct {
		size           Size
		workers        int // at the point
		griddb, others [2]int
		own            int
	}{
		{Full, 8, [2]int{10, 10000}, [2]int{8, 1000}, 0},
		{Full, 4, [2]int{4, 10000}, [2]int{4, 1000}, 0},
		{Small, 2, [2]int{2, 10000}, [2]int{2, 1000}, 0},
		{Full, 8, [2]int{3, 10000}, [2]int{8, 1000}, 3},
	} {
		x, err := d.Make(e, c.size, []experiment.Target{{Name: "grid", Driver: "griddb", Workers: c.own}, {Name: "questdb", Driver: "questdb"}})
		if err != nil {
			t.Fatal(err)
		}
		points, err := x.Expand()
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, p := range points {
			if p.Experiment.Load.Workers != c.workers {
				continue
			}
			found = true
			if name := p.Experiment.Targets[0].Name; name != "grid" {
				t.Errorf("%s: the target is called %s", c.size, name)
			}
			for i, want := range [][2]int{c.griddb, c.others} {
				if l := p.Experiment.LoadOf(i); [2]int{l.Workers, l.BatchSize} != want {
					t.Errorf("%s, %s: %d workers × %d rows, want %v", c.size, p.Experiment.Targets[i].Name, l.Workers, l.BatchSize, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: no point has %d workers", c.size, c.workers)
		}
	}
}
