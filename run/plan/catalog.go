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

// Catalog has the names that experiments can use.
type Catalog struct {
	Workload func(name string) (workload.Workload, error) // its error offers the closest names
	Driver   func(name string) (driver.Driver, error)     // likewise
	// Environ is the environment, as os.Environ lists it. It provides secret options that an
	// experiment omits: see SecretVariable.
	Environ []string
	// Servers creates the folder with the scripts that start servers; targets refer to it as
	// experiment.Servers. Nil: there are no scripts.
	Servers func() (string, error)
	// Pulse starts a detector for times in a measurement when this process is suspended; nil: no
	// detector.
	Pulse func() *pulse.Pulse
	// SampleRows is the number of whole rows that are read back after a load; 0: oracle.SampleRows.
	// Tests of small datasets need fewer.
	SampleRows int
	// CalibrationTime is the duration of each half of a calibration; 0: a second. Tests that ignore
	// its figures need less.
	CalibrationTime time.Duration
	// RowPatience is the time that a load waits for a missing row to become visible, and between
	// two censuses; 0: 2 s and 0.5 s. Tests of databases that lose rows need less.
	RowPatience time.Duration
}

// CalibrationSpan returns the duration of each half of a calibration.
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

// revealSecrets returns a target with its secrets taken from the environment. A secret that was not
// stored must be in the environment.
func (c *Catalog) revealSecrets(k *driver.Driver, t experiment.Target) (experiment.Target, error) {
	t.Options = maps.Clone(t.Options)
	for _, o := range k.Options {
		value, set := t.Options[o.Name]
		value, err := c.reveal(t.Name, o.Name, value, o.Secret && !set)
		if err == nil && o.Secret && set {
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
		if set || value != "" {
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

// reveal returns a value, from the environment if it was not stored or refers to a variable.
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
