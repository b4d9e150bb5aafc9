package certify

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/conformance/suite"
	"github.com/tsmark/tsmark/query"
)

// node is a check that runs, or a group of checks: the suite.T of its function.
type node struct {
	runner *runner
	name   string // with those of the groups that it is in; empty: the whole suite
	begun  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed after its function has ended

	mu       sync.Mutex // guards the rest
	problems []string
	reasons  []Reason
	whole    bool // not applicable as a whole
	failed   bool
	checks   int       // that ran in it
	inside   bool      // one of them runs
	active   time.Time // when it began, or the last of them ended
	folders  []string
}

// start begins to run the function of a check.
func (n *node) start(check func(suite.T)) {
	go func() {
		defer close(n.done)
		defer n.clean()
		defer n.recover()
		check(n)
	}()
}

// recover turns a panic of the check's goroutine into a failure.
func (n *node) recover() {
	if p := recover(); p != nil {
		n.fail(panicText(p))
	}
}

// panicText describes a panic and where it began.
func panicText(p any) string {
	text := fmt.Sprintf("panic: %v", p)
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	for begun := false; ; {
		frame, more := frames.Next()
		if begun && !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf("%s, in %s (line %d)", text, frame.Function, frame.Line)
		}
		begun = begun || frame.Function == "runtime.gopanic"
		if !more {
			return text
		}
	}
}

// clean ends the context of the check and removes its folders.
func (n *node) clean() {
	n.cancel()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, folder := range n.folders {
		_ = os.RemoveAll(folder) // the runner removes the rest
	}
}

// enter and leave surround a check of a group.
func (n *node) enter() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.checks++
	n.inside = true
}

func (n *node) leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.inside, n.active = false, time.Now()
}

// timeLeft returns the rest of the time that the check itself may take: the checks of a group have their own.
func (n *node) timeLeft(patience time.Duration) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.inside {
		return patience
	}
	return patience - time.Since(n.active)
}

// ends reports whether the check ends within the time.
func (n *node) ends(within time.Duration) bool {
	select {
	case <-n.done:
		return true
	case <-time.After(within):
		return false
	}
}

func (n *node) fail(problem string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = true
	n.problems = append(n.problems, strings.TrimRight(problem, "\n"))
}

// note remembers why something is not applicable, if the message says so.
func (n *node) note(message string, whole bool) {
	subject, reason, found := strings.Cut(message, notApplicable)
	subject, prefixed := strings.CutSuffix(subject, ": ")
	if !found || subject != "" && !prefixed {
		if !whole {
			return // an ordinary message
		}
		subject, reason = "", message
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.whole = n.whole || whole || subject == ""
	if unsupported := query.ErrUnsupported.Error() + ": "; strings.Contains(reason, unsupported) { // after the query that it was about
		reason = reason[strings.LastIndex(reason, unsupported)+len(unsupported):]
	}
	n.reasons = append(n.reasons, Reason{subject, reason})
}

// notApplicable begins the reason in a message: see suite.T.
const notApplicable = "n/a: "

// Helper implements suite.T.
func (n *node) Helper() {}

// Name implements suite.T.
func (n *node) Name() string { return n.name }

// Context implements suite.T.
func (n *node) Context() context.Context { return n.ctx }

// TempDir implements suite.T.
func (n *node) TempDir() string {
	folder, err := os.MkdirTemp(n.runner.folder, "check-")
	if err != nil {
		n.Fatal(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.folders = append(n.folders, folder)
	return folder
}

// Failed implements suite.T.
func (n *node) Failed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.failed
}

// Log implements suite.T.
func (n *node) Log(args ...any) { n.note(fmt.Sprint(args...), false) }

// Logf implements suite.T.
func (n *node) Logf(format string, args ...any) { n.note(fmt.Sprintf(format, args...), false) }

// Error implements suite.T.
func (n *node) Error(args ...any) { n.fail(fmt.Sprint(args...)) }

// Errorf implements suite.T.
func (n *node) Errorf(format string, args ...any) { n.fail(fmt.Sprintf(format, args...)) }

// Fatal implements suite.T.
func (n *node) Fatal(args ...any) {
	n.Error(args...)
	runtime.Goexit()
}

// Fatalf implements suite.T.
func (n *node) Fatalf(format string, args ...any) {
	n.Errorf(format, args...)
	runtime.Goexit()
}

// Skip implements suite.T.
func (n *node) Skip(args ...any) {
	n.note(fmt.Sprint(args...), true)
	runtime.Goexit()
}

// Skipf implements suite.T.
func (n *node) Skipf(format string, args ...any) {
	n.note(fmt.Sprintf(format, args...), true)
	runtime.Goexit()
}

// result returns the result of a check that has ended. A group without problems of its own has none:
// its checks have theirs.
func (n *node) result() (c Check, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c = Check{Name: n.name, Status: Passed, Seconds: time.Since(n.begun).Seconds(), Problems: n.problems, Reasons: n.reasons}
	switch {
	case n.failed:
		c.Status = Failed
	case n.checks > 0:
		return c, false
	case n.whole:
		c.Status = NotApplicable
	}
	return c, true
}
