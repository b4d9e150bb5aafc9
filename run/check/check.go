// Package check examines a target as a run would use it, before a run: whether every port answers,
// the user's permissions, the server's clock, the latency, and settings that would distort figures.
package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/session"
)

// Status is the outcome of a check.
type Status string

// The statuses.
const (
	OK     Status = "ok"
	Warned Status = "warning" // a run would work; its figures may be misleading
	Failed Status = "fails"   // a run would fail
	Skip   Status = "n/a"     // the result is unknown, or the check does not apply
)

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"` // short description of the check
	Status Status `json:"status"`
	Result string `json:"result"`
	Fix    string `json:"fix,omitempty"` // how to fix it; empty: no problem, or the result includes it
}

// Report is the findings about a target.
type Report struct {
	Target   string    `json:"target"`
	Driver   string    `json:"driver"`
	Location string    `json:"location,omitempty"` // address or path, without secrets; empty: not reached
	Findings []Finding `json:"findings"`
	// Replaces says that a load would replace a dataset that tsmark loaded, and needs --replace.
	Replaces bool `json:"replaces,omitempty"`
}

// Fails reports whether a run would fail.
func (r *Report) Fails() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Status == Failed })
}

// Target is the target to check.
type Target struct {
	Name    string
	Driver  driver.Driver  // with limits set
	Options driver.Options // after Resolve
	// Folder is where an embedded database creates files for the trial. The caller uses it for
	// nothing else.
	Folder string
}

// Config is the configuration of the checks.
type Config struct {
	Pings   int            // connections for the latency of the path, and readings of the clock
	Waiting driver.Waiting // told of long waits; nil: they are silent
}

// Default is the default configuration.
func Default() Config { return Config{Pings: 10} }

// examination is a check in progress.
type examination struct {
	Config
	Target
	caps   driver.Caps
	report Report
	local  bool          // the server runs on this machine
	path   time.Duration // minimum round trip to the server; 0: none, or unknown
}

// Run checks a target. It leaves nothing behind. Its error is ctx's end; all other problems are in
// the report.
func Run(ctx context.Context, c Config, t Target) (*Report, error) {
	x := &examination{Config: c, Target: t, caps: t.Driver.Caps(t.Options), report: Report{Target: t.Name, Driver: t.Driver.Name}}
	x.examine(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return &x.report, nil
}

func (x *examination) examine(ctx context.Context) {
	if !x.endpoints(ctx) {
		return // further steps would repeat the error
	}
	db, err := x.open(ctx)
	if err != nil {
		x.fails("session", err)
		return
	}
	defer db.Close() // the results are complete
	x.version(ctx, db)
	if x.trial(ctx, db) {
		x.answers(ctx, db)
		x.clear(ctx, db)
	}
	x.room(ctx, db)
	x.clock(ctx, db)
	x.settings(ctx, db)
	x.swap(ctx)
}

// open opens the target as a load does. An embedded database that does not exist yet is created in
// the folder for the trial.
func (x *examination) open(ctx context.Context) (driver.DB, error) {
	options := maps.Clone(x.Options)
	if path := options["path"]; x.caps.Embedded && path != "" {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(filepath.Dir(path)); err != nil {
				return driver.DB{}, fmt.Errorf("the folder of %s cannot be used: %w; make it, or give another path", path, err)
			}
			options["path"] = ""
		}
	}
	return x.Driver.Open(ctx, driver.Env{Dir: x.Folder, Create: true, Waiting: x.Waiting}, options)
}

// add adds a finding.
func (x *examination) add(check string, status Status, fix, format string, args ...any) {
	x.report.Findings = append(x.report.Findings, Finding{Check: check, Status: status, Result: fmt.Sprintf(format, args...), Fix: fix})
}

// fails adds an error. Advice after the last semicolon of its text becomes the fix.
func (x *examination) fails(check string, err error) {
	result, fix := oneLine(err), ""
	if at := strings.LastIndex(result, "; "); at >= 0 {
		result, fix = result[:at], result[at+2:]
	}
	x.add(check, Failed, fix, "%s", result)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// version reports the system, and whether the driver was tested with it.
func (x *examination) version(ctx context.Context, db driver.DB) {
	d, err := Describe(ctx, db)
	if err != nil {
		x.fails("version", err)
		return
	}
	if !x.caps.Embedded { // its files may be in the trial's folder
		x.report.Location = d.Location
	}
	if d.StandIn != "" {
		x.add("stand-in", Warned, "measure a server of the system: figures of a stand-in are marked in every report, and compared with none", "%s", d.StandIn)
	}
	x.add("result cache", OK, "", "%s", x.Driver.ResultCache)
	text := strings.TrimSpace(d.Version + " " + d.Edition)
	known, tested := d.Version != "" && d.Version != driver.UnknownVersion, x.Driver.TestedText()
	switch caution := x.Driver.Caution(d.Version); {
	case caution != "":
		x.add("version", Warned, "verify answers: tsmark compares them with the generator's in every run", "%s: the driver is %s", text, caution)
	case tested == "":
		x.add("version", OK, "", "%s", text)
	case !known:
		x.add("version", Skip, "", "the server does not report it; the driver was tested with %s", tested)
	case x.Driver.TestedWith(d.Version):
		x.add("version", OK, "", "%s, with which the driver was tested", text)
	default:
		x.add("version", Warned, "every run verifies the answers, so a wrong one shows; report failures to the project",
			"%s: the driver was tested with %s", text, tested)
	}
}

// existing checks the contents of the place. It reports whether a trial may be loaded there.
func (x *examination) existing(ctx context.Context, db driver.DB) bool {
	const check = "existing data"
	mark, err := session.New(db).Mark(ctx)
	switch {
	case err == nil && mark.Dataset.Name == trialName:
		return true // left by a killed check
	case err == nil:
		x.report.Replaces = true
		x.add(check, OK, "", "dataset %s of tsmark's (%s, %d rows), which a load replaces with --replace alone", mark.Fingerprint, mark.Dataset.Name, mark.RowsAcked)
		return false
	case errors.Is(err, session.ErrNoMark):
		x.add(check, OK, "", "nothing is in the way of a load")
		return true
	}
	x.fails(check, err)
	return false
}
