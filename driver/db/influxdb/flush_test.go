package influxdb

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestFlushMemory checks that a backup of data newer than all files writes each shard's cache to files,
// over the port that the server reports, and again if the server refuses. Lasting refusals and an
// unreachable port are errors that say so.
func TestFlushMemory(t *testing.T) {
	backups := func(answers ...string) (port string, requests chan string) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		requests = make(chan string, 9)
		go func() {
			for n := 0; ; n++ {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				line, _ := bufio.NewReader(conn).ReadString('\n')
				requests <- line
				_, _ = io.WriteString(conn, answers[n%len(answers)])
				_ = conn.Close()
			}
		}()
		_, port, _ = net.SplitHostPort(l.Addr().String())
		return port, requests
	}
	answering, requests := backups(strings.Repeat("\x00", 1024))
	refusing, _ := backups("")
	busy, tries := backups("", "", strings.Repeat("\x00", 1024))
	for name, c := range map[string]struct{ address, says string }{
		"answers":       {"127.0.0.1:" + answering, ""},
		"everywhere":    {":" + answering, ""},
		"busy":          {":" + busy, ""},
		"refuses":       {"127.0.0.1:" + refusing, "the server refused to back up shard 7"},
		"not reachable": {"127.0.0.1:1", "its port for backups, 127.0.0.1:1 (bind-address), is not reached from here"},
		"no word":       {"", "the server does not say where it takes backups (bind-address)"},
	} {
		d := openStub(t, func(w http.ResponseWriter, r *http.Request) {
			columns := map[string]any{"diskBytes": 5}
			if strings.Contains(r.FormValue("q"), "DIAGNOSTICS") {
				columns = map[string]any{"bind-address": c.address}
			}
			shows(w, "shard", map[string]string{"id": "7"}, columns)
		})
		err := d.FlushMemory(t.Context())
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %s", name, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var of struct {
			Type, ShardID int
			Since         string
		}
		if name == "busy" {
			if len(tries) != 3 {
				t.Errorf("the server received %d requests, want 3", len(tries))
			}
			continue
		}
		line := <-requests
		if err := json.Unmarshal([]byte(line[2:]), &of); err != nil || line[:2] != "\x03\x00" || fmt.Sprint(of) != "{0 7 9999-01-01T00:00:00Z}" {
			t.Errorf("%s: received %q, %v", name, line, err)
		}
	}
}
