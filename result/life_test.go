package result

import (
	"slices"
	"testing"
)

// The figures of three loads are their medians; times that were not reached are the longest, and lower
// bounds remain bounds.
func TestPoolLives(t *testing.T) {
	one := func(took, freshness, usual float64, disk int64) *Life {
		return &Life{
			Base: Mixed{Types: []MixedType{{Type: "lastpoint", Executed: 10, Verdict: Verdict{Checked: 2}}}}, Failed: 1,
			Course: []LifePoint{{At: 1, Median: took, Queries: 10, Failed: int64(took) / 3, Rows: int64(took), DiskBytes: disk, Backlog: -1}},
			Events: []LifeEvent{
				{Do: "late", Begin: took, End: 2 * took, Limit: 1.5, UsualAfter: usual, During: LifePeriod{Queries: 5, Median: took, Freshness: freshness}, DiskAfter: disk, BacklogBefore: -1, Checked: 3},
				{Do: "late", Unsupported: "n/a"},
			},
		}
	}
	first := one(3, 1, -1, -1)
	lives := []*Life{first, one(1, -10, 4, 70), one(2, -10, -1, 90)}
	all := PoolLives(lives)
	e := &all.Events[0]
	if took := e.End - e.Begin; took != 2 || e.During.Median != 2 || e.During.Queries != 15 || e.Checked != 9 {
		t.Errorf("%+v took %v s, want medians of 2 and sums of 15 and 9", e, took)
	}
	if e.During.Freshness != -10 || e.UsualAfter != -1 || e.DiskAfter != 80 || e.BacklogMost != 0 || e.BacklogBack != -1 {
		t.Errorf("%+v; want a freshness of at least 10 s, not yet as usual, 80 bytes, and an unknown backlog", e)
	}
	if all.Loads != 3 || all.Failed != 3 || all.Base.Types[0].Executed != 30 || all.Base.Types[0].Verdict.Checked != 6 || first.Base.Types[0].Executed != 10 {
		t.Errorf("%+v, the first life is %+v", all, first)
	}
	if p := all.Course[0]; p.Median != 2 || p.DiskBytes != 80 || p.Backlog != -1 || p.Queries != 30 || p.Failed != 1 || p.Rows != 2 {
		t.Errorf("the interval is %+v; want the sums of 30 queries and a failed one, and the median of the rows", p)
	}
	if names := all.EventNames(); !slices.Equal(names, []string{"late", "late (2)"}) || all.Events[1].Unsupported != "n/a" {
		t.Errorf("events %v, the second is %+v", names, all.Events[1])
	}
	lives[1].Withheld = "a wrong answer"
	if PoolLives(lives).Withheld == "" {
		t.Error("the wrong answer of one load is lost")
	}
}
