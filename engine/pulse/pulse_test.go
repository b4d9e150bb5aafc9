package pulse

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// beats returns a pulse whose process used so much processor time at each beat.
func beats(at ...[2]time.Duration) *Pulse {
	var used time.Duration
	p := newPulse(time.Unix(0, 0), func() time.Duration { return used })
	for _, b := range at {
		used = b[1]
		p.beat(b[0])
	}
	return p
}

func TestPaused(t *testing.T) {
	at := func(d time.Duration) time.Time { return time.Unix(0, 0).Add(d) }
	stopped := [][2]time.Duration{{5 * ms, 1 * ms}, {10 * ms, 2 * ms}, {160 * ms, 3 * ms}, {165 * ms, 4 * ms}}
	busy := [][2]time.Duration{{5 * ms, 1 * ms}, {10 * ms, 2 * ms}, {160 * ms, 140 * ms}, {165 * ms, 144 * ms}}
	for _, c := range []struct {
		name        string
		beats       [][2]time.Duration
		begin, took time.Duration
		want        bool
	}{
		{"stopped meanwhile", stopped, 8 * ms, 154 * ms, true},
		{"stopped and ended within", stopped, 100 * ms, 20 * ms, true},
		{"before the stop", stopped, 2 * ms, 6 * ms, false},
		{"after the stop", stopped, 161 * ms, 3 * ms, false},
		{"so long that the stop does not matter", stopped, 8 * ms, 100 * time.Second, true}, // no beat came behind it
		{"busy itself", busy, 8 * ms, 154 * ms, false},
		{"a short delay", [][2]time.Duration{{5 * ms, 0}, {28 * ms, 0}, {33 * ms, 0}}, 4 * ms, 26 * ms, false},
		{"the operation notices before the next beat", [][2]time.Duration{{5 * ms, 0}}, 4 * ms, 200 * ms, true},
	} {
		if got := beats(c.beats...).Paused(at(c.begin), c.took); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	// A short gap does not matter to a long operation.
	long := beats(stopped...)
	for now := 170 * ms; now < 20*time.Second; now += period {
		long.beat(now)
	}
	if long.Paused(at(8*ms), 18*time.Second) || !long.Paused(at(8*ms), 10*time.Second) {
		t.Error("a gap of 150 ms counts from a hundredth of an operation on")
	}
	var none *Pulse
	if none.Paused(at(0), time.Second) {
		t.Error("without a pulse nothing is noticed")
	}
	none.Stop()
}

// The number of remembered gaps is bounded.
func TestManyGaps(t *testing.T) {
	p := beats()
	for i := range 3 * most {
		p.beat(time.Duration(i+1) * 100 * ms)
	}
	if len(p.gaps) > most || !p.Paused(time.Unix(0, 0).Add(3*most*100*ms-50*ms), 10*ms) {
		t.Errorf("%d gaps", len(p.gaps))
	}
}

func TestStop(t *testing.T) {
	p := Start()
	p.Stop()
}

func BenchmarkPaused(b *testing.B) {
	p := Start()
	defer p.Stop()
	b.ReportAllocs()
	for b.Loop() {
		p.Paused(time.Now(), time.Millisecond)
	}
}

func BenchmarkProcessTime(b *testing.B) {
	for b.Loop() {
		processTime()
	}
}
