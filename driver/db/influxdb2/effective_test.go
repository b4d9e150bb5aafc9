package influxdb2

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/tsmark/tsmark/driver"
)

// A bucket that was there before keeps its retention and shards: both are read back.
func TestEffective(t *testing.T) {
	for rule, want := range map[string]string{
		`{"everySeconds":0,"shardGroupDurationSeconds":86400}`:       "",
		`{"everySeconds":2592000,"shardGroupDurationSeconds":86400}`: "option retention=0s is not in effect: the server says the retention of the bucket is 720h0m0s; give another bucket, or delete this one and let tsmark make it",
		`{"everySeconds":0,"shardGroupDurationSeconds":604800}`:      "option shard_duration=24h0m0s is not in effect: the server says the duration of the bucket's groups of shards is 168h0m0s; give another bucket, or delete this one and let tsmark make it",
	} {
		options := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"buckets":[{"id":"7","orgID":"1","name":"tsmark","retentionRules":[%s]}]}`, rule)
		})
		options[optionShard] = "24h"
		d, _ := prepareDatabase(t, options)
		if err := driver.Contradiction(t.Context(), d.db()); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%s: %v", rule, err)
		}
		_ = d.Close()
	}
}
