package victoriametrics

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
)

// TestFlushRepeats checks that snapshots are taken until nothing is in memory: each leaves out parts that are being merged.
// The copies of metaindexes in memory count neither as such nor as size on disk.
func TestFlushRepeats(t *testing.T) {
	left := 3
	d := newDatabase(serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/snapshot/create" {
			left--
		}
		if strings.HasPrefix(r.URL.Path, "/snapshot/") {
			stub.Saying(http.StatusOK, "", `{"status":"ok","snapshot":"x"}`)(w, r)
			return
		}
		stub.Saying(http.StatusOK, "", fmt.Sprintf(`vm_data_size_bytes{type="storage/small"} 100
vm_data_size_bytes{type="storage/metaindex"} 40
vm_data_size_bytes{type="indexdb/inmemory"} %d
`, left))(w, r)
	}))
	if err := d.FlushMemory(t.Context()); err != nil || left != 0 {
		t.Errorf("%v, %d bytes left in memory", err, left)
	}
	if size, err := d.Footprint(t.Context()); err != nil || !reflect.DeepEqual(size, driver.Footprint{Bytes: 100}) {
		t.Errorf("%+v, %v", size, err)
	}
}

// TestFlushMemory checks that data in memory does not count as size on disk. It is pending until a
// snapshot, which is then deleted, flushes it. Old versions do not report it; new ones do, whether or
// not tsmark may take a snapshot.
func TestFlushMemory(t *testing.T) {
	const unknown = "this version does not report how much of it is in its memory"
	figures := func(inMemory string) string {
		return `vm_data_size_bytes{type="storage/small"} 100` + "\n" + `vm_data_size_bytes{type="indexdb/file"} 10` + "\n" + inMemory
	}
	inMemory := func(bytes int) string {
		return fmt.Sprintf("vm_data_size_bytes{type=\"storage/inmemory\"} %d\n", bytes)
	}
	for name, c := range map[string]struct {
		before, after string // figures
		taken         string // the answer to a snapshot
		refused       string // empty: it is taken
		first, last   driver.Footprint
	}{
		"new":         {inMemory(7), inMemory(0), `{"status":"ok","snapshot":"x y"}`, "", driver.Footprint{Bytes: 110, Pending: "7 bytes are in the server's memory"}, driver.Footprint{Bytes: 110}},
		"old":         {"", "", `{"status":"ok","snapshot":"x y"}`, "", driver.Footprint{Bytes: 110, Pending: unknown}, driver.Footprint{Bytes: 110}},
		"refused":     {inMemory(7), inMemory(7), `{"status":"error","msg":"read-only"}`, "it says error read-only", driver.Footprint{Bytes: 110, Pending: "7 bytes are in the server's memory"}, driver.Footprint{Bytes: 110, Pending: "7 bytes are in the server's memory"}},
		"old refused": {"", "", `what?`, "invalid character", driver.Footprint{Bytes: 110, Pending: unknown}, driver.Footprint{Bytes: 110, Pending: unknown}},
		"by itself":   {inMemory(7), inMemory(0), `what?`, "invalid character", driver.Footprint{Bytes: 110, Pending: "7 bytes are in the server's memory"}, driver.Footprint{Bytes: 110}},
	} {
		t.Run(name, func(t *testing.T) {
			var done []string
			d := newDatabase(serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/snapshot/") {
					done = append(done, r.URL.Path+r.FormValue("snapshot"))
				}
				switch {
				case r.URL.Path == "/snapshot/create":
					stub.Saying(http.StatusOK, "", c.taken)(w, r)
				case len(done) > 0:
					stub.Saying(http.StatusOK, "", figures(c.after))(w, r)
				default:
					stub.Saying(http.StatusOK, "", figures(c.before))(w, r)
				}
			}))
			if size, err := d.Footprint(t.Context()); err != nil || !reflect.DeepEqual(size, c.first) {
				t.Errorf("%+v, %v, want %+v", size, err, c.first)
			}
			err := d.FlushMemory(t.Context())
			if c.refused == "" && (err != nil || !slices.Equal(done, []string{"/snapshot/create", "/snapshot/deletex y"})) {
				t.Errorf("%v, requests %q", err, done)
			}
			if c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("%v, want %s", err, c.refused)
			}
			if size, err := d.Footprint(t.Context()); err != nil || !reflect.DeepEqual(size, c.last) {
				t.Errorf("%+v, %v, want %+v", size, err, c.last)
			}
		})
	}
}
