package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
)

// checkAdopt returns an error if a driver with the options cannot query data that TSBS loaded.
func checkAdopt(k *driver.Driver, s *series.Schema, o driver.Options) error {
	if k.Adopts == nil {
		return fmt.Errorf("n/a: tsmark does not know how TSBS lays data out in %s; leave out adopt, and have tsmark load it", k.Name)
	}
	if err := k.Adopts(s, o); err != nil {
		return fmt.Errorf("n/a: %w", err)
	}
	return nil
}

// startProblem says why tsmark cannot start a target's server; empty: it can, or need not.
func startProblem(kind *driver.Driver, t experiment.Target) string {
	if t.Start == "" {
		return ""
	}
	for _, name := range []string{connection.Host, connection.Port} {
		if !slices.ContainsFunc(kind.Options, func(o driver.Option) bool { return o.Name == name }) {
			return fmt.Sprintf("%s has no server that tsmark could start; leave it out", kind.Name)
		}
		if t.Options[name] != "" {
			return fmt.Sprintf("says that tsmark starts the server, and option %s where one runs; leave one of them out", name)
		}
	}
	return ""
}

// startByScript returns a target that has a version or settings of its server, and no command that
// starts it, with the command of tsmark's own script, and with the options of the server that this
// starts. A version is passed to the script.
func startByScript(kind *driver.Driver, t experiment.Target) (experiment.Target, error) {
	if !t.Starts() || t.Start != "" && t.Version == "" {
		return t, nil
	}
	what := "settings"
	if t.Version != "" {
		what = "the version"
	}
	switch {
	case t.Version != "" && len(kind.Modules) > 0 && kind.TestServer == nil:
		return t, fmt.Errorf("%s is linked into this tsmark, which has one version of it; leave the version out", kind.Name)
	case kind.TestServer == nil || kind.UserServer != nil:
		return t, fmt.Errorf("tsmark has no script that starts a server of %s; leave %s out, or set up a server of your own", kind.Name, what)
	case t.Options[connection.Host] != "" || t.Options[connection.Port] != "":
		return t, fmt.Errorf("%s is for a server that tsmark starts, and this one runs at an address; leave out one of them", what)
	}
	if t.Start == "" {
		t = withScript(kind, t)
	}
	if t.Version != "" {
		t.Start = fmt.Sprintf("env %s=%s %s", version.Variable(kind.Name), t.Version, t.Start)
	}
	return t, nil
}

// withScript returns a target that tsmark's own script starts.
func withScript(kind *driver.Driver, t experiment.Target) experiment.Target {
	t.Start = fmt.Sprintf("%s/%s exec %s %s", experiment.Servers, kind.Name, experiment.StartDir, experiment.StartPort)
	options := make(experiment.Options)
	for name, value := range kind.TestServer {
		options[name] = strings.Replace(value, "@servers/", "@"+experiment.Servers+"/", 1)
	}
	for i, name := range kind.Ports() {
		if i > 0 {
			options[name] = fmt.Sprintf("{port+%d}", i)
		}
	}
	maps.Copy(options, t.Options)
	t.Options = options
	return t
}

// byScript matches the start command of a server by tsmark's own script, up to its verb.
var byScript = regexp.MustCompile(`^((?:env (?:[A-Z_0-9]+=[\w.,:-]+ )*)*` + regexp.QuoteMeta(experiment.Servers) + `/\w+) exec \S`)

// scriptCommand returns the part of a start command before its verb; empty: the command does not run a
// script of tsmark's.
func scriptCommand(start string) string {
	if script := byScript.FindStringSubmatch(start); script != nil {
		return script[1]
	}
	return ""
}

// locateScripts returns a target with the placeholder for the folder of the scripts replaced, and the
// command of the script that starts its server, as scriptCommand returns it.
func (c *Catalog) locateScripts(t experiment.Target) (_ experiment.Target, script string, _ error) {
	named := strings.Contains(t.Start, experiment.Servers)
	for _, value := range t.Options {
		named = named || strings.Contains(value, experiment.Servers)
	}
	switch {
	case !named:
		return t, "", nil
	case c.Servers == nil:
		return t, "", fmt.Errorf("there are no scripts of servers that %s could stand for", experiment.Servers)
	}
	folder, err := c.Servers()
	if err != nil {
		return t, "", err
	}
	script = strings.ReplaceAll(scriptCommand(t.Start), experiment.Servers, ShellQuote(folder))
	t.Start = strings.ReplaceAll(t.Start, experiment.Servers, ShellQuote(folder))
	t.Options = maps.Clone(t.Options)
	for name, value := range t.Options {
		t.Options[name] = strings.ReplaceAll(value, experiment.Servers, folder)
	}
	return t, script, nil
}

// takePorts removes options of the form {port+2} from a target, which it may modify, and returns
// their distances from the first port of its server.
func takePorts(t experiment.Target) map[string]int {
	ports := make(map[string]int)
	for name, value := range t.Options {
		var offset int
		if n, _ := fmt.Sscanf(value, "{port+%d}", &offset); n == 1 && t.Start != "" && offset > 0 && offset < process.PortsInARow {
			ports[name] = offset
			delete(t.Options, name)
		}
	}
	return ports
}

// ForSweep reports whether several runs share a target's server and replace each other's data.
func (p *Target) ForSweep() bool { return p.Start != "" && p.StartFor == experiment.ForSweep }

// OptionsAt returns the options of a target if the ports of its server start at the given one.
func (p *Target) OptionsAt(port int) driver.Options {
	options := maps.Clone(p.Options)
	options[connection.Host], options[connection.Port] = "127.0.0.1", strconv.Itoa(port)
	for name, offset := range p.ports {
		options[name] = strconv.Itoa(port + offset)
	}
	return options
}

// ShellQuote quotes a text as one word for sh.
func ShellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
