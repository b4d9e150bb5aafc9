// Package all lists every workload.
package all

import (
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/witness"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/metrics"
	"github.com/tsmark/tsmark/workload/owndata"
	"github.com/tsmark/tsmark/workload/ticks"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Workloads returns them, in the order of help and documents. DuckDB reads users' files a second
// time; nil: it does not.
func Workloads(d *witness.DuckDB) []workload.Workload {
	return append(tsbs.Workloads(), iotdb.Workload(), metrics.Workload(), ticks.Workload(), owndata.Workload(d))
}

// Describe tells what the workload of a specification knows of it; nothing where
// there is no such workload.
func Describe(s workload.Spec) workload.Description {
	for _, w := range Workloads(nil) {
		if w.Name() == s.Name {
			return w.Describe(s)
		}
	}
	return workload.Description{}
}
