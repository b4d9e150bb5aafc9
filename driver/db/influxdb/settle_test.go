package influxdb

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/disk"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/session"
)

// shows is the answer to SHOW STATS of one shard of the database.
func shows(w http.ResponseWriter, module string, tags map[string]string, columns map[string]any) {
	tags["database"], tags["retentionPolicy"] = "benchmark", "autogen"
	var names []string
	var values []any
	for name, v := range columns {
		names, values = append(names, name), append(values, v)
	}
	answer := map[string]any{"results": []any{map[string]any{"series": []any{map[string]any{"name": module, "tags": tags, "columns": names, "values": []any{values}}}}}}
	_ = json.NewEncoder(w).Encode(answer)
}

// openStub opens a database on a stub.
func openStub(t *testing.T, answer http.HandlerFunc) *database {
	t.Helper()
	s := settingsOf(t, serve(t, answer))
	s.database = "benchmark"
	d := newDatabase(s)
	t.Cleanup(func() { conformance.Close(t, d) })
	return d
}

// TestSettledWhenIdlenessBegan checks that the server is watched for longer than its own period, and
// that the load counts as settled from the start of that time.
func TestSettledWhenIdlenessBegan(t *testing.T) {
	begin := time.Now()
	const busy = 300 * time.Millisecond
	var lastBusy atomic.Int64 // when the server last answered that it was busy, after the beginning
	compacting := openStub(t, func(w http.ResponseWriter, r *http.Request) {
		active := 0
		if passed := time.Since(begin); passed < busy {
			active = 1
			lastBusy.Store(int64(passed))
		}
		shows(w, "tsm1_engine", map[string]string{}, map[string]any{"tsmFullCompactionsActive": active})
	})
	at, err := driver.AwaitSettled(t.Context(), compacting.db())
	took := time.Since(begin)
	last := time.Duration(lastBusy.Load())
	if err != nil || last == 0 || took < last+idleFor || at.Sub(begin) < last || at.Sub(begin) > took-idleFor+look {
		t.Errorf("settled %v after the beginning, watched for %v; it was busy until %v; error %v", at.Sub(begin), took, last, err)
	}
	begin = time.Now()
	idle := openStub(t, func(w http.ResponseWriter, r *http.Request) {
		shows(w, "tsm1_engine", map[string]string{}, map[string]any{"tsmFullCompactionsActive": 0})
	})
	if at, err = driver.AwaitSettled(t.Context(), idle.db()); err != nil || at.Sub(begin) > idleFor/2 {
		t.Errorf("an idle server settled %v after the beginning, error %v", at.Sub(begin), err)
	}
}

// The index and the series are files that the server does not count: where they
// can be read their blocks count, and else the figure says that it lacks them.
func TestFootprintCountsIndexAndSeries(t *testing.T) {
	root := t.TempDir()
	write := func(bytes int, path ...string) {
		name := filepath.Join(append([]string{root}, path...)...)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, make([]byte, bytes), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	shard, wal := []string{"data", "benchmark", "autogen", "1"}, []string{"wal", "benchmark", "autogen", "1"}
	write(5000, append(shard, "000000001-000000001.tsm")...)
	write(700, append(wal, "_00001.wal")...)
	write(4096, append(shard, "index", "0", "L0-00000001.tsl")...)
	write(20, append(shard, "fields.idx")...)
	write(8192, "data", "benchmark", "_series", "00", "0000")
	write(9999, "data", "another", "_series", "00", "0000")
	for _, c := range []struct {
		name, data string
		counted    int64
		want       int64
		left       string
		cached     int64
	}{
		{"here", root, 5700, 5700 + 4096 + 8192, "", 0},
		{"in the cache", root, 5700, 5700 + 4096 + 8192, "", 700},
		{"another's files", root, 50 << 20, 50 << 20, "the index and the file of series, which the server does not count: its folders cannot be read here", 0},
		{"elsewhere", "/nowhere/tsmark", 5700, 5700, "the index and the file of series, which the server does not count: its folders cannot be read here", 0},
		{"no word", "", 5700, 5700, "the index and the file of series, which the server does not count: it does not say where its shards are", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openStub(t, func(w http.ResponseWriter, r *http.Request) {
				tags := map[string]string{}
				if c.data != "" {
					tags["path"] = filepath.Join(append([]string{c.data}, shard...)...)
					tags["walPath"] = filepath.Join(append([]string{c.data}, wal...)...)
				}
				columns := map[string]any{"diskBytes": c.counted}
				if strings.Contains(r.FormValue("q"), "cache") {
					columns = map[string]any{"memBytes": c.cached, "diskBytes": 0}
				}
				shows(w, "shard", tags, columns)
			})
			n, err := d.Footprint(t.Context())
			if want := (driver.Footprint{Bytes: c.want, Without: c.left, Pending: influx.Pending(float64(c.cached))}); err != nil || !reflect.DeepEqual(n, want) {
				t.Errorf("%+v, error %v; want %d bytes without %q", n, err, c.want, c.left)
			}
		})
	}
}

// The real server's index and series count, whose address is this host's.
func TestFootprintOfServer(t *testing.T) {
	if product() == geminiServer {
		t.Skip("openGemini does not tell of its files")
	}
	d := openNew(t, "tsmark_test footprint")
	if err := session.New(d.db()).Prepare(t.Context(), schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "cpu,host=h%d v=1 %d\n", i, i)
	}
	d.put(t, lines.String())
	if err := d.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	shards, err := d.shards(t.Context(), "shard")
	if err != nil || len(shards) == 0 {
		t.Fatal(shards, err)
	}
	var counted int64
	for _, s := range shards {
		var n int64
		fmt.Sscan(s["diskBytes"], &n)
		counted += n
	}
	cached, err := d.Footprint(t.Context())
	if err != nil || cached.Bytes <= counted || cached.Without != "" || cached.Pending == "" {
		t.Errorf("%+v, %d counted by the server; error %v", cached, counted, err)
	}
	// Once they are written out, the log is empty, and the files are much smaller than it was.
	if err := d.FlushMemory(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range shards {
		if log, err := disk.Folder(s["walPath"]); err != nil || log.Length != 0 {
			t.Errorf("the log has %+v, %v", log, err)
		}
	}
	written, err := d.Footprint(t.Context())
	if err != nil || written.Pending != "" || written.Bytes <= 0 {
		t.Errorf("%+v once all was written, and %+v before; error %v", written, cached, err)
	}
}
