// Package certify runs the conformance suite for the author of a driver, without go test: with progress, a
// report and a badge. It works for drivers of tsmark's own and for external ones alike.
package certify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/conformance/suite"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/scratch"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/monitor/buildinfo"
	"github.com/tsmark/tsmark/run/check"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/session"
)

// Config says what runs.
type Config struct {
	Target plan.Target
	Long   bool // everything, instead of the checks that an author runs many times a day
	// Only are the names of the checks that run, or of groups of them; empty: all.
	Only []string
	// Patience is how long a check may take. After it the check is cancelled; one that does not end even
	// then ends the run.
	Patience time.Duration
	grace    time.Duration // how long a cancelled check may take to end; 0: 15 s
	// Begin is called when a part of the suite begins. The function that it returns is called with each
	// check of the part that has ended, and with nil at its end.
	Begin func(part string) func(*Check)
}

// DefaultPatience is how long a check of a correct driver may take on a slow machine.
const DefaultPatience = 5 * time.Minute

// Parts lists the parts of the suite for a target; for the zero target those of any target.
func Parts(t *plan.Target, long bool) []suite.Part {
	return suite.New(suite.Config{Driver: t.Driver, Options: t.Options, Short: !long}).Every()
}

// CheckNames returns an error for a name that no part of the suite has. Whether a part has the check is
// only known when it runs.
func CheckNames(names []string, t *plan.Target, long bool) error {
	var known, ifLong []string
	for _, p := range Parts(t, long) {
		known = append(known, p.Name)
	}
	for _, p := range Parts(t, true) {
		ifLong = append(ifLong, p.Name)
	}
	for _, name := range names {
		part, _, _ := strings.Cut(name, "/")
		switch {
		case slices.Contains(known, part):
		case slices.Contains(ifLong, part):
			return fmt.Errorf("--check %q runs only with --long", name)
		default:
			return fmt.Errorf("--check: there is no check %q%s", part, suggest.NamesOr(part, known, "; --list names them"))
		}
	}
	return nil
}

// Run runs the suite. Its error, which no check explains, is for a target that cannot be opened or holds
// data, a name that no check has, or ctx's end. The suite loads into and drops from the place of the
// target, and leaves it empty.
func Run(ctx context.Context, c Config) (*Report, error) {
	c.grace = cmp.Or(c.grace, 15*time.Second)
	folder, err := scratch.New("", "tsmark-conformance")
	if err != nil {
		return nil, err
	}
	defer folder.Close() // it contains no user data
	report := &Report{Target: c.Target.Name, Driver: c.Target.Driver.Name, Long: c.Long, Only: c.Only, Date: time.Now().UTC().Truncate(time.Second),
		Tsmark: buildinfo.Tool(), Modules: buildinfo.Modules(c.Target.Driver.Modules), Program: c.Target.Driver.External}
	if report.System, err = inspect(ctx, &c.Target, folder.Path()); err != nil {
		return nil, err
	}
	r := &runner{Config: c, ctx: ctx, folder: folder.Path(), report: report}
	r.run()
	report.Seconds = time.Since(report.Date).Seconds()
	if !c.Target.Caps.Embedded {
		if err := clear(ctx, &c.Target, folder.Path()); err != nil {
			return nil, fmt.Errorf("dropping the tables of the suite: %w", err)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(report.Checks) == 0 && len(c.Only) > 0 {
		return nil, fmt.Errorf("--check: there is no check %q", strings.Join(c.Only, ", "))
	}
	return report, nil
}

// inspect describes the system. Its error wraps plan.ErrInput if the place holds data: the suite would
// replace it.
func inspect(ctx context.Context, t *plan.Target, dir string) (d driver.Description, err error) {
	if t.Caps.Embedded && t.Options["path"] != "" {
		return d, plan.BadInput(errors.New("the suite uses databases in temporary folders; leave the option path out"))
	}
	db, err := t.Open(ctx, driver.Env{Dir: dir, Create: true})
	if err != nil {
		return d, err
	}
	defer db.Close() // only used for reading
	if d, err = check.Describe(ctx, db); err != nil {
		return d, err
	}
	mark, err := session.New(db).Mark(ctx)
	switch {
	case errors.Is(err, session.ErrNoMark):
		return d, nil
	case errors.Is(err, driver.ErrExisting):
		return d, plan.BadInput(err)
	case err != nil:
		return d, err
	case mark.Complete || mark.Run != "" || mark.Fingerprint != "":
		return d, plan.BadInput(fmt.Errorf("%s holds a dataset that tsmark loaded, and the suite would replace it; give another place, or drop it with tsmark drop", d.Location))
	}
	return d, nil // left by a suite that was killed
}

// clear drops what the suite has made, also after ctx's end.
func clear(ctx context.Context, t *plan.Target, dir string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	db, err := t.Open(ctx, driver.Env{Dir: dir, Create: true})
	if err != nil {
		return err
	}
	err = session.New(db).Clear(ctx)
	if errors.Is(err, session.ErrNoMark) {
		err = nil
	}
	return errors.Join(err, db.Close())
}

// runner runs checks, one at a time.
type runner struct {
	Config
	ctx    context.Context // of the whole run
	folder string
	ended  func(*Check) // of the part that runs

	mu     sync.Mutex // guards the report while checks run: one that does not end is left behind
	report *Report
}

func (r *runner) run() {
	s := suite.New(suite.Config{Driver: catchPanics(r.Target.Driver), Options: r.Target.Options, Short: !r.Long, Sub: r.sub})
	for _, p := range s.Every() {
		if !r.selects(p.Name) {
			continue
		}
		r.ended = r.Begin(p.Name)
		r.execute(r.ctx, p.Name, p.Run)
		r.ended(nil)
	}
}

// selects reports whether a check runs: it, a group that it is in, or one of its checks is named. After a
// check that did not end, none runs.
func (r *runner) selects(name string) bool {
	if r.ctx.Err() != nil || r.stopped() {
		return false
	}
	return r.names(name) || slices.ContainsFunc(r.Only, func(only string) bool { return strings.HasPrefix(only, name+"/") })
}

// names reports whether a check, or a group that it is in, is named; if none is, all are.
func (r *runner) names(name string) bool {
	return len(r.Only) == 0 || slices.ContainsFunc(r.Only, func(only string) bool { return strings.HasPrefix(name+"/", only+"/") })
}

func (r *runner) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report.Stopped != ""
}

// sub runs a check of a group: it is suite.Config.Sub.
func (r *runner) sub(t suite.T, name string, check func(suite.T)) {
	group := t.(*node)
	name = group.name + "/" + strings.ReplaceAll(name, "/", "-")
	if !r.selects(name) {
		return
	}
	group.enter()
	defer group.leave()
	r.execute(group.ctx, name, check)
}

// execute runs a check to its end and records its result.
func (r *runner) execute(ctx context.Context, name string, check func(suite.T)) {
	n := &node{runner: r, name: name, begun: time.Now(), active: time.Now(), done: make(chan struct{})}
	n.ctx, n.cancel = context.WithCancel(ctx)
	n.start(check)
	hangs := !r.await(n)
	c, ok := n.result()
	if !ok || r.ctx.Err() != nil { // an interrupted check has no result
		return
	}
	if c.Status != Failed && !r.names(name) { // a group that does not have the named check
		return
	}
	if r.stopped() && !hangs {
		return // it may have failed because of the check that did not end
	}
	r.mu.Lock()
	r.report.add(&c)
	if hangs {
		r.report.Stopped = name
	}
	r.mu.Unlock()
	r.ended(&c)
}

// await waits until a check has ended, or cancels it. It returns false for a check that does not end even
// then.
func (r *runner) await(n *node) bool {
	for left := r.Patience; left > 0; left = n.timeLeft(r.Patience) {
		select {
		case <-n.done:
			return true
		case <-time.After(left):
		case <-r.ctx.Done():
			return n.ends(r.grace)
		}
		if r.stopped() {
			return n.ends(r.grace)
		}
	}
	n.fail(fmt.Sprintf("it did not end within %v", r.Patience))
	n.cancel()
	if n.ends(r.grace) {
		return true
	}
	n.fail(fmt.Sprintf("nor within %v after its context had ended", r.grace))
	return false
}
