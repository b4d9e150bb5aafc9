package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/version"
)

// ParseTarget reads the value of a --target flag:
//
//	[NAME=]DRIVER[@VERSION][,OPTION=VALUE]…
//	[NAME=]SCHEME://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE&…[,OPTION=VALUE]…
//
// The default name is the driver's, with the version. A value cannot contain a comma here; in a file it can. OPTION is
// also one of TargetKeys, or server.NAME, a setting of the server itself. SCHEME is a driver or, as in
// the connection strings of clients, postgresql, mariadb, http or https; the driver of the latter two
// is HTTP. Driver and options are not looked up.
func ParseTarget(text string) (Target, error) {
	const form = "write [NAME=]DRIVER[,OPTION=VALUE]… or a connection string"
	name, kind, named, options := splitTarget(text)
	text = withoutSecrets(text)
	if !named {
		kind = cmp.Or(kind, name)
	}
	t := Target{Name: name, Driver: kind}
	if strings.Contains(kind, "://") {
		var err error
		if t.Driver, t.Options, err = readURL(kind); err != nil {
			return Target{}, fmt.Errorf("target %q %w", text, err)
		}
	}
	if !named {
		t.Name = t.Driver
	}
	t.splitVersion()
	switch {
	case kind == "":
		return Target{}, fmt.Errorf("target %q names no driver; %s", text, form)
	case name == "" && named:
		return Target{}, fmt.Errorf("target %q has an empty name; %s", text, form)
	case t.Driver == "":
		return Target{}, fmt.Errorf("target %q names a version and no driver; %s", text, form)
	}
	seen := map[string]bool{versionKey: t.Version != ""}
	for key := range t.Options {
		seen[key] = true
	}
	for _, part := range options {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case !ok || key == "":
			return Target{}, fmt.Errorf("target %q: option %q is not of the form OPTION=VALUE; %s", text, withoutSecrets(part), form)
		case seen[key]:
			return Target{}, fmt.Errorf("target %q sets option %q twice", text, key)
		}
		seen[key] = true
		if err := t.Set(key, value); err != nil {
			return Target{}, fmt.Errorf("target %q: %s: %w", text, key, err)
		}
	}
	return t, nil
}

// splitVersion moves the version in DRIVER@VERSION to its own field.
func (t *Target) splitVersion() {
	if name, of := version.Split(t.Driver); of != "" {
		t.Driver, t.Version = name, of
	}
}

// versionKey is the key of Target.Version.
const versionKey = "version"

// Starts reports whether tsmark starts the target's server.
func (t *Target) Starts() bool { return t.Start != "" || len(t.Server) > 0 || t.Version != "" }

// TargetKeys are the keys of Target that a --target flag and a matrix set as they set the driver's
// options. No driver has options of these names.
func TargetKeys() []string { return slices.Sorted(maps.Keys(new(Target).keys())) }

// keys returns the values of TargetKeys.
func (t *Target) keys() map[string]any {
	return map[string]any{
		"profile": &t.Profile, "durability": &t.Durability, "workers": &t.Workers, "batch-size": &t.BatchSize, "start": &t.Start, "idle": &t.Idle, "start-for": &t.StartFor, versionKey: &t.Version,
	}
}

// ServerPrefix precedes the name of a setting of Target.Server where options are written.
const ServerPrefix = "server."

// Set sets one of TargetKeys, a setting of the server, or else an option.
func (t *Target) Set(key, value string) (err error) {
	switch to := t.keys()[key].(type) {
	case *string:
		*to = value
	case *int:
		most := MaxWorkers
		if key == "batch-size" {
			most = MaxBatchSize
		}
		*to, err = parseCount(value, most)
	default:
		options := &t.Options
		if setting, ok := strings.CutPrefix(key, ServerPrefix); ok {
			options, key = &t.Server, setting
		}
		if *options == nil {
			*options = make(Options)
		}
		(*options)[key] = value
	}
	return err
}

// parseCount parses a whole number from 1 to most.
func parseCount(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("must be a whole number from 1 to %d, not %q", most, text)
	}
	return n, nil
}

// serverName is the form of a name of a setting of a server.
var serverName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// versionForm is the form of a version, or empty.
var versionForm = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9_.-]*)?$`)

// secretName matches names of settings that may be secret, and publicName those among them that say
// how a server treats passwords.
var (
	secretName = regexp.MustCompile(`(?i)passw|passphrase|secret|token`)
	publicName = regexp.MustCompile(`(?i)password[_.-](encryption|history|lifetime|require|reuse)|^validate_password`)
)

// serverSettings checks the settings of a target's server.
func (c *checker) serverSettings(path string, t *Target) {
	if other := t.Start != "" && !strings.Contains(t.Start, Servers); other && len(t.Server) > 0 {
		c.add(path+".server", "is for tsmark's own scripts, which start names by %s; write the settings of another command into the command", Servers)
	} else if other && t.Version != "" {
		c.add(path+"."+versionKey, "is for tsmark's own scripts, which start names by %s; leave it out", Servers)
	}
	if !versionForm.MatchString(t.Version) {
		c.add(path+"."+versionKey, "%q is not a version, such as 9.2.3", t.Version)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Server)) {
		at := path + ".server." + name
		switch value := t.Server[name]; {
		case !serverName.MatchString(name):
			c.add(path+".server", "%q is not a name of a setting: use letters, digits, and . _ -", name)
		case strings.ContainsAny(value, "\n\r\x00"):
			c.add(at, "has several lines; write it on one")
		case secretName.MatchString(name) && !publicName.MatchString(name):
			c.add(at, "settings are stored and shown as written, which a secret must not be; leave it out")
		}
	}
}
