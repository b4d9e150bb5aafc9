package all

import (
	"testing"

	"github.com/tsmark/tsmark/series"
)

func TestKindsAreComplete(t *testing.T) {
	for _, kind := range Kinds() {
		if kind.Help == "" || kind.Render == nil || kind.Open == nil || kind.Caps == nil {
			t.Errorf("%s is not complete: %+v", kind.Name, kind)
		}
	}
}

// Every kind that keeps rows says how it holds each type, in every layout.
func TestTypesAreTold(t *testing.T) {
	for _, kind := range Kinds() {
		for _, given := range []map[string]string{{}, {"layout": "narrow"}, {"layout": "narrow", "integers": "bigint"}} {
			options, err := kind.Resolve(given)
			if err != nil {
				continue // it has no layouts
			}
			caps := kind.Caps(options)
			if caps.TimePrecision <= 0 {
				t.Errorf("%s has no precision of times", kind.Name)
			}
			for _, typ := range series.Types() {
				if !caps.Discards && caps.Types[typ].As == "" {
					t.Errorf("%s %v does not say how it holds %v", kind.Name, given, typ)
				}
			}
		}
	}
}

// What profiles and durability levels set is what the kind has.
func TestProfilesResolve(t *testing.T) {
	for _, kind := range Kinds() {
		for _, p := range append(kind.Profiles, kind.Durabilities...) {
			if _, err := kind.Resolve(p.Options); err != nil || p.Help == "" {
				t.Errorf("%s of %s: %v, help %q", p.Name, kind.Name, err, p.Help)
			}
		}
	}
}

func TestNamesDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, kind := range Kinds() {
		if seen[kind.Name] {
			t.Errorf("two kinds are called %s", kind.Name)
		}
		seen[kind.Name] = true
	}
}
