//go:build netns && linux

package netlab

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// A server on one host answers programs on another, later by the delay of both ways, in
// spite of losses, and not at all while the two are cut off.
func TestLab(t *testing.T) {
	l := New(t, 2, 1)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				line := make([]byte, len("x\n"))
				_, _ = io.ReadFull(c, line)
				_, _ = io.WriteString(c, strings.Repeat("0123456789", 100_000))
			}()
		}
	}()
	address := l.Forward(server.Addr().(*net.TCPAddr).Port)
	host, port, _ := net.SplitHostPort(address)
	request := func(from int) (n int, took time.Duration) {
		begin := time.Now()
		out, _ := l.Command(t.Context(), from, "timeout", "5", "bash", "-c", "exec 3<>/dev/tcp/"+host+"/"+port+"; echo x >&3; cat <&3 | wc -c").Output()
		for _, digit := range strings.TrimSpace(string(out)) {
			n = 10*n + int(digit-'0')
		}
		return n, time.Since(begin)
	}
	n, near := request(1)
	if n != 1_000_000 || near > 2*time.Second {
		t.Fatalf("%d bytes in %v", n, near)
	}
	for h := range 3 {
		l.Set(h, Link{Delay: 50 * time.Millisecond})
	}
	n, far := request(1)
	if n != 1_000_000 || far < near/2+200*time.Millisecond { // a round trip to connect, one for the request
		t.Errorf("%d bytes in %v, with a delay of 50 ms each way, and in %v without", n, far, near)
	}
	for h := range 3 {
		l.Set(h, Link{Loss: 0.02})
	}
	if n, took := request(2); n != 1_000_000 || l.LostPackets() == 0 {
		t.Errorf("%d bytes in %v; %d packets lost", n, took, l.LostPackets())
	}
	l.Isolate(1)
	if n, took := request(1); n != 0 || took < 4*time.Second {
		t.Errorf("%d bytes in %v from a host that is cut off", n, took)
	}
	l.Reconnect(1)
	if n, _ := request(1); n != 1_000_000 {
		t.Errorf("%d bytes after the cut", n)
	}
}
