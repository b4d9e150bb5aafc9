package all

import "testing"

func TestKindsAreComplete(t *testing.T) {
	for _, kind := range Kinds() {
		if kind.Help == "" || kind.Render == nil || kind.Open == nil || kind.Caps.TimePrecision <= 0 {
			t.Errorf("%s is not complete: %+v", kind.Name, kind)
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
