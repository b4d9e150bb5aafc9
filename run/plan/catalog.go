package plan

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// Catalog is what experiments can name.
type Catalog struct {
	Workload func(name string) (workload.Workload, error) // its error offers the closest names
	Driver   func(name string) (driver.Driver, error)     // likewise
	// Environ is the environment, as os.Environ lists it, from which secret
	// options are taken that an experiment does not give: see SecretVariable.
	Environ []string
	// Servers makes the folder with the scripts that start servers, which targets
	// name as experiment.Servers. Nil: there are none.
	Servers func() (string, error)
	// Pulse begins what notices during a measurement that this process stands still; nil:
	// nothing does.
	Pulse func() *pulse.Pulse
	// SampleRows is how many whole rows of a dataset are read back after a load; 0:
	// oracle.SampleRows. Tests of small datasets need fewer.
	SampleRows int
	// CalibrationTime is how long each of the two halves of a calibration takes; 0: a second.
	// Tests, whose figures nobody reads, need less.
	CalibrationTime time.Duration
	// RowPatience is how long a load waits for a missing row to become visible, and from one
	// census to the next; 0: 2 s and 0.5 s. Tests of databases that lose rows need less.
	RowPatience time.Duration
}

// CalibrationSpan returns how long each of the two halves of a calibration takes.
func (c *Catalog) CalibrationSpan() time.Duration { return cmp.Or(c.CalibrationTime, time.Second) }

// Variable returns the value of an environment variable.
func (c *Catalog) Variable(name string) (value string, ok bool) {
	for _, entry := range c.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// revealSecrets returns a target with what is secret in it taken from the
// environment. What was secret, and so was not stored, must be there.
func (c *Catalog) revealSecrets(k *driver.Driver, t experiment.Target) (experiment.Target, error) {
	t.Options = maps.Clone(t.Options)
	for _, o := range k.Options {
		value, given := t.Options[o.Name]
		value, err := c.reveal(t.Name, o.Name, value, o.Secret && !given)
		if err == nil && o.Secret && given {
			if content, named, unread := secret.FromFile(value); named {
				value, err = content, unread
			}
		}
		if err != nil {
			return t, err
		}
		if value != "" && t.Options == nil {
			t.Options = make(experiment.Options)
		}
		if given || value != "" {
			t.Options[o.Name] = value
		}
	}
	for _, s := range settingsOf(&t) {
		var err error
		if *s.value, err = c.reveal(t.Name, s.name, *s.value, false); err != nil {
			return t, err
		}
	}
	return t, nil
}

// reveal returns a value, from the environment where it was not stored or is
// wanted from there.
func (c *Catalog) reveal(targetName, name, value string, wanted bool) (string, error) {
	hidden := strings.Contains(value, secret.Mark)
	if !hidden && !wanted {
		return value, nil
	}
	variable := SecretVariable(targetName, name)
	found, ok := c.Variable(variable)
	if hidden && !ok {
		return "", fmt.Errorf("%s is secret and was not stored; set the environment variable %s to it", name, variable)
	}
	return found, nil
}
