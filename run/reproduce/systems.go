package reproduce

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/experiment/preset"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// Startable returns the document's systems that are not user-provided, as tsmark's own scripts
// start them according to the built-in experiment databases. A system that the scripts do not know
// gets its driver's defaults.
func Startable(d *document.Document, presets []preset.Preset, provided []experiment.Target) ([]experiment.Target, error) {
	all, ok := preset.Find(presets, "databases")
	if !ok {
		return nil, errors.New("the built-in experiment databases is missing, which defines how systems are started")
	}
	known, err := all.Experiment()
	if err != nil {
		return nil, err
	}
	var targets []experiment.Target
	for _, s := range d.Systems {
		if slices.ContainsFunc(provided, func(t experiment.Target) bool { return t.Driver == s.Driver }) {
			continue
		}
		i := slices.IndexFunc(known.Targets, func(t experiment.Target) bool { return t.Driver == s.Driver && t.Start != "" })
		if i < 0 {
			targets = append(targets, experiment.Target{Name: s.Driver, Driver: s.Driver})
			continue
		}
		t := known.Targets[i]
		variables := Variables(&s)
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

// neverPGlite is the driver whose server must not be PGlite where figures are compared.
const neverPGlite = "timescaledb"

// StandIn returns a target that Startable returned with the stand-in that the script starts where
// the system itself cannot be installed, and the script's variables. ok is false if the script has
// no stand-in.
func StandIn(t experiment.Target) (_ experiment.Target, variables []string, ok bool) {
	if t.Driver != neverPGlite {
		return t, nil, false
	}
	t.Start = strings.Replace(t.Start, "TSMARK_TIMESCALEDB=native", "TSMARK_TIMESCALEDB=pglite", 1)
	t.Options = maps.Clone(t.Options)
	t.Options["connections"], t.Options["method"] = "one", "insert" // PGlite ends at a COPY over a socket
	return t, []string{"TSMARK_TIMESCALEDB=pglite"}, true
}

// Variables returns the variables with which a system's script installs and starts its server.
func Variables(s *document.System) []string {
	variables := s.Variables()
	if s.Driver == neverPGlite { // PGlite's answers are correct, but its figures mean nothing
		variables = append(variables, "TSMARK_TIMESCALEDB=native")
	}
	return variables
}
