package dataset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The formats of queries beside the names of drivers: their meaning, and behind a
// prefix TSBS's own texts, by TSBS's names of databases.
const (
	formatJSON = "json"
	formatTSBS = "tsbs-"
)

// queryFormats lists them all.
func queryFormats(c catalog.Catalog) []string {
	formats := []string{formatJSON}
	for _, name := range tsbs.Formats() {
		formats = append(formats, formatTSBS+name)
	}
	return append(formats, c.DriverNames()...)
}

func queriesCommand(a *app.App) *cobra.Command {
	e := experiment.Default() // for the same checks as in a run
	var keys []string
	types, n, formatName := e.Queries.Types, 10, formatJSON
	var own []string
	formats := queryFormats(a.Catalog)
	cmd := &cobra.Command{
		Use:   "queries",
		Short: "Print the queries of a run",
		Long: `Prints the queries of a run: their meaning, as one JSON object a line, or their
text in a database's language. tsbs-timescaledb and the other tsbs-… are the texts that
TSBS's own generator makes for a database, word for word, as a run with
--query-texts tsbs sends them.

Without --query-seed these are the queries of the dataset's seed, which are TSBS's own. A
run draws its queries with a random seed, which its report names; --query-seed prints them.
Runs use the dataset's seed for types with too few different queries.

As with TSBS, windows end at most one second after --timestamp-end, or at
--timestamp-end if that is already one second after the last interval.`,
		Example: `  tsmark queries --query-type single-groupby-1-1-1 --queries 3
  tsmark queries --query-type lastpoint --format duckdb --queries 1
  tsmark queries --format tsbs-timescaledb --timestamp-end 2016-01-04T00:00:00Z`,
		Args: app.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := setting.SetKeys(e, keys); err != nil {
				return err
			}
			spec := e.Workload
			spec.QuerySettings, spec.QuerySeed = e.Queries.Settings, e.Queries.Seed
			w, err := a.Catalog.Workload(spec.Name)
			if err != nil {
				return fmt.Errorf("--use-case: %w", err)
			}
			spec = experiment.WithSpan(w, spec)
			if err := w.Check(spec); err != nil {
				return e.SpecProblem(err)
			}
			if err := setting.AddOwnQueries(e, own); err != nil {
				return err
			}
			if len(w.QueryTypes())+len(own) == 0 {
				return fmt.Errorf("--use-case: %s has no queries; it can only be loaded", spec.Name)
			}
			write, err := queryWriter(a, formatName, formats, w, spec, e.Queries.Own)
			if err != nil {
				return fmt.Errorf("--format: %w", err)
			}
			if len(types) == 0 {
				return fmt.Errorf("--query-type: is empty; name query types, or %s or %s", experiment.CoreTypes, experiment.AllTypes)
			}
			e.Queries.Types, e.Queries.Count = types, n
			e.FromFlag("queries.types", "--query-type")
			e.FromFlag("queries.count", "--queries")
			e.FromFlag("queries.windows", "--windows")
			if err := e.Check(); err != nil {
				return err
			}
			setting.DrawSeed(a, &spec)
			if w, err = e.Extend(w, spec); err != nil {
				return err
			}
			known := w.QueryTypes()
			for i := range e.Queries.Types { // before the first is printed
				if name := e.Queries.TypeName(i); name != "" && !slices.ContainsFunc(known, func(t workload.QueryType) bool { return t.Name == name }) {
					_, err := w.Queries(spec, name, 0)
					return err
				}
			}
			types = e.Queries.Choose(known)
			for _, name := range types {
				if _, err := w.Queries(spec, name, 0); err != nil {
					return err
				}
			}
			out := bufio.NewWriter(a.Stdout)
			if format, ok := strings.CutPrefix(formatName, formatTSBS); ok {
				if e.Queries.AlignWindows || e.Queries.Windows != "" {
					return fmt.Errorf("--format %s: TSBS's texts have the windows that TSBS draws; leave out --windows and queries.align-windows", formatName)
				}
				return printTexts(out, format, spec, types, n)
			}
			for _, name := range types {
				queries, err := e.Queries.Windows.Draw(w, spec, name, n, e.Queries.AlignWindows)
				if err != nil {
					return err
				}
				for q := range queries {
					if err := write(out, &q); err != nil {
						return err
					}
				}
			}
			return out.Flush()
		},
	}
	flags := flag.NewGroups(cmd)
	flags.Add("Queries", func(cmd *cobra.Command) {
		setting.QuerySettingFlags(a.Catalog, cmd, &e.Queries.Settings)
		f := cmd.Flags()
		f.StringSliceVar(&types, "query-type", types, "query `types`, separated by commas, or core or all")
		f.StringArrayVar(&own, setting.OwnQueriesFlag, nil, setting.OwnQueriesHelp)
		f.Var(flag.Count(&n, 1), "queries", "queries of each type")
		f.Var(flag.Count(&e.Queries.Seed, math.MinInt64), setting.QuerySeedFlag, "seed of the queries; 0: the dataset's seed")
		f.StringVar((*string)(&e.Queries.Windows), "windows", "", setting.WindowsHelp)
		f.StringVar(&formatName, "format", formatName, strings.Join(formats, ", "))
		flag.CompleteBy(cmd, "query-type", a.Catalog.CompleteQueryTypes)
		flag.Complete(cmd, "format", formats)
	})
	flags.Add("Dataset", func(cmd *cobra.Command) {
		setting.SpecFlags(a.Catalog, cmd, &e.Workload)
		setting.SetFlag(cmd, &keys)
	})
	flags.Show()
	return cmd
}

// printTexts prints TSBS's texts of the types for a database.
func printTexts(out *bufio.Writer, format string, spec workload.Spec, types []string, n int) error {
	for _, name := range types {
		texts, err := tsbs.Texts(format, spec, name, n)
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		for text := range texts {
			if _, err := fmt.Fprintln(out, text); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// queryWriter returns how to print a query in the format.
// Own queries are looked for among those given.
func queryWriter(a *app.App, format string, formats []string, w workload.Workload, spec workload.Spec, own []ownqueries.Query) (func(io.Writer, *query.Query) error, error) {
	switch format {
	case formatJSON:
		return func(out io.Writer, q *query.Query) error { return json.NewEncoder(out).Encode(q) }, nil
	}
	if strings.HasPrefix(format, formatTSBS) && slices.Contains(formats, format) {
		return nil, nil // they are drawn by TSBS's rules: see printTexts
	}
	kind, err := a.Catalog.Driver(format)
	if err != nil {
		return nil, fmt.Errorf("unknown format %q%s", format, suggest.Names(format, formats))
	}
	schema, err := schemaOf(w, spec)
	if err != nil {
		return nil, err
	}
	options, err := kind.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return func(out io.Writer, q *query.Query) error {
		request, err := driver.Request{}, error(nil)
		if _, text := q.WrittenText(); text {
			at := slices.IndexFunc(own, func(known ownqueries.Query) bool { return known.Name == q.Type })
			request.Text, err = own[at].Text(q, kind.Name, kind.LiteralsOf(options))
		} else {
			request, err = kind.Render(q, schema, options)
		}
		if err != nil {
			_, err = fmt.Fprintf(out, "-- %s %d: n/a: %s\n", q.Type, q.ID, err)
			return err
		}
		_, err = fmt.Fprintf(out, "-- %s %d\n%s;\n\n", q.Type, q.ID, strings.TrimRight(request.Text, "\n;"))
		return err
	}, nil
}

// schemaOf returns the schema of the dataset without the cost of its series:
// tables, tags and fields do not depend on the scale.
func schemaOf(w workload.Workload, spec workload.Spec) (*series.Schema, error) {
	spec.Scale, spec.InitialScale = 1, 0
	d, err := w.Dataset(spec)
	if err != nil {
		return nil, err
	}
	return d.Schema(), nil
}
