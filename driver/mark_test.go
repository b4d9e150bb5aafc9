package driver

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestDiffers(t *testing.T) {
	k := Driver{Name: "x", Options: []Option{{Name: "index", Layout: true}, {Name: "chunk", Layout: true}, {Name: "cache"}}}
	o := Options{"index": "both", "chunk": "1d", "cache": "1"}
	mark := func(driver string, layout ...string) Mark {
		m := Mark{Driver: driver, Layout: map[string]string{}}
		for i := 0; i < len(layout); i += 2 {
			m.Layout[layout[i]] = layout[i+1]
		}
		return m
	}
	for _, c := range []struct {
		mark Mark
		want string
	}{
		{mark("x", "index", "both", "chunk", "1d"), ""},
		{mark("x", "index", "none", "chunk", "2d"), "was loaded with index=none,chunk=2d, not with index=both,chunk=1d"},
		{mark("x", "index", "both", "chunk", ""), "was loaded with no chunk, not with chunk=1d"},
		{mark("y", "index", "both"), "was loaded as y, not x"},
		{mark("x", "index", "both", "gone", "1"), ""}, // one that this driver has not any more
		{mark("x"), ""}, // of before the driver had the options
		{Mark{}, ""},    // of an older tsmark
	} {
		if got := c.mark.Differs(&k, o); got != c.want {
			t.Errorf("%+v: %q, want %q", c.mark, got, c.want)
		}
	}
	if got := k.LayoutOf(o); len(got) != 2 || got["index"] != "both" || got["chunk"] != "1d" {
		t.Errorf("layout %v", got)
	}
}

func TestStampOwns(t *testing.T) {
	s := Stamp{Tables: []string{"cpu", "tags", "old"}}
	s.Identify([]Object{{"cpu", "1"}, {"tags", ""}, {"mine", "3"}})
	text, err := s.Text()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = ParseStamp(text); err != nil {
		t.Fatal(err)
	}
	present := []Object{{"cpu", "1"}, {"tags", "2"}, {"old", "9"}, {"mine", "3"}}
	if got := s.Own(present); !slices.Equal(got, []string{"cpu", "tags", "old"}) {
		t.Errorf("own: %v", got)
	}
	remade := Object{"cpu", "4"}
	if s.Owns(remade) || s.Taken(remade) == "" || s.Taken(Object{"mine", "3"}) != "" || s.Taken(Object{"cpu", "1"}) != "" {
		t.Error("a table that was made again is tsmark's, or is not said to be none")
	}
	first, second := Token(), Token()
	if Described("a", "b") == Described("ab") || first == second {
		t.Error("descriptions or tokens do not tell objects apart")
	}
}

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	for _, pair := range [][2]string{
		{FilePlace(filepath.Join(dir, "x.db")), FilePlace(filepath.Join(dir, "a", "..", ".", "x.db"))},
		{AddressPlace("localhost", "1"), AddressPlace("127.0.0.1", "1")},
		{AddressPlace("::1", "1"), AddressPlace("LocalHost", "1")},
		{AddressPlace("DB.example.", "1"), AddressPlace("db.example", "1")},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%q and %q", pair[0], pair[1])
		}
	}
	if FilePlace("") != "" || AddressPlace("a", "1") == AddressPlace("a", "2") || AddressPlace("127.0.0.2", "1") == AddressPlace("127.0.0.1", "1") {
		t.Error("different places are one")
	}
}
