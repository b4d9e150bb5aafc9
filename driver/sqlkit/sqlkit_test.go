package sqlkit_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

var place = sqlkit.Place{Name: "here", Instead: "give another path"}

func TestReadStamp(t *testing.T) {
	want := session.Stamp{Mark: session.Mark{Tool: "it's", RowsAcked: 5}, Tables: []string{"cpu", "tags"}}
	text, err := want.Text()
	if err != nil {
		t.Fatal(err)
	}
	broken := fmt.Errorf("no connection: %w", driver.ErrUnreachable)
	for _, c := range []struct {
		name    string
		present []string
		text    string
		err     error
		wraps   error
		says    string
	}{
		{"nothing", nil, "", nil, session.ErrNoMark, "here holds no dataset"},
		{"marked", []string{"cpu", "tsmark_mark"}, text, nil, nil, ""},
		{"others'", []string{"a", "b", "c", "d", "e"}, "", nil, driver.ErrExisting, "tables a, b, c and 2 more; give another path"},
		{"not ours", []string{"tsmark_mark"}, "{", nil, driver.ErrExisting, "not as tsmark writes it"},
		{"no such column", []string{"tsmark_mark"}, "", errors.New("no column content"), driver.ErrExisting, "no column content"},
		{"unreadable", []string{"tsmark_mark"}, "", broken, broken, "here: no connection"},
	} {
		got, err := place.ReadStamp(objects(c.present...), func() (string, error) { return c.text, c.err })
		if !errors.Is(err, c.wraps) || c.wraps != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.wraps == nil && (!reflect.DeepEqual(got.Mark, want.Mark) || !slices.Equal(got.Tables, want.Tables)) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// objects have no identities.
func objects(names ...string) []driver.Object {
	var list []driver.Object
	for _, name := range names {
		list = append(list, driver.Object{Name: name})
	}
	return list
}

func TestForeign(t *testing.T) {
	old := session.Stamp{Tables: []string{"cpu"}}
	present := objects("cpu", "Mine", "tsmark_mark")
	for _, c := range []struct {
		made string
		fold bool
		ok   bool
	}{{"cpu", true, true}, {"tsmark_mark", true, true}, {"mine", false, true}, {"mine", true, false}, {"Mine", false, false}} {
		if err := place.Foreign(old, present, []string{c.made}, c.fold); (err == nil) != c.ok || err != nil && !errors.Is(err, driver.ErrExisting) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

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

// Each series is written once, whoever sees it; what was not kept is written
// again.
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
		t.Errorf("what was kept was written again: %v", err)
	}
	if err := fresh.Introduce([]uint32{100}, write); err == nil {
		t.Error("a series beyond the schema is taken")
	}
}
