package result

import (
	"encoding/json"
	"strings"
	"testing"
)

// heard is a phase on two cores in which others used so much CPU, give or take.
func heard(wall, others, error float64) *Noise {
	n := NewNoise(wall, 2)
	n.Others, n.OthersMin, n.OthersMax, n.Steal = Value(others), Value(max(0, others-error)), Value(others+error), 0
	n.Judge(QuietShare)
	return &n
}

func TestNoiseIsJudgedWithinReadableFigures(t *testing.T) {
	for _, c := range []struct {
		n              *Noise
		noisy, unknown string
	}{
		{heard(10, 1.9, 0.02), "", ""},
		{heard(10, 2.1, 0.02), "other processes used 11 % of the CPU", ""},
		{heard(0.1, 0, 0.02), "", ""},
		{heard(0.1, 0.01, 0.02), "", TooShort},
		{heard(0.1, 0.03, 0.02), "", TooShort},
		{heard(0.1, 0.05, 0.02), "other processes used 25 % of the CPU", ""},
		{nil, "", ""},
	} {
		unknown := ""
		if c.n != nil {
			unknown = c.n.Unknown
		}
		if c.n.Noisy() != c.noisy || unknown != c.unknown {
			t.Errorf("%+v: noisy %q, unknown %q; want %q, %q", c.n, c.n.Noisy(), unknown, c.noisy, c.unknown)
		}
	}
	strict := *heard(10, 1, 0.02)
	if strict.Judge(0.02); strict.Noisy() != "other processes used 5 % of the CPU" {
		t.Errorf("by a bound of 2 %%: %q", strict.Noisy())
	}
}

// What cannot be told of one round can be told of all of them.
func TestAddNoise(t *testing.T) {
	var rounds []*Noise
	for range 6 {
		rounds = append(rounds, heard(0.1, 0.005, 0.02))
	}
	if sum := AddNoise(rounds...); sum.Unknown != "" || sum.Noisy() != "" || rounds[0].Unknown != TooShort {
		t.Errorf("six quiet rounds: %+v", sum)
	}
	rounds[2], rounds[3] = heard(0.1, 0.1, 0.02), heard(0.1, 0.1, 0.02)
	rounds[3].Most = "go"
	if sum := AddNoise(rounds...); sum.Noisy() != "other processes used 18 % of the CPU, most of it go" {
		t.Errorf("two noisy rounds of six: %+v", sum)
	}
	if AddNoise(nil, nil) != nil {
		t.Error("nothing was heard, and noise came of it")
	}
}

func TestContended(t *testing.T) {
	if n := heard(10, 1, 0.02); n.Contended() {
		t.Errorf("contended: %+v", n)
	}
	if n := heard(10, 5, 0.02); !n.Contended() {
		t.Errorf("not contended: %+v", n)
	}
	swapping := heard(10, 0, 0.02)
	swapping.Swapped = 1 << 30
	if swapping.Judge(QuietShare); swapping.Contended() || swapping.Noisy() == "" {
		t.Errorf("memory takes no processor: %+v", swapping)
	}
	if (*Noise)(nil).Contended() {
		t.Error("nobody looked")
	}
}

// What could not be read stays so in JSON.
func TestNoiseJSON(t *testing.T) {
	n := NewNoise(1, 2)
	text, err := json.Marshal(&n)
	if err != nil || !strings.Contains(string(text), `"others":null`) {
		t.Fatalf("%s, %v", text, err)
	}
	var back Noise
	if err := json.Unmarshal(text, &back); err != nil || back.Others.IsKnown() || back.Periods.IsKnown() {
		t.Errorf("%+v, %v", back, err)
	}
}
