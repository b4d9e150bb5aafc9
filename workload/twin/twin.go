// Package twin provides the workload twin: rows that have the statistics of somebody's data and none
// of its values. Its setting describes the data; package fit makes it from rows. docs/own-data.md is
// the user documentation.
//
// Each series has a random stream of its own. Time is divided into blocks of some thousand rows, and
// within a block the rows of each table are sorted by their arrival.
package twin

import (
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// Name is the name of the workload, and ModelKey the key of its setting among all settings.
const (
	Name     = "twin"
	ModelKey = Name + "." + setModel
	setModel = "model"
)

// Workload returns the workload, which keeps the last dataset that it made.
func Workload() workload.Workload { return &useCase{} }

type useCase struct {
	mu   sync.Mutex
	spec string // of the dataset
	last *Dataset
}

func (*useCase) Name() string { return Name }

func (*useCase) Help() string {
	return "rows with the statistics of your own, and none of their values: see tsmark inspect --twin"
}

// Settings implements workload.Workload.
func (*useCase) Settings() []option.Option {
	return []option.Option{{Name: setModel, Help: "description of the data, as YAML; tsmark inspect --twin writes an experiment that has it"}}
}

// QuerySettings implements workload.Workload.
func (*useCase) QuerySettings() []option.Option { return nil }

// Check implements workload.Workload.
func (u *useCase) Check(s workload.Spec) error {
	_, err := u.dataset(s)
	return err
}

// dataset returns the dataset of a specification. Its error is a *workload.SpecError.
func (u *useCase) dataset(s workload.Spec) (*Dataset, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := fmt.Sprint(s)
	if u.last != nil && u.spec == key {
		return u.last, nil
	}
	d, err := newDataset(s)
	if err == nil {
		u.spec, u.last = key, d
	}
	return d, err
}

// Describe implements workload.Workload.
func (u *useCase) Describe(s workload.Spec) workload.Description {
	d, err := u.dataset(s)
	if err != nil {
		return workload.Description{}
	}
	rows := d.rows
	if s.MaxPoints > 0 {
		rows = min(rows, int64(min(s.MaxPoints, math.MaxInt64)))
	}
	// The version is increased whenever the same model starts to give other rows.
	return workload.Description{Values: d.values(), RowsAtMost: rows, Memory: d.memory, Identity: "twin 1\n" + d.model.String()}
}

// Dataset implements workload.Workload.
func (u *useCase) Dataset(s workload.Spec) (workload.Dataset, error) {
	d, err := u.dataset(s)
	if err != nil {
		return nil, err
	}
	var out workload.Dataset = d
	if s.Groups > 1 {
		out = workload.Share{Index: int(s.Group), Count: int(s.Groups)}.Dataset(out)
	}
	if s.MaxPoints > 0 {
		out = workload.LimitRows(out, int64(min(s.MaxPoints, math.MaxInt64)))
	}
	return out, nil
}

// Summary describes the dataset on one line; empty: Check rejects the specification.
func (u *useCase) Summary(s workload.Spec) string {
	d, err := u.dataset(s)
	if err != nil {
		return ""
	}
	fields := 0
	for _, t := range d.tables {
		fields += len(t.columns)
	}
	count := func(n int64, one, many string) string {
		return humanize.Comma(n) + " " + english.PluralWord(int(n), one, many)
	}
	return fmt.Sprintf("a twin of own data, scale %d: %s, at most %s, %s, %s", s.Scale,
		count(int64(d.schema.Series), "series", "series"), count(d.rows, "row", ""), count(int64(len(d.tables)), "table", ""), count(int64(fields), "field", ""))
}

// QueryTypes implements workload.Workload: ProposeQueries generates some.
func (*useCase) QueryTypes() []workload.QueryType { return nil }

// Queries implements workload.Workload.
func (*useCase) Queries(_ workload.Spec, queryType string, _ int) (iter.Seq[query.Query], error) {
	return nil, fmt.Errorf("unknown query type %q: the dataset has neither a generated one nor a declared one of the name; write queries: {types: []} to load alone", queryType)
}
