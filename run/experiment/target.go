package experiment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ParseTarget reads the value of a --target flag:
//
//	[NAME=]DRIVER[,OPTION=VALUE]…
//
// The default name is the driver's. A value cannot contain a comma here; in a file it can. OPTION is
// also one of TargetKeys, or server.NAME, a setting of the server itself. Driver and options are not
// looked up.
func ParseTarget(text string) (Target, error) {
	const form = "write [NAME=]DRIVER[,OPTION=VALUE]…"
	parts := strings.Split(text, ",")
	name, kind, named := strings.Cut(parts[0], "=")
	if !named {
		kind = name
	}
	switch {
	case kind == "":
		return Target{}, fmt.Errorf("target %q names no driver; %s", text, form)
	case name == "":
		return Target{}, fmt.Errorf("target %q has an empty name; %s", text, form)
	}
	t, seen := Target{Name: name, Driver: kind}, make(map[string]bool)
	for _, part := range parts[1:] {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case !ok || key == "":
			return Target{}, fmt.Errorf("target %q: option %q is not of the form OPTION=VALUE; %s", text, part, form)
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

// TargetKeys are the keys of Target that a --target flag and a matrix set as they set the driver's
// options. No driver has options of these names.
func TargetKeys() []string { return slices.Sorted(maps.Keys(new(Target).keys())) }

// keys returns the values of TargetKeys.
func (t *Target) keys() map[string]any {
	return map[string]any{
		"profile": &t.Profile, "durability": &t.Durability, "workers": &t.Workers, "batch-size": &t.BatchSize, "start": &t.Start, "idle": &t.Idle, "start-for": &t.StartFor,
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

// serverSettings checks the settings of a target's server.
func (c *checker) serverSettings(path string, t *Target) {
	if len(t.Server) > 0 && t.Start != "" && !strings.Contains(t.Start, Servers) {
		c.add(path+".server", "is for tsmark's own scripts, which start names by %s; write the settings of another command into the command", Servers)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Server)) {
		at := path + ".server." + name
		switch value := t.Server[name]; {
		case !serverName.MatchString(name):
			c.add(path+".server", "%q is not a name of a setting: use letters, digits, and . _ -", name)
		case strings.ContainsAny(value, "\n\r\x00"):
			c.add(at, "has several lines; write it on one")
		case slices.ContainsFunc([]string{"passw", "passphrase", "secret", "token"}, func(word string) bool { return strings.Contains(strings.ToLower(name), word) }):
			c.add(at, "settings are stored and shown as written, which a secret must not be; leave it out")
		}
	}
}
