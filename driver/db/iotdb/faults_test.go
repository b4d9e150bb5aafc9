package iotdb_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/fault"
	"github.com/tsmark/tsmark/driver/db/iotdb"
)

// TestFaults checks that a server failure leads to one clear line, or to figures that show it.
func TestFaults(t *testing.T) {
	conformance.Long(t) // each part starts two processes of Java's

	conformance.Address(t, "iotdb") // tells how, where servers are not to be started
	fault.Run(t, fault.Target{
		Driver: iotdb.Driver(), Server: fault.Script(t, "iotdb"),
		Options:  map[string]string{"quiet": "0s"},
		Patience: time.Minute, // two processes of Java's start one after the other
		Cannot: map[string]string{
			fault.Throttled:     "its protocol is not HTTP",
			fault.WrongDatabase: "a database that is not there is made",
			fault.DiskFull:      "with wal_mode=ASYNC the server acknowledges rows that it can write nowhere, keeps them in memory, and counts and answers rightly",
		},
	})
}
