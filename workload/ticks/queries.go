package ticks

import (
	"errors"
	"iter"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// QueryTypes implements workload.Workload.
func (useCase) QueryTypes() []workload.QueryType { return nil }

// Queries implements workload.Workload.
func (useCase) Queries(workload.Spec, string, int) (iter.Seq[query.Query], error) {
	return nil, errors.New("the workload ticks has no queries")
}
