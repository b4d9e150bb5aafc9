package prometheus

import (
	"fmt"
	"time"
)

// Ingester names the settings of an ingester of Cortex, or of Mimir, which began as Cortex. Other parts of
// the server hold samples only once the ingester has sent a block of them to the object storage.
type Ingester struct {
	Interval  string // at which it looks for samples that can go to a block
	Retention string // age up to which it keeps blocks that are in the object storage
	Within    string // age up to which queries look for samples in it
}

// Starting returns parts of the errors of a server that is starting, for Variant.Starting.
func (Ingester) Starting() []string {
	return []string{"empty ring", "InstancesCount <= 0", "live replicas", "unhealthy instances", "current state: "}
}

// Quiet returns the interval at which it looks for samples that can go to a block, at least the given one,
// and a second.
func (i Ingester) Quiet(set map[string]string, least time.Duration) time.Duration {
	return max(Duration(set[i.Interval]), least) + time.Second
}

// Inspect is a Variant.Inspect that checks that queries find rows of any age in the ingester: from the object
// storage, queries would see them only after a quarter of an hour.
func (i Ingester) Inspect(set map[string]string) error {
	const year = 365 * 24 * time.Hour // less than rows of the past are old, and more than a server as shipped looks back
	if v, ok := set[i.Within]; ok && Duration(v) != 0 && Duration(v) < year {
		return fmt.Errorf("it looks for rows that are older than %s in the object storage alone: start it with -querier.query-ingesters-within=0", v)
	}
	if v, ok := set[i.Retention]; ok && Duration(v) < year {
		return fmt.Errorf("its ingester drops blocks that are older than its newest ones by %s once they are in the object storage: start it with -blocks-storage.tsdb.retention-period=100y", v)
	}
	return nil
}
