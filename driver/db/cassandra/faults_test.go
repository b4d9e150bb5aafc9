package cassandra_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/db/cassandra"
)

// TestFaults checks that a server failure leads to one clear line, or to figures that show it.
func TestFaults(t *testing.T) {
	conformance.Long(t) // each part starts a server of Java's

	conformance.Address(t, "cassandra") // tells how, where servers are not to be started
	fault.Run(t, fault.Target{
		Driver: cassandra.Driver(), Server: fault.Script(t, "cassandra"),
		Options:  map[string]string{"quiet": "0s"},
		Patience: 2 * time.Minute, // Java starts slowly beside others
		Cannot: map[string]string{
			fault.Throttled:     "its protocol is not HTTP",
			fault.WrongDatabase: "a keyspace that is not there is made",
			fault.PowerFails:    "as shipped it does not start again: the header of a commit log that it has just made is not on the disk",
			fault.DiskFull:      "with files of 64 KiB it takes all rows of the load, and none is lost",
		},
	})
}
