package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// ReadOwn appends the declarations of the files in Queries.Files to Queries.Own, in order, and
// clears Files, so that the experiment is self-contained. File names are relative to a folder and
// may leave it. The errors are *Problem, as those of Parse.
func (e *Experiment) ReadOwn(folder string) error {
	for i, name := range e.Queries.Files {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		data, err := readFile(name)
		if err != nil {
			return e.Problem(fmt.Sprintf("queries.files[%d]", i), "%s", err)
		}
		if err := e.addOwn(name, data); err != nil {
			return err
		}
	}
	e.Queries.Files = nil
	return nil
}

// AddOwn appends the declarations of a file to Queries.Own.
func (e *Experiment) AddOwn(name string) error {
	data, err := readFile(name)
	if err != nil {
		return err
	}
	return e.addOwn(name, data)
}

func readFile(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, infile.Cannot("read the queries in", name, err)
	}
	return data, nil
}

// addOwn is AddOwn for the contents of a file. A declaration with neither shape nor texts has its
// texts in files next to it.
func (e *Experiment) addOwn(file string, data []byte) error {
	body, err := document(file, data, "own query", "docs/own-queries.md shows some")
	if err != nil {
		return err
	}
	list, ok := body.(*ast.SequenceNode)
	if !ok {
		return newFileProblem(file, "must be a list of queries, each as - name: …, with shape and what that needs")
	}
	if e.origins == nil {
		e.origins = make(map[string]Origin)
	}
	d := decoder{file: file, experiment: e}
	for _, item := range list.Values {
		var q ownqueries.Query
		path := fmt.Sprintf("%s[%d]", ownPath, len(e.Queries.Own))
		before := len(d.problems)
		d.value(item, path, reflect.ValueOf(&q).Elem())
		if len(d.problems) == before && q.Shape == "" && len(q.Texts) == 0 && q.Name != "" {
			from, err := q.ReadTexts(os.DirFS(filepath.Dir(file)))
			if err != nil {
				d.add(path, "%s", err)
			}
			for key, name := range from {
				e.origins[path+"."+key] = Origin{File: filepath.Join(filepath.Dir(file), name)}
			}
		}
		e.Queries.Own = append(e.Queries.Own, q)
	}
	return errors.Join(d.problems...)
}

// maxTexts limits the size of the texts, which are stored in the experiment's file.
const maxTexts = MaxFile / 2

// ownPath is the path of declared query types.
const ownPath = "queries.own"

// Extend returns the workload with the declared query types, for a dataset of the workload. Its
// errors are *Problem, joined as by errors.Join, or the workload's own.
func (e *Experiment) Extend(w workload.Workload, spec workload.Spec) (workload.Workload, error) {
	if err := ownqueries.Fit(e.Queries.Own, w, spec); err != nil {
		return nil, e.ownProblem(err)
	}
	return ownqueries.AddQueries(w, e.Queries.Own), nil
}

// Declare adds the generated query types that are selected, unless a type of the name is declared,
// and names the selected types in place of a word. It returns the added names, and a
// *Problem with a selected name that no type has.
func (e *Experiment) Declare(generated []ownqueries.Query) (added []string, err error) {
	q := &e.Queries
	var all []workload.QueryType
	for _, list := range [][]ownqueries.Query{generated, q.Own} {
		for i := range list {
			if !slices.ContainsFunc(all, func(t workload.QueryType) bool { return t.Name == list[i].Name }) {
				all = append(all, workload.QueryType{Name: list[i].Name, Core: true})
			}
		}
	}
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	for i := range q.Types {
		if name := q.TypeName(i); name != "" && !slices.Contains(names, name) {
			return nil, e.Problem(fmt.Sprintf("queries.types[%d]", i), "unknown query type %q%s", name, suggest.NamesOr(name, names, "; there are "+strings.Join(names, ", ")))
		}
	}
	chosen := q.Choose(all)
	declared := q.Own
	for i := range generated {
		name := generated[i].Name
		if slices.Contains(chosen, name) && !slices.ContainsFunc(declared, func(own ownqueries.Query) bool { return own.Name == name }) {
			q.Own, added = append(slices.Clip(q.Own), generated[i]), append(added, name)
		}
	}
	q.Types = chosen
	return added, nil
}

// NamesUndeclared reports whether a query type is selected that Own does not declare, or all are.
func (q *Queries) NamesUndeclared() bool {
	for i := range q.Types {
		if !slices.ContainsFunc(q.Own, func(own ownqueries.Query) bool { return own.Name == q.TypeName(i) }) {
			return true
		}
	}
	return false
}

// checkDeclared checks the declared query types without knowing the workload.
func (c *checker) checkDeclared(q *Queries) {
	if len(q.Files) > 0 {
		c.add("queries.files", "are read with the file of an experiment, and can be given nowhere else")
	}
	size := 0
	for i, one := range q.Own {
		if c.experiment.QueriesBesideWrites() && one.IsText() && q.Runs(one.Name) {
			c.add(fmt.Sprintf("%s[%d]", ownPath, i), "the text %[1]s cannot run while rows are written: each target has other windows then, so that no reference and no other system can verify its answers; "+
				"give it a shape in place of texts, leave it out with --query-type core,-%[1]s, or run it without the mixed phase or the life", one.Name)
		}
		size += len(one.Reference)
		for _, text := range one.Texts {
			size += len(text)
		}
	}
	if size > maxTexts {
		c.add(ownPath, "texts of queries are larger than %d bytes together; leave some out", maxTexts)
	}
	if err := ownqueries.Check(q.Own, TypeWords()); err != nil {
		c.problems = append(c.problems, c.experiment.ownProblem(err))
	}
}

// ownProblem returns the problems that package ownqueries found in declared query types, each with
// its position; it returns other errors unchanged.
func (e *Experiment) ownProblem(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err // the workload's own
	}
	var problems []error
	for _, one := range joined.Unwrap() {
		var bad *ownqueries.Error
		if errors.As(one, &bad) {
			p := e.Problem(ownPath+bad.Path, "%s", bad.Problem)
			switch {
			case bad.Line == 0:
			case p.Origin.File != "" && p.Origin.Line == 0: // the text is a whole file
				p.Origin.Line, p.Origin.Column = bad.Line, bad.Column
			default:
				p.Text = fmt.Sprintf("line %d, column %d of the text: %s", bad.Line, bad.Column, p.Text)
			}
			one = p
		}
		problems = append(problems, one)
	}
	return errors.Join(problems...)
}
