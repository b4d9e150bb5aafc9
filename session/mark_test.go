package session

import (
	"testing"

	"github.com/tsmark/tsmark/driver"
)

func TestDiffers(t *testing.T) {
	k := driver.Driver{Name: "x", Options: []driver.Option{{Name: "index", Layout: true}, {Name: "chunk", Layout: true}, {Name: "cache"}}}
	o := driver.Options{"index": "both", "chunk": "1d", "cache": "1"}
	mark := func(of string, layout ...string) Mark {
		m := Mark{Driver: of, Layout: map[string]string{}}
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
		{Mark{}, ""},    // that names nothing
	} {
		if got := c.mark.Differs(&k, o); got != c.want {
			t.Errorf("%+v: %q, want %q", c.mark, got, c.want)
		}
	}
	if got := k.LayoutOf(o); len(got) != 2 || got["index"] != "both" || got["chunk"] != "1d" {
		t.Errorf("layout %v", got)
	}
}
