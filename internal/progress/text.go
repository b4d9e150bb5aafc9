package progress

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/mattn/go-runewidth"

	"github.com/tsmark/tsmark/internal/printable"
)

// slow is the rate per second below which a task shows its count in place of the rate.
const slow = 0.05

// plain returns how far the task is, as a line for files and pipes.
func (t *Task) plain() string {
	if t.unit == "" {
		return t.label + ": " + t.timeTaken(t.d.now())
	}
	line := t.label + ": " + t.doneText()
	if perSecond := t.rate.perSecond(); perSecond >= slow || t.total <= 0 {
		line += ", " + speed(perSecond, t.unit)
	}
	if left := t.leftText(); left != "" {
		line += ", " + left
	}
	return line
}

// timeTaken returns how long the task has taken.
func (t *Task) timeTaken(now time.Time) string {
	return wholeSeconds(int64(now.Sub(t.started).Seconds()))
}

// doneText returns the progress of the task: 432,000 of 864,000 rows (50 %).
func (t *Task) doneText() string {
	n := t.n.Load()
	if t.total <= 0 {
		return humanize.Comma(n) + " " + t.unit
	}
	return fmt.Sprintf("%s of %s %s (%d %%)", humanize.Comma(n), humanize.Comma(t.total), t.unit, t.percent(n))
}

// summary returns the summary of a finished task.
func (t *Task) summary(now time.Time) string {
	n, took := t.n.Load(), now.Sub(t.started)
	text := fmt.Sprintf("%s %s in %s", humanize.Comma(n), t.unit, duration(took))
	if took > 0 {
		text += ", " + speed(float64(n)/took.Seconds(), t.unit)
	}
	return text
}

// percent returns the share that is done, rounded down: 100 is all.
func (t *Task) percent(n int64) int {
	return int(100 * min(max(float64(n)/float64(t.total), 0), 1))
}

// leftText returns the remaining time at the current rate: 12 s left. It is empty if that is
// unknown or the rate is close to zero.
func (t *Task) leftText() string {
	seconds := t.secondsLeft()
	if seconds == 0 {
		return ""
	}
	return wholeSeconds(int64(max(1, math.Round(seconds)))) + " left"
}

// secondsLeft returns the remaining time; 0: unknown.
func (t *Task) secondsLeft() float64 {
	rest, perSecond := t.total-t.n.Load(), t.rate.perSecond()
	if t.total <= 0 || rest <= 0 || perSecond <= 0 {
		return 0
	}
	if seconds := float64(rest) / perSecond; seconds <= (100 * time.Hour).Seconds() {
		return seconds
	}
	return 0
}

// The widths of the columns of a drawn task in cells.
const (
	mostLabel  = 28
	speedWidth = 16
	leftWidth  = 12
	leastBar   = 5
	mostBar    = 40
)

// draw returns a line for each task, none wider than the terminal. The columns are aligned, and do
// not move while the tasks run.
func draw(tasks []*Task, now time.Time, width int) []string {
	labels := 0
	for _, t := range tasks {
		labels = max(labels, min(runewidth.StringWidth(t.label), mostLabel))
	}
	lines := make([]string, len(tasks))
	for i, t := range tasks {
		lines[i] = runewidth.Truncate(t.drawLine(now, labels, width), width, "")
	}
	return lines
}

// drawLine returns how far the task is, with a bar where the width has room for
// it.
func (t *Task) drawLine(now time.Time, labels, width int) string {
	n := t.n.Load()
	label := runewidth.FillRight(shorten(t.label, labels), labels)
	pace := speed(t.rate.perSecond(), t.unit)
	if count := humanize.Comma(n) + " of " + humanize.Comma(t.total); t.rate.perSecond() < slow && len(count) <= speedWidth {
		pace = count
	}
	switch {
	case t.unit == "" && t.total <= 0:
		return t.label + "  " + t.timeTaken(now)
	case t.total <= 0:
		return fmt.Sprintf("%s  %s, %s, %s", label, t.doneText(), pace, t.timeTaken(now))
	}
	percent := fmt.Sprintf("%3d %%", t.percent(n))
	left := fmt.Sprintf("%-*s", leftWidth, t.leftText())
	all := fmt.Sprintf("%s  %*s  %s", percent, speedWidth, pace, left)
	room := width - labels - len("  ") - len(all)
	switch {
	case room >= leastBar+len("  "):
		return label + "  " + bar(float64(n)/float64(t.total), min(room-len("  "), mostBar)) + "  " + all
	case room >= 0:
		return label + "  " + all
	case width >= labels+len("  100 %  ")+leftWidth:
		return label + "  " + percent + "  " + left
	}
	return percent + "  " + t.label
}

// bar returns a bar of the width with its share filled.
func bar(share float64, width int) string {
	filled := int(min(max(share, 0), 1) * float64(width))
	return strings.Repeat("━", filled) + strings.Repeat("·", width-filled)
}

// speed returns a rate with its unit: 812,000 rows/s.
func speed(perSecond float64, unit string) string {
	number := humanize.Comma(int64(math.Round(perSecond)))
	if perSecond > 0 && perSecond < 9.95 {
		number = fmt.Sprintf("%.1f", perSecond)
	}
	return number + " " + unit + "/s"
}

// duration returns a time that something took: 1.2 s, 12 s, 2 min 5 s.
func duration(d time.Duration) string {
	if seconds := d.Seconds(); seconds < 9.95 {
		return fmt.Sprintf("%.1f s", max(seconds, 0))
	}
	return wholeSeconds(int64(math.Round(d.Seconds())))
}

// wholeSeconds returns a time in its two largest units.
func wholeSeconds(s int64) string {
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
}

// shorten removes the beginning of a text that is too wide: the distinctive part of a task's name
// is at the end.
func shorten(s string, width int) string {
	if over := runewidth.StringWidth(s) - width; over > 0 {
		return runewidth.TruncateLeft(s, over+1, "…")
	}
	return s
}

// countWraps returns how many more lines the lines take on a screen of the width.
func countWraps(lines []string, width int) int {
	more := 0
	for _, line := range lines {
		more += max(runewidth.StringWidth(line)-1, 0) / max(width, 1)
	}
	return more
}

// oneLine returns the text with white space, line breaks too, as single
// spaces.
func oneLine(s string) string { return printable.OneLine(s) }
