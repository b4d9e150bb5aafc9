package opentsdb

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
)

// What a server tells of itself, and why it tells no more.
func TestCheck(t *testing.T) {
	d := serve(t, stub.Paths(map[string]string{
		pathVersion: `{"version":"2.4.1","short_revision":"a"}`,
		pathStats:   `[{"metric":"tsd.jvm.runtime","timestamp":1451606400,"value":"1","tags":{}}]`,
		pathConfig:  `{"tsd.mode":"ro","tsd.query.timeout":"","tsd.query.limits.bytes.default":"0","tsd.storage.enable_compaction":"true"}`,
	}))
	if err := d.greet(t.Context()); err != nil {
		t.Fatal(err)
	}
	conformance.Reads(t, d.db(), time.Unix(1451606400, 0), "", "HBase")
	conformance.Advises(t, d.db(), "", "tsd.mode", "tsd.storage.enable_compaction")
}
