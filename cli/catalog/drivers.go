package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

func (c Catalog) driversCommand(stdout io.Writer) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "drivers [DRIVER[,profile=NAME]]",
		Aliases: []string{"targets"}, // the former name of the command; a target is a driver with options
		Short:   "List the databases that can be measured, or the options and limits of one",
		Long: `Lists the drivers, one for each database system, and how many query types of each
workload each of them supports. With a DRIVER it prints how that driver stores
fields of each type, its options with their defaults, its profiles, its levels
of durability, its steps after a load, and the query types that it does not
support, with the reasons. It connects to no server. With the name of a profile for
another system, it prints the profile as YAML, as a start for one of your own.

Most drivers of servers have these options for connecting:
` + connectionOptions(),
		Example: `  tsmark drivers
  tsmark drivers sqlite
  tsmark drivers postgres,profile=crate
  tsmark drivers --json`,
		ValidArgsFunction: cobra.FixedCompletions(c.DriverNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && strings.Contains(args[0], ",profile=") {
				name, profile, _ := strings.Cut(args[0], ",profile=")
				text, err := compatible.Text(c.Driver, name, profile)
				if err == nil {
					_, err = io.WriteString(stdout, text)
				}
				return err
			}
			if len(args) > 1 {
				return fmt.Errorf("tsmark drivers takes one driver at most, but was given %q", args)
			}
			list, err := c.describeDrivers(args)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				out := json.NewEncoder(stdout)
				out.SetIndent("", "  ")
				return out.Encode(list)
			case len(args) == 1:
				return describeDriver(stdout, list[0])
			}
			return listDrivers(stdout, list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print everything as JSON")
	return cmd
}

// connectionOptions lists the options for connecting that most drivers share.
func connectionOptions() string {
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, o := range connection.Usual() {
		fmt.Fprintf(out, "\n  %s\t%s", o.Name, o.Help)
	}
	_ = out.Flush()
	return text.String()
}

// description describes a driver with its default options, without opening a
// database.
type description struct {
	Name          string            `json:"name"`
	Help          string            `json:"help"`
	Embedded      bool              `json:"embedded"`
	Missing       string            `json:"missing,omitempty"`  // why this build cannot open it
	Tested        string            `json:"tested,omitempty"`   // of servers that a script starts: versions on which the suite passed
	StandIn       string            `json:"stand_in,omitempty"` // the stand-in that tsmark server start starts
	ResultCache   string            `json:"result_cache"`       // the cache, and how it is turned off
	Adapter       string            `json:"adapter,omitempty"`  // of servers that users bring: which versions the suite passed on
	Server        string            `json:"server,omitempty"`   // how to get such a server
	TimePrecision time.Duration     `json:"time_precision_ns"`
	MaxWriters    int               `json:"max_writers"` // 0: any number
	Dedupes       bool              `json:"dedupes"`
	Types         []storedType      `json:"types"`
	Options       []shownOption     `json:"options"`
	Profiles      []driver.Profile  `json:"profiles"`
	Durabilities  []driver.Profile  `json:"durabilities"`
	Steps         []driver.Step     `json:"after_load"`
	Changes       driver.Changes    `json:"changes"`     // of stored rows
	UseCases      []useCase         `json:"use_cases"`   // the use cases with queries
	Unsupported   []unsupportedType `json:"unsupported"` // by use case
}

type storedType struct {
	Type string `json:"type"`
	driver.Stored
}

type shownOption struct {
	Name    string `json:"name"`
	Default string `json:"default"` // in words if the system chooses
	Help    string `json:"help"`
	Secret  bool   `json:"secret,omitempty"`
	Usual   bool   `json:"usual,omitempty"` // a connection option that means the same for most drivers
}

// useCase counts a use case's query types that a driver supports.
type useCase struct {
	Name     string `json:"name"`
	Answered int    `json:"answered"`
	Types    int    `json:"types"`
}

type unsupportedType struct {
	UseCase string `json:"use_case"`
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	shared  string // the reason without the query's own expression, which other types may share
}

// describeDrivers describes the named drivers, or all if names is empty.
func (c Catalog) describeDrivers(names []string) ([]*description, error) {
	if len(names) == 0 {
		names = c.DriverNames()
	}
	examples, err := examplesOf(c.Workloads)
	if err != nil {
		return nil, err
	}
	var list []*description
	for _, name := range names {
		d, err := c.Driver(name)
		if err != nil {
			return nil, err
		}
		about, err := describe(&d, examples)
		if err != nil {
			return nil, err
		}
		list = append(list, about)
	}
	return list, nil
}

// example is a workload with a query of each type.
type example struct {
	workload workload.Workload
	schema   *series.Schema
	queries  []query.Query
}

// examplesOf makes the examples of all workloads that have a dataset by default.
func examplesOf(workloads []workload.Workload) ([]example, error) {
	var list []example
	for _, w := range workloads {
		spec := experiment.WithSpan(w, experiment.Default().Workload)
		spec.Name = w.Name()
		if w.Check(spec) != nil {
			continue
		}
		dataset, err := w.Dataset(spec)
		if err != nil {
			return nil, fmt.Errorf("use case %s: %w", w.Name(), err)
		}
		e := example{workload: w, schema: dataset.Schema()}
		for _, t := range w.QueryTypes() {
			queries, err := w.Queries(spec, t.Name, 1)
			if err != nil {
				return nil, fmt.Errorf("use case %s, %s: %w", w.Name(), t.Name, err)
			}
			e.queries = slices.AppendSeq(e.queries, queries)
		}
		list = append(list, e)
	}
	return list, nil
}

// describe renders the examples to find out which of them the driver supports.
func describe(d *driver.Driver, examples []example) (*description, error) {
	defaults, err := d.Resolve(nil)
	if err != nil {
		return nil, err
	}
	caps := d.Caps(defaults)
	about := &description{
		Name: d.Name, Help: d.Help, Missing: d.Missing, Embedded: caps.Embedded, TimePrecision: caps.TimePrecision, MaxWriters: caps.MaxWriters, Dedupes: caps.Dedupes,
		// So that JSON has lists, and not null.
		Types: []storedType{}, Options: []shownOption{}, Unsupported: []unsupportedType{},
		Profiles: append([]driver.Profile{}, d.Profiles...), Durabilities: append([]driver.Profile{}, d.Durabilities...),
		Steps: append([]driver.Step{}, caps.Steps...), Changes: caps.Changes,
	}
	about.StandIn, about.ResultCache = d.StandIn, d.ResultCache.String()
	if b := d.UserServer; b != nil {
		about.Adapter, about.Server = d.Adapter(), b.How
	} else {
		about.Tested = d.TestedText()
	}
	usual, own := connection.Split(d.Options)
	for i, o := range slices.Concat(own, usual) {
		about.Options = append(about.Options, shownOption{o.Name, cmp.Or(o.Default, o.Empty), o.Help, o.Secret, i >= len(own)})
	}
	if caps.Types != nil {
		for _, t := range series.Types() {
			about.Types = append(about.Types, storedType{t.String(), caps.Types[t]})
		}
	}
	for _, e := range examples {
		if err := about.render(d, defaults, e); err != nil {
			return nil, fmt.Errorf("driver %s, use case %s: %w", d.Name, e.workload.Name(), err)
		}
	}
	return about, nil
}

// render adds a workload and those of its query types that are not supported.
func (about *description) render(d *driver.Driver, defaults driver.Options, e example) error {
	u := useCase{Name: e.workload.Name(), Types: len(e.queries)}
	for _, q := range e.queries {
		_, err := d.Render(&q, e.schema, defaults)
		switch {
		case err == nil:
			u.Answered++
		case !errors.Is(err, query.ErrUnsupported):
			return fmt.Errorf("%s: %w", q.Type, err)
		default:
			expression := ""
			if shape, ok := q.AsPromQL(); ok {
				expression = shape.Expr
			}
			reason := strings.TrimPrefix(err.Error(), "query "+q.Type+": ")
			reason = strings.TrimPrefix(reason, query.ErrUnsupported.Error()+": ")
			about.Unsupported = append(about.Unsupported, unsupportedType{u.Name, q.Type, reason, strings.TrimSpace(strings.TrimSuffix(reason, expression))})
		}
	}
	if u.Types > 0 {
		about.UseCases = append(about.UseCases, u)
	}
	return nil
}

// listDrivers prints a line a driver.
func listDrivers(w io.Writer, drivers []*description) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(out, "DRIVER\tRUNS")
	for _, u := range drivers[0].UseCases {
		fmt.Fprint(out, "\t", u.Name)
	}
	fmt.Fprintln(out, "\tDURABILITY\tPROFILES\tWHAT IT IS")
	for _, d := range drivers {
		fmt.Fprint(out, d.Name, "\t", whereItRuns(d))
		for _, u := range d.UseCases {
			fmt.Fprintf(out, "\t%d/%d", u.Answered, u.Types)
		}
		fmt.Fprintf(out, "\t%s\t%s\t%s\n", profileNames(d.Durabilities), profileNames(d.Profiles), d.Help)
	}
	return out.Flush()
}

func whereItRuns(d *description) string {
	switch {
	case d.Missing != "":
		return "not in this build"
	case d.Embedded:
		return "in tsmark"
	}
	return "server"
}

func profileNames(profiles []driver.Profile) string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}

// describeDriver prints all of one driver.
func describeDriver(w io.Writer, d *description) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "%s: %s\n\n", d.Name, d.Help)
	runs := "a server of its own"
	if d.Embedded {
		runs = "in tsmark's own process"
	}
	if d.Server != "" {
		runs += ", which you provide: " + d.Server
	}
	writers := "any number"
	if d.MaxWriters > 0 {
		writers = fmt.Sprint(d.MaxWriters)
	}
	twice := "are there twice"
	if d.Dedupes {
		twice = "are there once"
	}
	if d.Missing != "" {
		fmt.Fprintf(out, "missing\t%s\n", d.Missing)
	}
	if d.Tested != "" {
		fmt.Fprintf(out, "tested with\t%s\n", d.Tested)
	}
	if d.Adapter != "" {
		fmt.Fprintf(out, "adapter\t%s\n", d.Adapter)
	}
	if d.StandIn != "" {
		fmt.Fprintf(out, "stand-in\ttsmark server start %s starts %s\n", d.Name, d.StandIn)
	}
	fmt.Fprintf(out, "result cache\t%s\n", d.ResultCache)
	fmt.Fprintf(out, "runs\t%s\ntimes\tto %v\nwriters at once\t%s\nrows sent twice\t%s, with the default options\n", runs, d.TimePrecision, writers, twice)
	for i, u := range d.UseCases {
		head := ""
		if i == 0 {
			head = "answers"
		}
		fmt.Fprintf(out, "%s\t%d of the %d query types of %s\n", head, u.Answered, u.Types, u.Name)
	}
	section := func(title string, rows int) {
		if rows > 0 {
			fmt.Fprintf(out, "\n%s\n", title)
		}
	}
	section("Changes of stored rows, with the default options", 1)
	fmt.Fprintf(out, "  delete series\t%v\n  drop old rows\t%v\n  correct rows\t%v\n", d.Changes.Delete, d.Changes.Drop, d.Changes.Correct)
	if d.Changes.Again != "" {
		fmt.Fprintf(out, "  a second row\tof the same series and time %s\n", d.Changes.Again)
	}
	section("Types of fields, with the default options", len(d.Types))
	for _, t := range d.Types {
		fmt.Fprintf(out, "  %s\t%s\n", t.Type, t.Stored)
	}
	for i, o := range d.Options {
		value := cmp.Or(o.Default, "none")
		if o.Secret {
			value += "; secret"
		}
		switch {
		case o.Usual && (i == 0 || !d.Options[i-1].Usual):
			section("Defaults of the connection options, which tsmark help drivers explains", 1)
		case i == 0:
			section("Options, as in "+d.Name+",NAME=VALUE", 1)
		}
		if !o.Usual {
			value = o.Help + " (default: " + value + ")"
		}
		fmt.Fprintf(out, "  %s\t%s\n", o.Name, value)
	}
	for _, p := range []struct {
		title string
		of    []driver.Profile
	}{{"Profiles, as in " + d.Name + ",profile=NAME", d.Profiles}, {"Levels of durability, as in " + d.Name + ",durability=NAME", d.Durabilities}} {
		section(p.title, len(p.of))
		for _, p := range p.of {
			fmt.Fprintf(out, "  %s\t%s%s\n", p.Name, p.Help, optionList(p.Options))
		}
	}
	section("Steps after a load, as in --after-load NAME", len(d.Steps))
	for _, s := range d.Steps {
		fmt.Fprintf(out, "  %s\t%s\n", s.Name, s.Help)
	}
	section("Query types that it does not support", len(d.Unsupported))
	for _, line := range d.unsupportedLines() {
		fmt.Fprintf(out, "  %s\t%s\n", line[0], line[1])
	}
	return out.Flush()
}

// manyTypes is how many query types of a use case have one line if they share the reason.
const manyTypes = 4

// unsupportedLines returns the unsupported query types with their reasons. Where many types of a use
// case share a reason, the use case has a line in their place.
func (d *description) unsupportedLines() [][2]string {
	type group struct{ useCase, reason string }
	count := map[group]int{}
	for _, u := range d.Unsupported {
		count[group{u.UseCase, u.shared}]++
	}
	var lines [][2]string
	for _, u := range d.Unsupported {
		line := [2]string{u.Type, u.Reason}
		if n := count[group{u.UseCase, u.shared}]; n >= manyTypes {
			first := slices.IndexFunc(d.Unsupported, func(o unsupportedType) bool { return o.UseCase == u.UseCase && o.shared == u.shared })
			all := d.UseCases[slices.IndexFunc(d.UseCases, func(c useCase) bool { return c.Name == u.UseCase })].Types
			line = [2]string{u.UseCase, fmt.Sprintf("%d of %d query types, such as %s: %s", n, all, d.Unsupported[first].Type, u.shared)}
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// optionList formats the options that a profile sets.
func optionList(options map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		list = append(list, name+"="+options[name])
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}
