// Package all lists every workload.
package all

import (
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/witness"
	"github.com/tsmark/tsmark/workload/generated"
	"github.com/tsmark/tsmark/workload/owndata"
	"github.com/tsmark/tsmark/workload/twin"
)

// Workloads returns them, in the order of help and documents. DuckDB reads users' files a second
// time; nil: it does not.
func Workloads(d *witness.DuckDB) []workload.Workload {
	return append(generated.Workloads(), owndata.Workload(d), twin.Workload())
}
