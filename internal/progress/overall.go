package progress

import (
	"fmt"
	"time"
)

// Overall is the progress of a whole run, whose steps show tasks.
type Overall struct {
	Step, Steps int           // the step at hand, from 1, of all; 0: there is no run
	Expected    time.Duration // approximate duration of the current step; 0: unknown
	Rest        time.Duration // approximate duration of the following steps
	More        bool          // the remaining time of some of these is unknown
}

// Overall shows that a step of a run begins. It replaces the previous step.
func (d *Display) Overall(o Overall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.overall.Steps == 0 {
		d.lastLine = d.now()
	}
	d.overall, d.begun = o, d.now()
	d.show()
}

// overallLine returns the progress of the whole run as a line; empty: there is no run, or it has
// only one step, which its tasks show. The caller holds the lock.
func (d *Display) overallLine(now time.Time) string {
	o := d.overall
	if o.Steps < 2 || d.closed {
		return ""
	}
	line := fmt.Sprintf("whole run: step %d of %d", o.Step, o.Steps)
	switch left, more := d.timeLeft(now); {
	case left <= 0:
		return line
	case more:
		return line + ", more than " + Roughly(left) + " left"
	default:
		return line + ", about " + Roughly(left) + " left"
	}
}

// timeLeft estimates the remaining time of the whole run or, if more is true, of a part: the rest
// is unknown. The caller holds the lock.
func (d *Display) timeLeft(now time.Time) (timeLeft time.Duration, more bool) {
	o := d.overall
	timeLeft, known := max(o.Expected-now.Sub(d.begun), 0), o.Expected > 0
	for _, t := range d.running {
		if seconds := t.secondsLeft(); seconds > 0 {
			timeLeft, known = max(timeLeft, time.Duration(seconds*float64(time.Second))), true
		}
	}
	return timeLeft + o.Rest, o.More || !known
}

// Roughly returns a time as exactly as one guesses: 35 s, 2 min 10 s, 14 min.
func Roughly(d time.Duration) string {
	if s := d.Round(5 * time.Second); s < time.Minute {
		return wholeSeconds(int64(max(s, 5*time.Second) / time.Second))
	}
	if s := d.Round(10 * time.Second); s < 10*time.Minute {
		return wholeSeconds(int64(s / time.Second))
	}
	if m := d.Round(time.Minute); m < time.Hour {
		return fmt.Sprintf("%d min", m/time.Minute)
	}
	return wholeSeconds(int64(d.Round(5*time.Minute) / time.Second))
}
