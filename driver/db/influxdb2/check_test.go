package influxdb2

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
)

// What a server tells of itself to an operator, and that it tells others nothing.
func TestCheck(t *testing.T) {
	const config = `{"config":{"engine-path":"/var/lib/influxdb/engine","storage-wal-fsync-delay":"100ms","query-concurrency":1024,
		"query-memory-bytes":9223372036854775807,"query-max-memory-bytes":536870912,"http-read-timeout":"0s","log-level":"info","flux-log-enabled":true}}`
	shows := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	operator := true
	d := newDatabase(settingsOf(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", shows.Format(http.TimeFormat))
		if !operator {
			stub.Saying(http.StatusUnauthorized, "", `{"code":"unauthorized","message":"unauthorized access"}`)(w, r)
			return
		}
		stub.Paths(map[string]string{"/ping": "", "/api/v2/config": config})(w, r)
	})))
	defer conformance.Close(t, d)
	conformance.Reads(t, d.db(), shows, "/var/lib/influxdb/engine", "")
	conformance.Advises(t, d.db(), "", "storage-wal-fsync-delay", "query-max-memory-bytes", "flux-log-enabled")
	operator = false
	_, err := d.Advise(t.Context())
	stub.Says(t, err, "it tells its settings to an operator's token alone")
}

// TestPending checks that the cache's size counts as pending. After a snapshot, InfluxDB 2.7.12 keeps
// reporting the size of the snapshot, which is in files.
func TestPending(t *testing.T) {
	const figures = `storage_shard_disk_size{bucket="b",engine="tsm1",id="1",path="/nowhere/b/autogen/1",walPath="/nowhere/b/autogen/1"} 94208
storage_cache_disk_bytes{bucket="b",engine="tsm1",id="1",path="/nowhere/b/autogen/1",walPath="/nowhere/b/autogen/1"} 2.37468e+06
storage_cache_inuse_bytes{bucket="b",engine="tsm1",id="1",path="/nowhere/b/autogen/1",walPath="/nowhere/b/autogen/1"} `
	for inuse, want := range map[string]string{"0": "", "1884": "1884 bytes of values are in the server's cache"} {
		d := newDatabase(settingsOf(t, serve(t, stub.Paths(map[string]string{"/api/v2/buckets": `{"buckets":[{"id":"b"}]}`, "/metrics": figures + inuse + "\n"}))))
		size, err := d.Footprint(t.Context())
		if err != nil || size.Bytes != 94208 || !strings.HasPrefix(size.Pending, want) || (want == "") != (size.Pending == "") {
			t.Errorf("with %s bytes in the cache: %+v, %v", inuse, size, err)
		}
		conformance.Close(t, d)
	}
}
