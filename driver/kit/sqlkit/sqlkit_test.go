package sqlkit_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

func TestDistinct(t *testing.T) {
	for _, c := range []struct {
		objects []driver.Object
		ok      bool
	}{
		{[]driver.Object{{Name: "a"}, {Name: "A"}}, true},
		{[]driver.Object{{Name: "a", Key: "a"}, {Name: "A", Key: "a"}}, false},
		{[]driver.Object{{Name: "a"}, {Name: "a"}}, false},
		{[]driver.Object{{Name: "tsmark_mark"}}, false},
		{[]driver.Object{{Name: "Tsmark_Mark", Key: "tsmark_mark"}}, false},
	} {
		if err := sqlkit.Distinct(c.objects); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestClaims checks that each series is written once, whichever worker sees it first, and again after a
// rollback.
func TestClaims(t *testing.T) {
	tags := []series.Tag{{Key: "host"}}
	schema := &series.Schema{Series: 100, Tables: []*series.Table{{Name: "a", Tags: tags}, {Name: "b", Tags: tags}, {Name: "c", Tags: []series.Tag{{Key: "host"}}}}}
	of := sqlkit.TagsOf(schema)
	if of[schema.Tables[0]] != of[schema.Tables[1]] || of[schema.Tables[2]].Name != "c_tags" {
		t.Fatalf("%+v", of)
	}
	shared := of[schema.Tables[0]]
	var mu sync.Mutex
	written := make(map[uint32]int)
	write := func(s uint32) error {
		mu.Lock()
		defer mu.Unlock()
		written[s]++
		return nil
	}
	var all []uint32
	for s := range schema.Series {
		all = append(all, s, s)
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			c := shared.NewClaims()
			if err := c.Introduce(all, write); err != nil {
				t.Error(err)
			}
			if i%2 == 0 {
				c.Keep()
			}
			c.Keep()
		})
	}
	group.Wait()
	for s, n := range written {
		if n != 1 {
			t.Errorf("series %d was written %d times", s, n)
		}
	}
	fresh := of[schema.Tables[2]].NewClaims()
	failed := errors.New("disk full")
	if err := fresh.Introduce([]uint32{7}, func(uint32) error { return failed }); err != failed {
		t.Error(err)
	}
	fresh.Release()
	again := 0
	if err := fresh.Introduce([]uint32{7, 7}, func(uint32) error { again++; return nil }); err != nil || again != 1 {
		t.Errorf("after a release it was written %d times: %v", again, err)
	}
	fresh.Keep()
	fresh.Release()
	if err := fresh.Introduce([]uint32{7}, func(uint32) error { again++; return nil }); err != nil || again != 1 {
		t.Errorf("a cached element was encoded again: %v", err)
	}
	if err := fresh.Introduce([]uint32{100}, write); err == nil {
		t.Error("a series beyond the schema is taken")
	}
}
