package run

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// trust decides whether the actions of somebody else's run may be repeated here.
type trust struct {
	yes     bool      // --yes
	in      io.Reader // for the user's answer; nil: not interactive
	out     io.Writer
	drivers func(name string) (driver.Driver, error)
}

func (s *Executor) newTrust(yes bool) trust {
	return trust{yes: yes, in: s.app.Terminal(), out: s.app.Stderr, drivers: s.app.Catalog.Driver}
}

// origin says why a run may be somebody else's: it was imported, or its results are in a
// database that others can write to. It is empty for the user's own run.
func (s *Executor) origin(imported bool) string {
	switch {
	case imported:
		return "was imported"
	case store.Database(s.app.Results):
		return "is in a database to which others may write"
	}
	return ""
}

// decide shows the effects of a run's or sweep's experiment outside tsmark, and returns
// an error unless the user agrees. Subject is run or sweep and its id; origin is that of
// app.origin. If it is empty, no agreement is needed.
func (t trust) decide(subject, origin string, e *experiment.Experiment) error {
	if origin == "" {
		return nil
	}
	if !t.yes && t.in == nil {
		return fmt.Errorf("%s %s, and there is no terminal for a confirmation; read the output of tsmark report %s --experiment, above all its commands, and add --yes",
			subject, origin, subject[strings.LastIndex(subject, " ")+1:])
	}
	fmt.Fprintf(t.out, "The %s %s. With your rights it\n", subject, origin)
	for _, line := range t.reaches(e) {
		fmt.Fprintln(t.out, "  "+line)
	}
	if t.yes {
		return nil
	}
	fmt.Fprint(t.out, "Do it? Type yes: ")
	answer, _ := bufio.NewReader(t.in).ReadString('\n') // no input means no
	if strings.TrimSpace(answer) != "yes" {
		return fmt.Errorf("%s %s, and is not executed", subject, origin)
	}
	return nil
}

// reaches lists the effects of an experiment outside the process and the results
// folder: commands for the shell, files, servers that it connects to and
// sends secrets to, and query texts. Only the driver knows the effects of its options, so
// all are shown.
func (t trust) reaches(e *experiment.Experiment) []string {
	var list []string
	add := func(what, value string) {
		if value != "" {
			list = append(list, fmt.Sprintf("%s %+q", what, value)) // nothing in it moves a cursor
		}
	}
	for _, t := range e.Targets {
		of := fmt.Sprintf("for target %+q", t.Name)
		add("runs "+of+" the command", t.Start)
		add("runs "+of+" the command", t.Restart)
		if t.Driver == external.Name {
			add("runs "+of+" the command", t.Options[external.OptionCommand])
		}
		for _, name := range slices.Sorted(maps.Keys(t.Options)) {
			add(fmt.Sprintf("opens target %+q, %s, with %+q", t.Name, t.Driver, name), t.Options[name])
		}
		if len(t.Options) == 0 {
			list = append(list, fmt.Sprintf("opens target %+q, %s, as by default", t.Name, t.Driver))
		}
		add("reads metrics "+of, t.Exporter)
		add("reads metrics "+of, t.Metrics)
	}
	for i := range e.Queries.Own {
		q := &e.Queries.Own[i]
		for _, language := range slices.Sorted(maps.Keys(q.Texts)) {
			add(fmt.Sprintf("runs as query %+q, for %+q, the text", q.Name, language), q.Texts[language])
		}
		add(fmt.Sprintf("runs as query %+q, in tsmark's own DuckDB, the text", q.Name), q.Reference)
	}
	list = append(list, t.confinements(e)...)
	add("reads", e.Load.File)
	if e.Load.Replace {
		list = append(list, "replaces datasets that tsmark loaded there")
	}
	return list
}

// confinements describe the possible effects of an experiment's query texts on its targets.
func (t trust) confinements(e *experiment.Experiment) (list []string) {
	if !slices.ContainsFunc(e.Queries.Own, func(q ownqueries.Query) bool { return q.IsText() }) {
		return nil
	}
	for i := range e.Targets {
		target := &e.Targets[i]
		kind, err := t.drivers(target.Driver)
		if err != nil {
			continue // it does not run
		}
		if kind.Program != nil {
			list = append(list, fmt.Sprintf("runs each text on target %+q as its program allows", target.Name))
			continue
		}
		options, err := kind.Resolve(target.Options)
		if err != nil {
			continue
		}
		if l := kind.LiteralsOf(options); l != nil {
			list = append(list, fmt.Sprintf("runs each text on target %+q so: %s", target.Name, l.Confinement))
		}
	}
	return list
}
