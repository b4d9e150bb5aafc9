package query

import "testing"

// A divisor stands only where each group has one of it.
func TestCheck(t *testing.T) {
	for want, q := range map[string]Query{
		"":                         {Shape: Means, Unit: "name", Group: []string{"fleet", "capacity"}, Over: "capacity"},
		"not grouped":              {Shape: Means, Unit: "name", Group: []string{"fleet"}, Over: "capacity"},
		"no units":                 {Shape: Means, Group: []string{"capacity"}, Over: "capacity"},
		"no means":                 {Shape: Buckets, Over: "capacity"},
		"condition of other shape": {Shape: Means, Having: &Condition{Field: "load", Over: "capacity"}},
	} {
		if err := q.Check(); (err == nil) != (want == "") {
			t.Errorf("%s: error %v", want, err)
		}
	}
	last := Query{Shape: Last, Having: &Condition{Field: "load", Over: "capacity"}}
	if err := last.Check(); err != nil {
		t.Error(err)
	}
}
