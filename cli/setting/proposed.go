package setting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// proposing is a workload that describes a dataset on one line and generates query types for it. Its
// notes are about types that the dataset does not allow.
type proposing interface {
	Summary(s workload.Spec) string
	ProposeQueries(s workload.Spec) (list []ownqueries.Query, notes []string)
}

// DescribeData prints the description of users' data, and adds it to the experiment's notes. If
// queries is true, it declares the generated query types that the experiment selects.
func DescribeData(a *app.App, e *experiment.Experiment, queries bool) error {
	w, err := a.Catalog.Workload(e.Workload.Name)
	p, ok := w.(proposing)
	if err != nil || !ok {
		return nil // the plan reports its place
	}
	summary := p.Summary(e.Workload)
	if summary == "" {
		return nil // likewise
	}
	add := func(note string) {
		if note = printable.OneLine(note); !slices.Contains(e.Notes, note) {
			e.Notes = append(e.Notes, note)
		}
	}
	print := func(note string) {
		fmt.Fprintln(a.Stderr, "tsmark: "+printable.OneLine(note))
		add(note)
	}
	if !slices.ContainsFunc(e.Notes, func(note string) bool { return strings.HasPrefix(note, result.DataNote) }) {
		print(result.DataNote + summary)
	}
	if surveyed, ok := w.(workload.Surveyed); ok {
		for _, note := range surveyed.Notes(e.Workload) { // which the survey has printed
			add(note)
		}
	}
	if !queries || !e.Queries.NamesUndeclared() {
		return nil
	}
	list, notes := p.ProposeQueries(e.Workload)
	for _, note := range notes {
		print(note)
	}
	added, err := e.Declare(list)
	if len(added) > 0 {
		fmt.Fprintf(a.Stderr, "tsmark: generated query types: %s; --print shows them\n", strings.Join(added, ", "))
	}
	return err
}

// runOwnQueries selects the query types of --own-queries, the declarations from the first on, in an
// experiment that names its query types.
func (s *Flags) runOwnQueries(cmd *cobra.Command, e *experiment.Experiment, first int) error {
	var names []string
	for i := range e.Queries.Own[first:] {
		names = append(names, e.Queries.Own[first+i].Name)
	}
	missing := slices.DeleteFunc(slices.Clone(names), e.Queries.Runs)
	switch {
	case len(missing) == 0:
	case !cmd.Flags().Changed("query-type"):
		e.Queries.Types = append(slices.Clip(e.Queries.Types), missing...)
	case len(missing) == len(names) && !slices.Contains(experiment.TypeWords(), e.Queries.Types[0]): // which leave them out by name
		return fmt.Errorf("--%s: --query-type selects none of its query types; add %s, or leave --%[1]s out", OwnQueriesFlag, strings.Join(names, ","))
	}
	return nil
}
