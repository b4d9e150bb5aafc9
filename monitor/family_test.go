package monitor

import (
	"math"
	"testing"
)

// countersOf is counters with CPU in user time alone.
func countersOf(cpu, reaped, written float64) counters {
	return counters{user: cpu, cpu: cpu, reapedUser: reaped, written: written}
}

func TestFamily(t *testing.T) {
	type reading map[int]member
	server := func(u counters) member { return member{parent: 1, started: 5, used: u} }
	child := func(u counters) member { return member{parent: 10, started: 50, used: u} }
	for name, c := range map[string]struct {
		readings     []reading
		cpu, written float64
	}{
		"earlier usage does not count": {
			[]reading{{10: server(countersOf(100, 50, 7000))}, {10: server(countersOf(101, 50, 7010))}}, 1, 10,
		},
		"a child that came later counts from its start": {
			[]reading{{10: server(countersOf(100, 0, 0))}, {10: server(countersOf(100, 0, 0)), 11: child(countersOf(3, 0, 30))}}, 3, 30,
		},
		"a child never seen counts by its parent": {
			[]reading{{10: server(countersOf(100, 0, 0))}, {10: server(countersOf(101, 4, 40))}}, 5, 40,
		},
		"a child seen and then waited for counts once": {
			[]reading{
				{10: server(countersOf(100, 0, 0))},
				{10: server(countersOf(100, 0, 0)), 11: child(countersOf(3, 1, 30))},
				{10: server(countersOf(101, 6, 70))}, // 4 of it seen before; 30 of the bytes
			}, 7, 70,
		},
		"a child that nobody waited for keeps the last reading": {
			[]reading{
				{10: server(countersOf(100, 0, 0))},
				{10: server(countersOf(100, 0, 0)), 11: child(countersOf(3, 0, 30))},
				{10: server(countersOf(102, 0, 5))},
			}, 5, 35,
		},
		"a child that nobody waited for is not looked for in later ones": {
			[]reading{
				{10: server(countersOf(100, 0, 0)), 11: child(countersOf(3, 0, 30))},
				{10: server(countersOf(100, 0, 0))}, {10: server(countersOf(100, 0, 0))}, {10: server(countersOf(100, 0, 0))},
				{10: server(countersOf(100, 0, 0))}, {10: server(countersOf(100, 0, 0))},
				{10: server(countersOf(100, 4, 40))}, // another's, never seen
			}, 7, 70,
		},
		"a child waited for just after its parent was read": {
			[]reading{
				{10: server(countersOf(100, 0, 0)), 11: child(countersOf(2, 0, 20))},
				{10: server(countersOf(100, 0, 0))},
				{10: server(countersOf(100, 3, 21))},
			}, 3, 21,
		},
		"a grandchild whose parent ends with it": {
			[]reading{
				{10: server(countersOf(0, 0, 0)), 11: child(countersOf(1, 0, 0)), 12: {parent: 11, started: 60, used: countersOf(2, 0, 0)}},
				{10: server(countersOf(0, 4, 0))},
			}, 4, 0,
		},
		"the number of a child that ended is given again": {
			[]reading{
				{10: server(countersOf(0, 0, 0)), 11: child(countersOf(9, 0, 90))},
				{10: server(countersOf(0, 9, 90)), 11: {parent: 10, started: 70, used: countersOf(1, 0, 10)}},
			}, 10, 100,
		},
		"the server restarts": {
			[]reading{{10: server(countersOf(100, 0, 0))}, {20: {parent: 1, started: 80, used: countersOf(2, 0, 20)}}}, 2, 20,
		},
		"an older process is found late": {
			[]reading{{10: server(countersOf(100, 0, 0))}, {10: server(countersOf(100, 0, 0)), 9: {parent: 10, started: 4, used: countersOf(7, 0, 70)}}}, 0, 0,
		},
		"bytes of a child that ends cannot be read": {
			[]reading{
				{10: server(countersOf(0, 0, 0)), 11: child(countersOf(1, 0, 10))},
				{10: server(countersOf(0, 0, 0)), 11: {parent: 10, started: 50, ended: true, used: countersOf(1, 0, math.NaN())}},
				{10: server(countersOf(0, 1, 15))},
			}, 1, 15,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var f family
			f.begin(map[int]int64{10: 5, 9: 4})
			for _, r := range c.readings {
				f.update(r)
			}
			if got := f.total.user + f.total.system; got != c.cpu || f.total.cpu != c.cpu || f.total.written != c.written {
				t.Errorf("%g s and %g bytes, want %g and %g", got, f.total.written, c.cpu, c.written)
			}
		})
	}
}

func TestFamilyBytesOfOthersAreUnknown(t *testing.T) {
	var f family
	f.begin(map[int]int64{10: 5, 9: 4})
	for range 2 {
		f.update(map[int]member{10: {parent: 1, started: 5, used: countersOf(1, 0, math.NaN())}})
	}
	if !math.IsNaN(f.total.written) || f.total.user != 0 {
		t.Errorf("got %+v; the bytes cannot be known", f.total)
	}
}
