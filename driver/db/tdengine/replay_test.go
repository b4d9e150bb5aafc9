package tdengine_test

import (
	"encoding/binary"
	"regexp"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/replay"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/tdengine"
)

// timing is how long the server took, as it says itself.
var timing = regexp.MustCompile(`"timing":\d+`)

// mask takes out of the server's messages how long it took: in JSON, or as the first
// eight bytes of a block.
func mask(from replay.Side, message []byte) []byte {
	if from == replay.Client || len(message) == 0 {
		return message
	}
	if message[0] == '{' {
		return timing.ReplaceAll(message, []byte(`"timing":0`))
	}
	if len(message) < 8 {
		return message
	}
	return append(binary.LittleEndian.AppendUint64(nil, 0), message[8:]...)
}

// TestReplayed checks that the suite's conversations with a TDengine server have not changed.
func TestReplayed(t *testing.T) {
	replay.Run(t, replay.Subject{Driver: tdengine.Driver(), Framing: replay.WebSocket{Mask: mask}}, func(t *testing.T, d driver.Driver, options map[string]string) {
		options["database"] = "recorded"
		conformance.RunSparse(t, d, options)
	})
}

// So are those with prepared statements, and with answers as JSON.
func TestReplayedOptions(t *testing.T) {
	replay.Run(t, replay.Subject{Driver: tdengine.Driver(), Framing: replay.WebSocket{Mask: mask}, Name: "options"}, func(t *testing.T, d driver.Driver, options map[string]string) {
		options["database"], options["write"], options["read"] = "recorded", "stmt", "rest"
		conformance.RunWrites(t, d, options)
	})
}
