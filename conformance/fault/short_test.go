package fault

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestShortenUpgrade checks that a connection that becomes a WebSocket passes the proxy unchanged: the
// response to the upgrade has no end.
func TestShortenUpgrade(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		_, _ = io.Copy(c, buffered)
	}))
	defer server.Close()
	f := &faults{Target: Target{Server: &Server{port: server.Listener.Addr().(*net.TCPAddr).Port}}}
	options, end, err := f.shorten(new(shortening)) // 0 % of each body
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	c, err := net.Dial("tcp", "127.0.0.1:"+options["port"])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
	in := bufio.NewReader(c)
	response, err := http.ReadResponse(in, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%+v, %v", response, err)
	}
	const said = "a frame"
	fmt.Fprint(c, said)
	echo := make([]byte, len(said))
	if _, err := io.ReadFull(in, echo); err != nil || string(echo) != said {
		t.Errorf("%q, %v", echo, err)
	}
}
