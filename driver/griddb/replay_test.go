package griddb_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/conformance/replay"
	"github.com/tsmark/tsmark/driver/griddb"
)

// The suite's conversations with a server, in each layout.
func TestReplayed(t *testing.T) {
	for _, layout := range []string{"series", "table"} {
		t.Run(layout, func(t *testing.T) {
			replay.Run(t, replay.Subject{Driver: griddb.Driver(), Framing: framing{}, Name: layout}, func(t *testing.T, d driver.Driver, options map[string]string) {
				options["layout"], options["database"], options["in_flight"] = layout, "replay_"+layout, "1"
				options["system_port"] = "0" // HTTP, which tells nothing that is measured
				conformance.RunSparse(t, d, options)
			})
		})
	}
}
