// Package generated lists the workloads whose rows are generated.
package generated

import (
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/metrics"
	"github.com/tsmark/tsmark/workload/ticks"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Workloads returns them, in the order of help and documents.
func Workloads() []workload.Workload {
	return append(tsbs.Workloads(), iotdb.Workload(), metrics.Workload(), ticks.Workload())
}

// Describe tells what the workload of a specification knows of it; nothing if its rows are not generated.
func Describe(s workload.Spec) workload.Description {
	for _, w := range Workloads() {
		if w.Name() == s.Name {
			return w.Describe(s)
		}
	}
	return workload.Description{}
}
