package influxdb

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/tsmark/tsmark/driver"
)

// The time that a shard covers is read back, of the retention policy that is written to.
func TestEffective(t *testing.T) {
	for _, c := range []struct{ shard, has, want string }{
		{"1d", "24h0m0s", ""},
		{"2w", "336h0m0s", ""},
		{"36h", "36h0m0s", ""},
		{"1d", "168h0m0s", "option shard_duration=1d is not in effect: the server says the shard duration of retention policy mine is 168h0m0s; load again with --replace"},
	} {
		d, _ := prepareDatabase(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"results":[{"series":[{"columns":["name","shardGroupDuration"],"values":[["autogen","1h0m0s"],["mine",%q]]}]}]}`, c.has)
		}, optionShard, c.shard, optionRetention, "mine"))
		if err := driver.Contradiction(t.Context(), d.db()); fmt.Sprint(err) != c.want && (err != nil || c.want != "") {
			t.Errorf("%s, %s: %v", c.shard, c.has, err)
		}
		_ = d.Close()
	}
}
