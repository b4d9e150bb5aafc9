// Package compatible makes targets of systems that speak the protocol of a driver's system, and differ from it
// as a profile in YAML says. tsmark ships some profiles; users write others.
package compatible

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
)

// profile is a profile's file.
type profile struct {
	Name   string `yaml:"name"`
	System string `yaml:"system"` // as messages and reports call it
	Driver string `yaml:"driver"` // whose protocol it speaks
	Help   string `yaml:"help"`   // one line
	// Durability says when an acknowledged row is on disk.
	Durability string `yaml:"durability"`
	// Options are values for options of the driver. Users may override them.
	Options map[string]string `yaml:"options"`
	// Unsupported are reasons by name of a shape of queries, or by all.
	Unsupported map[string]string `yaml:"unsupported"`
	// ResultCache is the system's cache of results and how Options or Quirks turn it off.
	ResultCache struct {
		Name string `yaml:"name"`
		Off  string `yaml:"off"`
	} `yaml:"result-cache"`
	Quirks any `yaml:"quirks"`
}

// allShapes is the key of profile.Unsupported for all queries.
const allShapes = "all"

// shapes are the keys of profile.Unsupported.
func shapes() []string {
	return []string{allShapes, "buckets", "totals", "rows", "last", "means", "activity", "promql"}
}

//go:embed profiles/*.yaml
var files embed.FS

// readShipped returns the text of a profile that tsmark ships; ok is false for another name.
func readShipped(name string) (text string, ok bool) {
	data, err := files.ReadFile("profiles/" + name + ".yaml")
	return string(data), err == nil
}

// Extend returns the drivers with the profiles that tsmark ships among their own.
func Extend(drivers []driver.Driver) []driver.Driver {
	drivers = slices.Clone(drivers)
	names, _ := files.ReadDir("profiles") // of an embedded folder, which can be read
	for _, entry := range names {
		text, _ := readShipped(strings.TrimSuffix(entry.Name(), ".yaml"))
		var p profile
		if _, err := experiment.Decode(entry.Name(), []byte(text), "profile", "", &p); err != nil {
			continue // a test reports it
		}
		for i := range drivers {
			if d := &drivers[i]; d.Name == p.Driver && d.Compatible != nil {
				d.Profiles = append(slices.Clip(d.Profiles), p.entry())
			}
		}
	}
	return drivers
}

// entry returns the profile as drivers list it.
func (p *profile) entry() driver.Profile {
	return driver.Profile{Name: p.Name, Help: p.Help, Options: p.Options, System: p.System}
}

// Lookup returns the driver of a target, as driver.Lookup does, or the one of a compatible system if the target
// names a profile for it.
func Lookup(find func(name string) (driver.Driver, error), t *experiment.Target) (driver.Driver, error) {
	d, err := driver.Lookup(find, t.Driver, t.Options)
	if err != nil {
		return d, err
	}
	text, file := t.ProfileText, "profile "+t.Profile
	if text == "" {
		if isFile(t.Profile) {
			return d, fmt.Errorf("the profile's file %s is not read from here; name it in a target, not in a matrix", t.Profile)
		}
		if !slices.ContainsFunc(d.Profiles, func(p driver.Profile) bool { return p.Name == t.Profile && p.System != "" }) {
			return d, nil
		}
		text, _ = readShipped(t.Profile)
	}
	_, adapted, err := parse(find, d, file, []byte(text))
	if err != nil {
		return d, err
	}
	return adapted, nil
}

// Text returns the YAML of a profile that tsmark ships for a driver.
func Text(find func(name string) (driver.Driver, error), driverName, name string) (string, error) {
	d, err := find(driverName)
	if err != nil {
		return "", err
	}
	var names []string
	for _, p := range d.Profiles {
		if p.System != "" {
			names = append(names, p.Name)
		}
	}
	if !slices.Contains(names, name) {
		return "", fmt.Errorf("%s has no profile %q for another system%s", d.Name, name, suggest.Names(name, names))
	}
	text, _ := readShipped(name)
	return text, nil
}

// isFile reports whether the name of a profile is that of a file.
func isFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// Read puts the contents of the files that targets name as their profiles into the experiment, which then needs
// no further file. Names are relative to a folder.
func Read(find func(name string) (driver.Driver, error), e *experiment.Experiment, folder string) error {
	for i := range e.Targets {
		t := &e.Targets[i]
		if !isFile(t.Profile) || t.ProfileText != "" {
			continue
		}
		path := fmt.Sprintf("targets[%d]", i)
		d, err := find(t.Driver)
		if err != nil {
			return e.Problem(path+".driver", "%s", err)
		}
		name := t.Profile
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return e.Problem(path, "%s", infile.Cannot("read the profile", name, err))
		}
		p, _, err := parse(find, d, name, data)
		if err != nil {
			return err
		}
		if _, taken := readShipped(p.Name); taken {
			return fmt.Errorf("%s: name: tsmark ships a profile %s; choose another name", name, p.Name)
		}
		t.Profile, t.ProfileText = p.Name, string(data)
	}
	return nil
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,40}$`)

// parse reads a profile, and returns the driver that it makes of the base driver.
func parse(find func(name string) (driver.Driver, error), base driver.Driver, file string, data []byte) (*profile, driver.Driver, error) {
	const what, example = "profile", "tsmark drivers postgres,profile=crate prints one"
	if base.Compatible == nil {
		return nil, base, fmt.Errorf("%s: driver %s has no profiles from files; drivers with the protocol of several systems have them: postgres, mysql, influxdb, prometheus", file, base.Name)
	}
	p := &profile{}
	problem, err := experiment.Decode(file, data, what, example, p)
	if err != nil {
		return nil, base, err
	}
	switch {
	case !nameForm.MatchString(p.Name):
		return nil, base, problem("name", "%q must be letters, digits, _ and -, in lower case", p.Name)
	case p.System == "":
		return nil, base, problem("system", "is missing: the system's name, as reports call it")
	case p.Help == "":
		return nil, base, problem("help", "is missing: one line about the system")
	case p.Driver != base.Name:
		if _, err := find(p.Driver); err != nil {
			return nil, base, problem("driver", "%s", err)
		}
		return nil, base, problem("driver", "the profile is for driver %s, not %s; name it as in %[1]s,profile=%[3]s", p.Driver, base.Name, p.Name)
	}
	p.Quirks = base.Compatible.Quirks()
	if problem, err = experiment.Decode(file, data, what, example, p); err != nil {
		return nil, base, err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Unsupported)) {
		if known := shapes(); !slices.Contains(known, name) {
			return nil, base, problem("unsupported."+name, "is not a shape of queries%s", suggest.NamesOr(name, known, "; known: "+strings.Join(known, ", ")))
		}
	}
	adapted, err := base.Compatible.Driver(driver.Compatible{System: p.System, Quirks: p.Quirks})
	var quirk *driver.QuirkError
	if errors.As(err, &quirk) {
		return nil, base, problem("quirks."+quirk.Path, "%s", quirk.Text)
	}
	if err == nil {
		err = p.complete(&adapted, &base)
	}
	if err != nil {
		return nil, base, err
	}
	var wrong *option.Error
	if _, err := adapted.Resolve(p.Options); errors.As(err, &wrong) {
		return nil, base, problem("options."+wrong.Name, "%s", err)
	}
	return p, adapted, nil
}

// complete sets everything of an adapted driver that does not depend on the protocol.
func (p *profile) complete(d, base *driver.Driver) error {
	d.Name, d.Help = base.Name, p.Help
	d.Profiles, d.Durabilities = []driver.Profile{p.entry()}, nil // of the driver's system
	d.Tested, d.TestServer, d.StandIn, d.UserServer, d.Compatible, d.TSBS, d.Adopts = nil, nil, "", nil, nil, nil, nil
	d.ResultCache = driver.ResultCache{Name: p.ResultCache.Name, Off: p.ResultCache.Off}
	contents, err := json.Marshal(p)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(contents)
	print := hex.EncodeToString(sum[:6])
	d.Options = append(slices.Clip(d.Options), driver.Option{Name: result.OptionQuirks, Layout: true, Default: print, Type: option.Choice(print), Help: "fingerprint of the profile"})
	render := d.Render
	d.Render = func(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
		if reason := cmp.Or(p.Unsupported[q.ShapeName()], p.Unsupported[allShapes]); reason != "" {
			return driver.Request{}, fmt.Errorf("query %s: %w: %s", q.Type, query.ErrUnsupported, reason)
		}
		return render(q, s, o)
	}
	open := d.Open
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		if err == nil {
			db.Required = &described{db.Required, p}
		}
		return db, err
	}
	return nil
}

// described is a database whose description is that of the compatible system.
type described struct {
	driver.Required
	profile *profile
}

// Describe implements driver.Required.
func (d *described) Describe(ctx context.Context) (driver.Description, error) {
	out, err := d.Required.Describe(ctx)
	if err != nil {
		return out, err
	}
	out.System, out.Safety = d.profile.System, ""
	out.Durability = cmp.Or(d.profile.Durability, "unknown: the profile does not say")
	return out, nil
}
