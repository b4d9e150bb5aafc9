package claims

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// A claim on load rates names systems whose acknowledged rows are not equally safe. The rate of a server
// that acknowledges by a timer is compared only with that of another one.
func TestSafety(t *testing.T) {
	const order = `rules: [{of: load, order: [questdb, influxdb]}]`
	const note = "these are load rates at unequal durability: an acknowledged row is of questdb in files that are not yet forced to disk, of influxdb on disk"
	for _, c := range []struct {
		name, claim       string
		questdb, influxdb driver.Safety
		want              Verdict
		says              string // empty: nothing of safety
	}{
		{"equal", order, driver.OnDisk, driver.OnDisk, Holds, ""},
		{"unknown", order, "", driver.OnDisk, Holds, ""},
		{"unequal", order, driver.InFiles, driver.OnDisk, Holds, note},
		{"unequal, until acknowledged", `rules: [{of: load, figure: acked, order: [questdb, influxdb]}]`, driver.InFiles, driver.OnDisk, Holds, note},
		{"unequal, size on disk", `rules: [{of: load, figure: disk, order: [questdb, influxdb]}]`, driver.InFiles, driver.OnDisk, Holds, ""},
		{"one system", `rules: [{of: load, changes: {systems: [questdb], along: targets.questdb.cache, from: "on", to: "off", goes: worse}}]`, driver.InFiles, driver.OnDisk, Holds, ""},
		{"timer", order, driver.InFiles, driver.ByTimer, NotTested, "an acknowledged row of influxdb is on disk, at the next tick of the server's timer, of questdb in files that are not yet forced to disk: the load rate of influxdb is that of the timer"},
		{"timer of the other", order, driver.ByTimer, driver.OnDisk, NotTested, "the load rate of questdb is that of the timer"},
		{"timers", order, driver.ByTimer, driver.ByTimer, Holds, ""},
		{"timer, size on disk", `rules: [{of: load, figure: disk, order: [questdb, influxdb]}]`, driver.InFiles, driver.ByTimer, Holds, ""},
		{"timer, lead", `rules: [{of: load, lead: {better: questdb, than: influxdb, along: load.workers, largest: "1"}}]`, driver.InFiles, driver.ByTimer, NotTested, "that of the timer"},
	} {
		runs := []*result.Run{run("20260101-000000-aaaa", "1", loadsOf(1), loadsOf(3)), run("20260101-000000-bbbb", "2", loadsOf(1), loadsOf(2))}
		for _, r := range runs {
			for i := range r.Targets {
				target := &r.Targets[i]
				if target.Description.Safety = c.influxdb; target.Driver == "questdb" {
					target.Description.Safety = c.questdb
				}
			}
		}
		f := Judge(description(t, c.claim), Measured{Size: document.Full, Runs: map[string][]*result.Run{"load": runs}})[0]
		if f.Verdict != c.want || c.says == "" && f.Why != "" || !strings.Contains(f.Why, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, f.Verdict, f.Why, c.want, c.says)
		}
	}
}
