// Package progress shows the progress of work: as bars on a terminal, as plain lines elsewhere. It
// uses no colors, so NO_COLOR changes nothing.
package progress

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// sampling is the time between two looks at the tasks.
const sampling = 200 * time.Millisecond

// Display shows tasks while they run. Its methods and those of its tasks may be called
// concurrently. Write errors are ignored: no work fails because of its display.
type Display struct {
	period time.Duration
	now    func() time.Time

	// mu guards the output and the tasks' state, except for their counts.
	mu       sync.Mutex
	w        io.Writer
	size     func() (width, height int) // of the terminal; nil: plain lines
	drawn    []string                   // lines that the next frame replaces
	running  []*Task                    // in the order of their start
	overall  Overall
	begun    time.Time // the step of it that is at hand
	lastLine time.Time // when a plain line last said how far it is
	ended    []Ended   // the newest, at most keptEnded
	closed   bool

	stop    chan struct{} // closed by Close
	sampler sync.WaitGroup
}

// IsTerminal reports whether bars can be drawn on the file: it is a terminal,
// and not one that TERM calls dumb.
func IsTerminal(f *os.File) bool {
	return os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// New begins a display on w, which nothing else writes to until Close. With
// terminal it draws bars; else it writes a line for each running task once a
// period (never, if that is 0) and one at the task's end.
func New(w io.Writer, terminal bool, period time.Duration) *Display {
	d := newDisplay(w, period, time.Now)
	if terminal {
		d.size = sizeOf(w)
	}
	d.sampler.Go(func() {
		ticker := time.NewTicker(sampling)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				d.sample()
			case <-d.stop:
				return
			}
		}
	})
	return d
}

// newDisplay returns a display of plain lines that samples only on request.
func newDisplay(w io.Writer, period time.Duration, now func() time.Time) *Display {
	return &Display{w: w, period: period, now: now, stop: make(chan struct{})}
}

// sizeOf returns a function that reads the size of a terminal, which can change at any time.
func sizeOf(w io.Writer) func() (width, height int) {
	return func() (width, height int) {
		if f, ok := w.(*os.File); ok {
			if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
				return width, height
			}
		}
		return 80, 24
	}
}

// Task is a piece of work with a count of the work done.
type Task struct {
	d       *Display
	label   string
	unit    string
	total   int64 // at most 0: not known
	started time.Time
	n       atomic.Int64

	rate     rate
	reported time.Time // of the last plain line
}

// Start begins a task. The unit is a plural: rows, queries. A total of 0 or less means that the
// total is unknown. Without a unit nothing is counted; with a total below 0 the task is then a wait,
// which plain lines name when it begins.
func (d *Display) Start(label, unit string, total int64) *Task {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	t := &Task{d: d, label: oneLine(label), unit: unit, total: total, started: now, reported: now}
	t.rate.start(now)
	if !d.closed {
		d.running = append(d.running, t)
		if unit == "" && total < 0 && d.size == nil && d.period > 0 {
			d.show(t.label + " …")
		} else {
			d.show()
		}
	}
	return t
}

// Set sets the count.
func (t *Task) Set(n int64) { t.n.Store(n) }

// Add adds to the count.
func (t *Task) Add(n int64) { t.n.Add(n) }

// Finish ends the task and shows the note after its label, or the count, time and rate if the note
// is empty. Only the first end of a task counts.
func (t *Task) Finish(note string) {
	if note == "" {
		note = t.summary(t.d.now())
	}
	t.finish(note, false)
}

// Fail ends the task like Done, and shows that and why it failed. Without a note it shows nothing:
// an error that ends the whole run is reported elsewhere.
func (t *Task) Fail(note string) {
	if note != "" {
		note = "failed: " + note
	}
	t.finish(note, true)
}

// finish ends the task with a line of its label and the text, or, without a text,
// with none.
func (t *Task) finish(text string, failed bool) {
	d := t.d
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.running, t)
	if i < 0 {
		return
	}
	d.running = slices.Delete(d.running, i, i+1)
	if text == "" {
		d.show()
		return
	}
	text = oneLine(text)
	d.keep(Ended{d.now(), t.label, text, failed})
	d.show(t.label + ": " + text)
}

// Log writes a line, above the bars if there are any.
func (d *Display) Log(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.show(line)
}

// Close ends the running tasks and shows their progress. The cursor is then on an empty line; no
// other state of the terminal was changed.
func (d *Display) Close() {
	d.mu.Lock()
	again := d.closed
	d.closed = true
	left := slices.Clone(d.running)
	d.mu.Unlock()
	if again {
		return
	}
	close(d.stop)
	d.sampler.Wait()
	for _, t := range left {
		t.finish("stopped at "+t.doneText(), false)
	}
	d.Overall(Overall{})
}

// sample reads the running tasks and displays the changes.
func (d *Display) sample() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	var lines []string
	for _, t := range d.running {
		t.rate.add(now, t.n.Load())
		if d.size == nil && d.period > 0 && now.Sub(t.reported) >= d.period {
			t.reported = now
			lines = append(lines, t.plain())
		}
	}
	if line := d.overallLine(now); line != "" && d.size == nil && d.period > 0 && now.Sub(d.lastLine) >= d.period {
		d.lastLine = now
		lines = append(lines, line)
	}
	d.show(lines...)
}

// show writes permanent lines and, on a terminal, draws the running tasks below. The caller holds
// the lock.
func (d *Display) show(lines ...string) {
	var frame []byte
	if d.size == nil {
		for _, line := range lines {
			frame = append(append(frame, line...), '\n')
		}
	} else {
		frame = d.frame(lines)
	}
	if len(frame) > 0 {
		_, _ = d.w.Write(frame)
	}
}

// The control sequences that a frame needs.
const (
	up        = "\x1b[%dA" // to the beginning of a line above, from the beginning of one
	clearLine = "\x1b[K"   // from the cursor on
	clearRest = "\x1b[J"   // of the screen, from the cursor on
)

// frame returns the output that turns the last frame into the next. It overwrites the previous
// lines and clears only their remains: erasing all first would flicker, and some terminals keep
// erased lines in their scrollback.
func (d *Display) frame(lines []string) []byte {
	width, height := d.size()
	b := []byte{'\r'} // an echoed key, such as ^C, has moved the cursor
	// The screen may have become narrower and have wrapped the drawn lines.
	if n := len(d.drawn) + countWraps(d.drawn, width); n > 0 {
		b = fmt.Appendf(b, up, n)
	}
	// What scrolls out above the screen could not be written over. The last
	// column stays free, so that the end of each line is cleared.
	whole := d.overallLine(d.now())
	room := height - 1
	if whole != "" {
		room--
	}
	shown := d.running[:min(len(d.running), max(room, 0))]
	d.drawn = draw(shown, d.now(), width-1)
	if whole != "" {
		d.drawn = append(d.drawn, runewidth.Truncate(whole, width-1, ""))
	}
	for _, line := range slices.Concat(lines, d.drawn) {
		b = append(b, line...)
		// At the margin, some terminals would clear the last character.
		if runewidth.StringWidth(line)%width != 0 {
			b = append(b, clearLine...)
		}
		b = append(b, '\n')
	}
	return append(b, clearRest...)
}
