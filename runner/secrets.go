package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/experiment"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/target"
)

// SecretVariable is the environment variable that a secret option of a target
// is taken from where the experiment does not give it: TSMARK_PG_PASSWORD.
func SecretVariable(targetName, option string) string {
	return "TSMARK_" + strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(targetName+"_"+option))
}

// newRedactor knows the secrets of an experiment before anything of it is
// checked, so that no error shows one.
func newRedactor(e *experiment.Experiment, c Catalog) *secret.Redactor {
	var names, public []string
	kinds := make([]target.Kind, len(e.Targets))
	for i, t := range e.Targets {
		kinds[i], _ = c.Kind(t.Kind) // one that is not known has no secret options
		public = append(public, t.Name, t.Kind)
		for _, o := range kinds[i].Options {
			public = append(public, o.Default)
			if o.Secret {
				names = append(names, o.Name)
			} else {
				public = append(public, t.Options[o.Name])
			}
		}
	}
	r := secret.New(names...)
	r.Public(public...)
	r.Add(secret.InEnvironment(c.Environ)...)
	for i, t := range e.Targets {
		for name, value := range t.Options {
			r.Learn(value)
			if maybeSecret(&kinds[i], name) {
				r.Add(value)
			}
		}
		for _, o := range kinds[i].Options {
			value, _ := c.variable(SecretVariable(t.Name, o.Name))
			r.Learn(value)
			if o.Secret {
				r.Add(value)
			}
		}
	}
	return r
}

// maybeSecret reports whether an option is secret, or may be meant to be one
// and misspelled.
func maybeSecret(k *target.Kind, name string) bool {
	secrets := false
	for _, o := range k.Options {
		if o.Name == name {
			return o.Secret
		}
		secrets = secrets || o.Secret
	}
	return secrets
}

// variable returns the value of an environment variable.
func (c *Catalog) variable(name string) (value string, ok bool) {
	for _, entry := range c.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// complete returns the options of a target with those from the environment. An
// option that was secret, and so was not stored, must be there.
func (c *Catalog) complete(k *target.Kind, t experiment.Target) (map[string]string, error) {
	given := maps.Clone(map[string]string(t.Options))
	if given == nil {
		given = make(map[string]string)
	}
	for _, o := range k.Options {
		value, ok := given[o.Name]
		missing := strings.Contains(value, secret.Mark)
		if ok && !missing || !o.Secret && !missing {
			continue
		}
		name := SecretVariable(t.Name, o.Name)
		if value, ok = c.variable(name); ok {
			given[o.Name] = value
		} else if missing {
			return nil, fmt.Errorf("%s is secret and was not stored; set the environment variable %s to it", o.Name, name)
		}
	}
	return given, nil
}

// withoutSecrets returns options as they may be stored and shown.
func (p *Plan) withoutSecrets(k *target.Kind, options map[string]string) map[string]string {
	shown := make(map[string]string, len(options))
	for name, value := range options {
		i := slices.IndexFunc(k.Options, func(o target.Option) bool { return o.Name == name })
		hidden := p.secrets.Text(value)
		// A URL shows where it leads; of other secrets a part would be one too.
		if i >= 0 && k.Options[i].Secret && value != "" && value != k.Options[i].Default && (hidden == value || !strings.Contains(value, "://")) {
			hidden = secret.Mark
		}
		shown[name] = hidden
	}
	return shown
}

// YAML returns the plan's experiment as it may be stored and shown: each secret
// is replaced by stars, which stand for the environment variable of
// SecretVariable where the experiment is executed again.
func (p *Plan) YAML() ([]byte, error) { return p.yaml(p.experiment) }

func (p *Plan) yaml(e *experiment.Experiment) ([]byte, error) {
	public := *e
	public.Targets = slices.Clone(e.Targets)
	for i := range public.Targets {
		t, planned := &public.Targets[i], &p.targets[i]
		options := maps.Clone(t.Options)
		for _, o := range planned.kind.Options {
			if value := planned.options[o.Name]; o.Secret && value != o.Default {
				if options == nil {
					options = make(experiment.Options)
				}
				options[o.Name] = value // it may have come from the environment
			}
		}
		t.Options = p.withoutSecrets(&planned.kind, options)
	}
	return experiment.Marshal(&public)
}

// guardedStore lets no secret into what is stored. It changes what it is
// given, which is what reports then show.
type guardedStore struct {
	Store
	secrets *secret.Redactor
}

// Begin implements Store.
func (g guardedStore) Begin(ctx context.Context, r *result.Run) error {
	g.run(r)
	return g.Store.Begin(ctx, r)
}

// SaveTarget implements Store.
func (g guardedStore) SaveTarget(ctx context.Context, runID string, t *result.Target) error {
	g.target(t)
	return g.Store.SaveTarget(ctx, runID, t)
}

// SaveLoad implements Store.
func (g guardedStore) SaveLoad(ctx context.Context, runID, target string, repeat int, l *result.Load) error {
	g.load(l)
	return g.Store.SaveLoad(ctx, runID, target, repeat, l)
}

// SaveQueries implements Store.
func (g guardedStore) SaveQueries(ctx context.Context, runID, target string, repeat int, q *result.Queries) error {
	g.queries(q)
	return g.Store.SaveQueries(ctx, runID, target, repeat, q)
}

// Finish implements Store.
func (g guardedStore) Finish(ctx context.Context, r *result.Run) error {
	g.run(r)
	return g.Store.Finish(ctx, r)
}

func (g guardedStore) text(texts ...*string) {
	for _, t := range texts {
		*t = g.secrets.Text(*t)
	}
}

func (g guardedStore) run(r *result.Run) {
	g.text(&r.Reason, &r.Dataset.Source)
	for i := range r.Args {
		g.text(&r.Args[i])
	}
	for i := range r.Parameters {
		g.text(&r.Parameters[i].Value)
	}
	for i := range r.Resources {
		g.text(&r.Resources[i].Source, &r.Resources[i].Measure)
		for j := range r.Resources[i].Problems {
			g.text(&r.Resources[i].Problems[j])
		}
	}
	for i := range r.Targets {
		g.target(&r.Targets[i])
	}
}

func (g guardedStore) target(t *result.Target) {
	d := &t.Description
	g.text(&t.Failure, &d.Version, &d.Edition, &d.Location, &d.Durability)
	for name, value := range d.Settings {
		d.Settings[name] = g.secrets.Text(value)
	}
	g.load(t.Load)
	for i := range t.Queries {
		g.queries(&t.Queries[i])
	}
	for _, r := range t.Repeats {
		g.load(r.Load)
		for i := range r.Queries {
			g.queries(&r.Queries[i])
		}
	}
}

func (g guardedStore) load(l *result.Load) {
	if l == nil {
		return
	}
	g.text(&l.Withheld, &l.Unverified)
	for i := range l.Census {
		g.text(&l.Census[i].Problem)
	}
}

func (g guardedStore) queries(q *result.Queries) {
	g.text(&q.Unsupported, &q.Withheld, &q.Verdict.Difference)
}

// guardedDisplay shows no secret.
type guardedDisplay struct {
	Display
	secrets *secret.Redactor
}

// Start implements Display.
func (g guardedDisplay) Start(label, unit string, total int64) Task {
	return guardedTask{g.Display.Start(g.secrets.Text(label), unit, total), g.secrets}
}

type guardedTask struct {
	Task
	secrets *secret.Redactor
}

// Done implements Task.
func (g guardedTask) Done(note string) { g.Task.Done(g.secrets.Text(note)) }

// Fail implements Task.
func (g guardedTask) Fail(note string) { g.Task.Fail(g.secrets.Text(note)) }
