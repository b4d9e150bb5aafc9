package driver

import (
	"maps"
	"testing"
)

func TestChoose(t *testing.T) {
	k := Driver{
		Name:         "x",
		Profiles:     []Profile{{Name: "tuned", Options: Options{"cache": "big", "log": "fast"}}},
		Durabilities: []Profile{{Name: Strict, Options: Options{"log": "safe"}}, {Name: Relaxed, Options: Options{"log": "none"}}},
	}
	for _, c := range []struct {
		profile, durability string
		options, want       map[string]string
	}{
		{"", "", map[string]string{"a": "b"}, map[string]string{"a": "b"}},
		{"tuned", "", nil, map[string]string{"cache": "big", "log": "fast"}},
		{"tuned", Strict, nil, map[string]string{"cache": "big", "log": "safe"}},
		{"tuned", Strict, map[string]string{"log": "mine"}, map[string]string{"cache": "big", "log": "mine"}},
	} {
		got, err := k.Choose(c.profile, c.durability, c.options)
		if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%q, %q: %v, %v; want %v", c.profile, c.durability, got, err, c.want)
		}
	}
	for want, give := range map[string][2]string{
		`x has no profile "tune"; did you mean "tuned"?`:      {"tune", ""},
		`x has no durability "stric"; did you mean "strict"?`: {"", "stric"},
	} {
		if _, err := k.Choose(give[0], give[1], nil); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := (&Driver{Name: "y"}).Choose("tuned", "", nil); err == nil || err.Error() != "y has no profile to choose; leave it out" {
		t.Error(err)
	}
}
