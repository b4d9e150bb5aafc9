package shared

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/input"
)

// checkPermitted returns an error unless the agent permits all needs of a part, before any of it is
// executed. A proper Runner never sends a part that is refused here.
func (a *Agent) checkPermitted(p *assignment, e *experiment.Experiment) error {
	if len(e.Targets) != 1 {
		return fmt.Errorf("a part is of one target, and this one has %d", len(e.Targets))
	}
	t := &e.Targets[0]
	for what, text := range map[string]string{
		"a command that starts a server": t.Start, "a command that restarts a server": t.Restart, "an exporter": t.Exporter, "metrics of a server": t.Metrics,
		"a file of rows": e.Load.File, "files of queries": strings.Join(e.Queries.Files, ","),
	} {
		if text != "" {
			return fmt.Errorf("the coordinator sent %s, which agents never use", what)
		}
	}
	for name, value := range t.Options {
		if strings.HasPrefix(value, "@") || strings.Contains(value, experiment.Servers) {
			return fmt.Errorf("the coordinator requests a file for the option %s, which agents never read", name)
		}
	}
	of, err := a.Catalog.Driver(t.Driver)
	if err != nil {
		return err
	}
	if t.ProfileText != "" {
		return errors.New("the coordinator sent a profile from a file, whose statements agents never run")
	}
	if of.Program != nil {
		return errors.New("the coordinator sent a target with an external driver, whose programs agents never start")
	}
	mine := func(variable string) bool {
		return slices.ContainsFunc(of.Options, func(o driver.Option) bool { return plan.SecretVariable(t.Name, o.Name) == variable })
	}
	for _, entry := range p.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if !mine(name) || strings.HasPrefix(value, "@") || strings.Contains(value, experiment.Servers) {
			return errors.New("the coordinator sets a variable that does not belong to a secret of the target, which agents refuse")
		}
	}
	for _, name := range p.Wanted {
		if !mine(name) {
			return errors.New("the coordinator requests a variable that does not belong to a secret of the target, which agents refuse")
		}
	}
	var files []string
	for _, settings := range []workload.Settings{p.Spec.Settings, p.Spec.QuerySettings, e.Workload.Settings, e.Queries.Settings} {
		names, err := input.Names(settings)
		if err != nil {
			return err
		}
		files = append(files, names...)
	}
	return a.checkAllowed(allow.Needs{Files: files})
}

// mostShares is the maximum number of agents that share a phase.
const mostShares = 1 << 20

// checkFigures returns an error if figures of a part are impossible.
func (p *assignment) checkFigures() error {
	s := p.Share
	bad := s.Count < 1 || s.Count > mostShares || s.Index < 0 || s.Index >= s.Count || p.Repeat < 0 || p.Before < 0 || p.Begun < 0 || p.Warm < 0 || p.TimeBox < 0 || p.Lateness < 0 || len(p.Expected)%2 != 0
	bad = bad || p.Begun > mostQuantity || p.Before > mostQuantity || p.Job == jobRest && len(p.Handed) != s.Count
	bad = bad || slices.ContainsFunc(p.Handed, func(rows int64) bool { return rows < 0 })
	queries := int64(0)
	for run := range slices.Chunk(p.Expected, 2) {
		bad = bad || run[0] < 0 || len(run) == 2 && (run[1] < 0 || run[1] > math.MaxInt32-queries)
		if !bad {
			queries += run[1]
		}
	}
	if bad {
		return errors.New("the coordinator sent a part whose figures are impossible")
	}
	return nil
}

// checkAllowed calls a.Allow; without it no needs are permitted.
func (a *Agent) checkAllowed(n allow.Needs) error {
	if a.Allow != nil {
		return a.Allow(n)
	}
	return allow.List{}.Check(n)
}

// checkReachable returns an error unless the agent permits a target with resolved options, which
// determine the addresses that it connects to.
func (a *Agent) checkReachable(t *plan.Target) error {
	if t.Caps.Embedded && !t.Caps.Discards {
		return fmt.Errorf("%s is in this process, and agents open no databases of their own", t.Driver.Name)
	}
	n, err := t.Needs()
	if err != nil {
		return err
	}
	return a.checkAllowed(n)
}
