package certify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
)

// Status is the outcome of a check.
type Status string

// The statuses.
const (
	Passed        Status = "passed"
	Failed        Status = "failed"
	NotApplicable Status = "n/a" // the system does not support it
)

// Check is the result of one check.
type Check struct {
	Name     string   `json:"name"` // with the groups that it is in: random queries/seed 3
	Status   Status   `json:"status"`
	Seconds  float64  `json:"seconds"`
	Problems []string `json:"problems,omitempty"` // each with its evidence
	Reasons  []Reason `json:"unsupported,omitempty"`
}

// Reason says why something is not supported.
type Reason struct {
	Subject string `json:"subject,omitempty"` // such as a query type; empty: the whole check
	Reason  string `json:"reason"`
}

// Report is the result of the suite.
type Report struct {
	Target  string             `json:"target"`
	Driver  string             `json:"driver"`
	System  driver.Description `json:"system"`
	Tsmark  result.Tool        `json:"tsmark"`
	Modules []result.Module    `json:"modules,omitempty"` // of Go, through which the driver accesses the system
	Program string             `json:"program,omitempty"` // version of the program that is the driver, with its SDK; empty: it is part of tsmark
	Date    time.Time          `json:"date"`
	Seconds float64            `json:"seconds"`
	Long    bool               `json:"long"`           // everything ran
	Only    []string           `json:"only,omitempty"` // the checks that were selected; empty: all
	Passed  int                `json:"passed"`
	Failed  int                `json:"failed"`
	// NotApplicable is the number of checks of features that the system does not support.
	NotApplicable int `json:"not_applicable"`
	// Stopped is the check that did not end. The checks after it did not run. Empty: all ended.
	Stopped string  `json:"stopped,omitempty"`
	Checks  []Check `json:"checks"`
}

func (r *Report) add(c *Check) {
	r.Checks = append(r.Checks, *c)
	switch c.Status {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	default:
		r.NotApplicable++
	}
}

// OK reports whether the driver passes: no check failed, and one passed.
func (r *Report) OK() bool { return r.Failed == 0 && r.Passed > 0 }

// system returns the name and version of the system.
func (r *Report) system() string {
	return strings.Join(strings.Fields(strings.Join([]string{cmp.Or(r.System.System, r.Driver), r.System.Edition, r.System.Version}, " ")), " ")
}

// Answer returns the result in one line.
func (r *Report) Answer() string {
	var b strings.Builder
	switch ran := r.Passed + r.Failed; {
	case ran == 0:
		fmt.Fprintf(&b, "%s: no check applies", r.Target)
	case ran == 1 && r.Failed == 0:
		fmt.Fprintf(&b, "%s passes the check", r.Target)
	case ran == 1:
		fmt.Fprintf(&b, "%s fails the check", r.Target)
	case r.Failed == 0:
		fmt.Fprintf(&b, "%s passes all %d checks", r.Target, ran)
	default:
		fmt.Fprintf(&b, "%s passes %d of %d checks", r.Target, r.Passed, ran)
	}
	switch r.NotApplicable {
	case 0:
	case 1:
		b.WriteString("; 1 more is n/a")
	default:
		fmt.Fprintf(&b, "; %d more are n/a", r.NotApplicable)
	}
	if r.Stopped != "" {
		fmt.Fprintf(&b, "; the checks after %q did not run, because it did not end", r.Stopped)
	}
	return b.String() + "."
}

// Lines of a problem, and subjects of a reason, that a text report shows.
const (
	shownLines    = 12
	shownSubjects = 4
)

// WriteText writes the report for a reader. The command repeats a check, as in "tsmark conformance x".
func (r *Report) WriteText(w io.Writer, command string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", r.Answer(), r.provenance())
	if r.Failed > 0 {
		b.WriteString("\nFailed\n")
	}
	for _, c := range r.Checks {
		if c.Status != Failed {
			continue
		}
		fmt.Fprintf(&b, "\n  %s\n", printable.Line(c.Name))
		lines := strings.Split(c.Problems[0], "\n") // later ones may follow from it
		for _, line := range lines[:min(len(lines), shownLines)] {
			fmt.Fprintf(&b, "    %s\n", printable.Line(line))
		}
		if more := len(lines) - shownLines; more > 0 {
			fmt.Fprintf(&b, "    … %d more lines\n", more)
		}
		if more := len(c.Problems) - 1; more > 0 {
			fmt.Fprintf(&b, "    … and %s; --format json has all\n", plural(more, "more problem"))
		}
		fmt.Fprintf(&b, "    to repeat it: %s --check %s\n", command, plan.ShellQuote(printable.Line(c.Name)))
	}
	r.writeReasons(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// provenance names versions, time and scope.
func (r *Report) provenance() string {
	parts := []string{r.system(), "tsmark " + r.Tsmark.String()}
	if r.Program != "" {
		parts = append(parts, "driver "+r.Program)
	}
	for _, m := range r.Modules {
		parts = append(parts, m.Path+" "+m.Version)
	}
	if r.System.StandIn != "" {
		parts = append(parts, "stand-in: "+r.System.StandIn)
	}
	parts = append(parts, r.Date.Format(time.DateOnly), fmt.Sprintf("%.0f s", r.Seconds))
	switch {
	case len(r.Only) > 0:
		parts = append(parts, "only "+strings.Join(r.Only, ", "))
	case !r.Long:
		parts = append(parts, "--long runs more checks")
	}
	return printable.Line(strings.Join(parts, "; "))
}

// writeReasons lists the reasons for checks that do not apply.
func (r *Report) writeReasons(b *strings.Builder) {
	var reasons []string
	subjects := map[string][]string{}
	for _, c := range r.Checks {
		for _, n := range c.Reasons {
			if subjects[n.Reason] == nil {
				reasons = append(reasons, n.Reason)
			}
			if subject := cmp.Or(n.Subject, c.Name); !slices.Contains(subjects[n.Reason], subject) {
				subjects[n.Reason] = append(subjects[n.Reason], subject)
			}
		}
	}
	if len(reasons) > 0 {
		b.WriteString("\nNot supported (n/a)\n\n")
	}
	for _, reason := range reasons {
		list := subjects[reason]
		names := strings.Join(list[:min(len(list), shownSubjects)], ", ")
		if more := len(list) - shownSubjects; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(b, "  %s\n    %s\n", printable.Line(reason), printable.Line(names))
	}
}

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(r)
}
