package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/run/experiment"
)

// SecretVariable is the environment variable for a secret option of a target that the experiment
// omits: TSMARK_PG_PASSWORD.
func SecretVariable(targetName, option string) string {
	return "TSMARK_" + strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(targetName+"_"+option))
}

// newRedactor learns the secrets of an experiment before anything is checked, so that no error
// shows one.
func newRedactor(e *experiment.Experiment, c Catalog) *secret.Redactor {
	var names, public []string
	kinds := make([]driver.Driver, len(e.Targets))
	for i, t := range e.Targets {
		kinds[i], _ = compatible.Lookup(c.Driver, &t) // an unknown driver has no secret options
		public = append(public, t.Name, t.Driver)
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
	for _, entry := range c.Environ {
		// Clients read whole addresses and settings from these.
		if _, value, _ := strings.Cut(entry, "="); strings.Contains(value, "://") || strings.Contains(value, "=") {
			r.Learn(value)
		}
	}
	for _, note := range e.Notes {
		r.Learn(note)
	}
	for i, t := range e.Targets {
		for name, value := range t.Options {
			r.Learn(value)
			if !maybeSecret(&kinds[i], name) {
				continue
			}
			if content, named, err := secret.FromFile(value); !named {
				r.Add(value)
			} else if err == nil {
				r.Add(content)
			}
		}
		for _, s := range settingsOf(&t) {
			value, _ := c.Variable(SecretVariable(t.Name, s.name))
			r.Learn(value)
			r.Learn(*s.value)
		}
		for _, o := range kinds[i].Options {
			value, _ := c.Variable(SecretVariable(t.Name, o.Name))
			r.Learn(value)
			if o.Secret {
				r.Add(value)
			}
		}
	}
	return r
}

// maybeSecret reports whether an option is secret, or may be a misspelled secret option.
func maybeSecret(k *driver.Driver, name string) bool {
	secrets := false
	for _, o := range k.Options {
		if o.Name == name {
			return o.Secret
		}
		secrets = secrets || o.Secret
	}
	return secrets
}

// settingsOf lists other settings of a target that may contain a secret, such as the password of a
// URL.
func settingsOf(t *experiment.Target) []targetSetting {
	return []targetSetting{{"exporter", &t.Exporter}, {"metrics", &t.Metrics}, {"restart", &t.Restart}, {"start", &t.Start}}
}

type targetSetting struct {
	name  string
	value *string
}

// hideSecrets returns options in the form to store and show.
func (p *Plan) hideSecrets(k *driver.Driver, options map[string]string) map[string]string {
	shown := make(map[string]string, len(options))
	for name, value := range options {
		i := slices.IndexFunc(k.Options, func(o driver.Option) bool { return o.Name == name })
		hidden := p.Secrets.Text(value)
		// A URL remains recognizable; a part of another secret would reveal too much.
		if i >= 0 && k.Options[i].Secret && value != "" && value != k.Options[i].Default && (hidden == value || !strings.Contains(value, "://")) {
			hidden = secret.Mark
		}
		shown[name] = hidden
	}
	return shown
}

// YAML returns the plan's experiment in the form to store and show: stars replace each secret, and
// the environment variable of SecretVariable provides it when the experiment is executed again.
func (p *Plan) YAML() ([]byte, error) { return p.ExperimentYAML(p.Experiment) }

// ExperimentYAML is YAML for a variant of the plan's experiment, with the same targets.
func (p *Plan) ExperimentYAML(e *experiment.Experiment) ([]byte, error) {
	public := p.PublicCopy(e)
	for i := range public.Targets {
		public.Targets[i] = p.publicTarget(e.Targets[i], &p.Targets[i].Driver, p.Targets[i].Options)
	}
	return experiment.Marshal(public)
}

// PublicCopy returns a copy of an experiment with its original targets, but no secrets in its other
// texts.
func (p *Plan) PublicCopy(e *experiment.Experiment) *experiment.Experiment {
	public := *e
	public.Targets, public.Notes = slices.Clone(e.Targets), slices.Clone(e.Notes)
	p.Secrets.Hide(&public.Notes)
	p.Secrets.Hide(&public.Name)
	p.Secrets.Hide(&public.Load.File)
	return &public
}

// publicTarget returns a target in the form to store and show. found has its options including
// values from elsewhere, such as the environment; nil: only its own options matter.
func (p *Plan) publicTarget(t experiment.Target, kind *driver.Driver, found driver.Options) experiment.Target {
	options := maps.Clone(t.Options)
	byScript := t.Starts() && t.Start == "" // then the secrets of the test server are not the user's
	for _, o := range kind.Options {
		if value := found[o.Name]; found != nil && o.Secret && value != o.Default && !(byScript && kind.TestServer[o.Name] != "") {
			if options == nil {
				options = make(experiment.Options)
			}
			options[o.Name] = value
		}
	}
	original := t.Options
	t.Options = p.hideSecrets(kind, options)
	for _, o := range kind.Options {
		if _, named, _ := secret.FromFile(original[o.Name]); named && o.Secret {
			t.Options[o.Name] = original[o.Name] // the path of a file with a secret is not secret
		}
	}
	for _, s := range settingsOf(&t) {
		*s.value = p.Secrets.Text(*s.value)
	}
	return t
}
