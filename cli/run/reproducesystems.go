package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/experiment/preset"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/servers"
)

// systems returns the targets of all experiments: the user-provided ones and the ones
// to start. Without user-provided targets all of the document's systems are started.
func (p *reproducing) systems(ctx context.Context, d *document.Document) ([]experiment.Target, error) {
	var targets []experiment.Target
	for _, text := range p.targets {
		t, err := experiment.ParseTarget(text)
		if err != nil {
			return nil, fmt.Errorf("--target: %w", err)
		}
		targets = append(targets, t)
	}
	if len(targets) > 0 && !p.start {
		return targets, nil
	}
	started, err := p.startable(d, targets)
	if err != nil {
		return nil, err
	}
	if p.print {
		return append(targets, started...), nil
	}
	if started, err = p.installed(ctx, d, started); err != nil {
		return nil, err
	}
	if targets = append(targets, started...); len(targets) == 0 {
		return nil, &app.Status{Code: app.ExitTarget, Text: fmt.Sprintf("no system of %s can be started on this host; name yours with --target, as in --target %s,host=db1", d.Name, d.Systems[0].Driver)}
	}
	return targets, nil
}

// startable returns the document's systems that are not user-provided, as tsmark's own scripts
// start them. A system that the scripts do not know gets its driver's defaults.
func (p *reproducing) startable(d *document.Document, given []experiment.Target) ([]experiment.Target, error) {
	all, ok := preset.Find(p.executor.app.Catalog.Presets(), "databases")
	if !ok {
		return nil, errors.New("the built-in experiment databases is missing, which defines how systems are started")
	}
	known, err := all.Experiment()
	if err != nil {
		return nil, err
	}
	var targets []experiment.Target
	for _, s := range d.Systems {
		if slices.ContainsFunc(given, func(t experiment.Target) bool { return t.Driver == s.Driver }) {
			continue
		}
		i := slices.IndexFunc(known.Targets, func(t experiment.Target) bool { return t.Driver == s.Driver && t.Start != "" })
		if i < 0 {
			targets = append(targets, experiment.Target{Name: s.Driver, Driver: s.Driver})
			continue
		}
		t := known.Targets[i]
		variables := variablesOf(&s)
		if s.Driver == neverPGlite {
			t.Options = maps.Clone(t.Options)
			delete(t.Options, "connections") // PGlite takes one
		}
		if len(variables) > 0 {
			t.Start = "env " + strings.Join(variables, " ") + " " + t.Start
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// neverPGlite is the driver whose server must not be PGlite here.
const neverPGlite = "timescaledb"

// variablesOf returns the variables with which a system's script installs and starts its server.
func variablesOf(s *document.System) []string {
	variables := s.Variables()
	if s.Driver == neverPGlite { // PGlite's answers are correct, but its figures mean nothing
		variables = append(variables, "TSMARK_TIMESCALEDB=native")
	}
	return variables
}

// installed installs the servers that will be started. A server that cannot be installed is left
// out with a message.
func (p *reproducing) installed(ctx context.Context, d *document.Document, startable []experiment.Target) ([]experiment.Target, error) {
	scripts, err := servers.Unpack()
	if err != nil {
		return nil, err
	}
	var targets []experiment.Target
	for _, t := range startable {
		if t.Start == "" {
			fmt.Fprintf(p.executor.app.Stderr, "%s is not tested: no package registry has its server; name yours with --target %[1]s,host=…\n", t.Driver)
			continue
		}
		s, _ := d.System(t.Driver)
		soon := time.AfterFunc(2*time.Second, func() {
			fmt.Fprintf(p.executor.app.Stderr, "%s: installing what its server needs, which may take minutes the first time\n", t.Driver)
		})
		var said bytes.Buffer
		err := scripts.Install(ctx, t.Driver, &said, variablesOf(s)...)
		soon.Stop()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			lines := strings.Split(strings.TrimSpace(said.String()), "\n")
			fmt.Fprintf(p.executor.app.Stderr, "%s is not tested: %s\n", t.Driver, printable.OneLine(cmp.Or(lines[len(lines)-1], err.Error())))
		default:
			targets = append(targets, t)
		}
	}
	return targets, nil
}
