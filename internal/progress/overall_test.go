package progress

import (
	"strings"
	"testing"
	"time"
)

// In files and pipes, one line per period shows the progress of the whole run, and the remaining
// time as far as it is known.
func TestOverallPlain(t *testing.T) {
	var out strings.Builder
	c := newClock()
	d := newDisplay(&out, 10*time.Second, c.now)
	d.Overall(Overall{Step: 1, Steps: 4, More: true})
	load := d.Start("load sqlite", "rows", 3000)
	for range 100 { // 20 s at 100 rows/s
		load.Add(20)
		c.pass(d, sampling)
	}
	load.Finish("loaded")
	d.Overall(Overall{Step: 2, Steps: 4, Expected: 30 * time.Second, Rest: time.Minute})
	c.pass(d, 10*time.Second) // of a step without tasks
	d.Overall(Overall{Step: 3, Steps: 4, Expected: time.Second, Rest: time.Minute})
	c.pass(d, 10*time.Second) // it takes longer than was expected
	d.Overall(Overall{Step: 4, Steps: 4})
	c.pass(d, 10*time.Second)
	d.Overall(Overall{})
	c.pass(d, time.Minute)
	d.Overall(Overall{Step: 1, Steps: 1, Expected: time.Hour}) // its tasks say it
	c.pass(d, time.Minute)
	d.Close()
	expect(t, `load sqlite: 1,000 of 3,000 rows (33 %), 100 rows/s, 20 s left
whole run: step 1 of 4, more than 20 s left
load sqlite: 2,000 of 3,000 rows (66 %), 100 rows/s, 10 s left
whole run: step 1 of 4, more than 10 s left
load sqlite: loaded
whole run: step 2 of 4, about 1 min 20 s left
whole run: step 3 of 4, about 1 min 0 s left
whole run: step 4 of 4
`, out.String())
}

// On a terminal the line is below the tasks, and is erased at the end.
func TestOverallDrawn(t *testing.T) {
	s := &screen{width: 60}
	c := newClock()
	d := newDisplay(s, 0, c.now)
	height := 24
	d.size = func() (int, int) { return s.width, height }
	d.Overall(Overall{Step: 2, Steps: 9, Expected: 40 * time.Second, Rest: 14 * time.Minute})
	task := d.Start("count sqlite", "tables", 9)
	c.pass(d, time.Second)
	expect(t, "count sqlite  ······    0 %            0 of 9\nwhole run: step 2 of 9, about 15 min left\n\n", s.String())
	height = 2 // room for one of both
	d.Log("narrow")
	expect(t, "narrow\nwhole run: step 2 of 9, about 15 min left\n\n", s.String())
	task.Finish("as expected")
	d.Close()
	expect(t, "narrow\ncount sqlite: as expected\n\n", s.String())
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "5 s", 34 * time.Second: "35 s", 58 * time.Second: "1 min 0 s", 127 * time.Second: "2 min 10 s",
		599 * time.Second: "10 min", 843 * time.Second: "14 min", 3599 * time.Second: "1 h 0 min", 2*time.Hour + 18*time.Minute: "2 h 20 min",
	} {
		if got := Roughly(d); got != want {
			t.Errorf("Roughly(%v) = %q, want %q", d, got, want)
		}
	}
}
