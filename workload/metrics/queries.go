package metrics

import (
	"fmt"
	"iter"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// QueryTypes implements workload.Workload.
func (useCase) QueryTypes() []workload.QueryType { return nil }

// Queries implements workload.Workload.
func (useCase) Queries(s workload.Spec, queryType string, n int) (iter.Seq[query.Query], error) {
	return nil, fmt.Errorf("unknown query type %q", queryType)
}
