// Package capability says what a driver can do, without opening a database.
package capability

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Kind is what is known of a driver.
type Kind struct {
	Name          string        `json:"kind"`
	Help          string        `json:"help"`
	Embedded      bool          `json:"embedded"` // runs in tsmark's own process
	TimePrecision time.Duration `json:"time_precision_ns"`
	MaxWriters    int           `json:"max_writers"` // 0: any number
	// Dedupes reports whether a row that is sent twice is there once, with the
	// default options.
	Dedupes bool `json:"dedupes"`
	// Types is how fields are held, with the default options.
	Types        []Held    `json:"types"`
	Options      []Option  `json:"options"`
	Profiles     []Profile `json:"profiles"`
	Durabilities []Profile `json:"durabilities"`
	Steps        []Step    `json:"after_load"`
	// UseCases are those that have queries, in the order of the workloads.
	UseCases []UseCase `json:"use_cases"`
	// Unsupported are the query types that it does not support, each once.
	Unsupported []Unsupported `json:"unsupported"`
}

// Held is how fields of a type are held.
type Held struct {
	Type   string `json:"type"`
	As     string `json:"as"`               // the system's type
	Mapped string `json:"mapped,omitempty"` // what values become where the type is not the system's own
}

// Option is a setting.
type Option struct {
	Name    string `json:"name"`
	Default string `json:"default"` // in words where the system chooses
	Help    string `json:"help"`
	Secret  bool   `json:"secret,omitempty"`
}

// Profile is a set of options.
type Profile struct {
	Name    string            `json:"name"`
	Help    string            `json:"help"`
	Options map[string]string `json:"options"`
}

// Step is something done after a load.
type Step struct {
	Name string `json:"name"`
	Help string `json:"help"`
}

// UseCase is how many of its query types can be answered.
type UseCase struct {
	Name     string `json:"name"`
	Answered int    `json:"answered"`
	Types    int    `json:"types"`
}

// Unsupported is a query type that cannot be answered.
type Unsupported struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// Of finds out what a kind can do. It renders a query of each type of the
// workloads, of datasets as the specification has them, with the default
// options.
func Of(kind *driver.Driver, workloads []workload.Workload, spec workload.Spec) (*Kind, error) {
	defaults, err := kind.Resolve(nil)
	if err != nil {
		return nil, err
	}
	caps := kind.Caps(defaults)
	out := &Kind{
		Name: kind.Name, Help: kind.Help, Embedded: caps.Embedded,
		TimePrecision: caps.TimePrecision, MaxWriters: caps.MaxWriters, Dedupes: caps.Dedupes,
		// So that JSON has lists, and not null.
		Options: []Option{}, Steps: []Step{}, Unsupported: []Unsupported{}, Types: []Held{},
		Profiles: profiles(kind.Profiles), Durabilities: profiles(kind.Durabilities),
	}
	for _, o := range kind.Options {
		value := o.Default
		if value == "" {
			value = o.Empty
		}
		out.Options = append(out.Options, Option{Name: o.Name, Default: value, Help: o.Help, Secret: o.Secret})
	}
	for _, s := range caps.Steps {
		out.Steps = append(out.Steps, Step{s.Name, s.Help})
	}
	if caps.Types != nil {
		for _, t := range series.Types() {
			out.Types = append(out.Types, Held{t.String(), caps.Types[t].As, caps.Types[t].Mapped})
		}
	}
	reasons := make(map[string]bool)
	for _, w := range workloads {
		u, unsupported, err := ask(kind, defaults, w, spec)
		if err != nil {
			return nil, err
		}
		if u.Types > 0 {
			out.UseCases = append(out.UseCases, u)
		}
		for _, n := range unsupported {
			if !reasons[n.Type] {
				reasons[n.Type] = true
				out.Unsupported = append(out.Unsupported, n)
			}
		}
	}
	return out, nil
}

// ask renders a query of each type of a workload.
func ask(kind *driver.Driver, defaults driver.Options, w workload.Workload, spec workload.Spec) (UseCase, []Unsupported, error) {
	spec.Name = w.Name()
	u := UseCase{Name: w.Name()}
	d, err := w.Dataset(spec)
	if err != nil {
		return u, nil, fmt.Errorf("use case %s: %w", w.Name(), err)
	}
	var unsupported []Unsupported
	for _, t := range w.QueryTypes() {
		sequence, err := w.Queries(spec, t.Name, 1)
		if err != nil {
			return u, nil, fmt.Errorf("use case %s, %s: %w", w.Name(), t.Name, err)
		}
		queries := slices.Collect(sequence)
		u.Types++
		switch _, err := kind.Render(&queries[0], d.Schema(), defaults); {
		case errors.Is(err, query.ErrUnsupported):
			unsupported = append(unsupported, Unsupported{t.Name, err.Error()})
		case err != nil:
			return u, nil, fmt.Errorf("%s of kind %s: %w", t.Name, kind.Name, err)
		default:
			u.Answered++
		}
	}
	return u, unsupported, nil
}

func profiles(of []driver.Profile) []Profile {
	out := []Profile{}
	for _, p := range of {
		out = append(out, Profile{p.Name, p.Help, p.Options})
	}
	return out
}
