package netlab

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Lab is hosts in one network. Host 0 is the machine's own namespace, which programs
// that were there before share; the others see nothing but each other and host 0.
type Lab struct {
	t       testing.TB
	network *network
	prefix  string // of the names of namespaces
	wires   []*os.File
	queues  []chan packet
}

// New makes hosts 1 to n, which are gone when the test ends. Seed decides which packets
// are lost. The test fails where the machine cannot do this.
func New(t testing.TB, n int, seed uint64) *Lab {
	t.Helper()
	l := &Lab{t: t, network: newNetwork(n+1, seed), prefix: fmt.Sprintf("tsm%d-", os.Getpid())}
	for host := range n + 1 {
		wire, name := l.wire(host)
		l.wires, l.queues = append(l.wires, wire), append(l.queues, make(chan packet, most))
		t.Cleanup(func() { _ = wire.Close() }) // with it goes the device
		if host > 0 {
			l.ip("netns", "add", l.namespace(host))
			t.Cleanup(func() { l.ip("netns", "del", l.namespace(host)) })
			l.ip("link", "set", name, "netns", l.namespace(host))
			l.ip("-n", l.namespace(host), "link", "set", "lo", "up")
		}
		in := []string{}
		if host > 0 {
			in = []string{"-n", l.namespace(host)}
		}
		l.ip(append(in, "addr", "add", l.Address(host)+"/24", "dev", name)...)
		l.ip(append(in, "link", "set", name, "up")...)
	}
	for host := range l.wires {
		go l.read(host)
		go l.deliver(host)
	}
	return l
}

// network4 is a part of the range that is kept for measuring networks: RFC 2544.
const network4 = "198.18.77."

// Address is a host's IP address.
func (l *Lab) Address(host int) string { return network4 + fmt.Sprint(host+1) }

func (l *Lab) namespace(host int) string { return l.prefix + fmt.Sprint(host) }

// Set changes what happens to the packets that a host sends.
func (l *Lab) Set(host int, link Link) { l.network.set(host, link) }

// Cut has no packet pass between two hosts, until Join.
func (l *Lab) Cut(a, b int) { l.network.cut(a, b, true) }

// Join ends a Cut.
func (l *Lab) Join(a, b int) { l.network.cut(a, b, false) }

// Isolate cuts a host off from all others.
func (l *Lab) Isolate(host int) {
	for other := range l.wires {
		l.Cut(host, other)
	}
}

// Reconnect ends Isolate.
func (l *Lab) Reconnect(host int) {
	for other := range l.wires {
		l.Join(host, other)
	}
}

// LostPackets returns the number of packets lost so far.
func (l *Lab) LostPackets() int {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	return l.network.lost
}

// Command returns a command that runs on a host and is killed when ctx or the test ends. Its
// process is the program itself: signals reach it.
func (l *Lab) Command(ctx context.Context, host int, name string, args ...string) *exec.Cmd {
	if host == 0 {
		return exec.CommandContext(ctx, name, args...)
	}
	return exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", l.namespace(host), name}, args...)...)
}

// Forward has the hosts reach, at the returned address, a server that listens on the
// machine's own loopback at a port.
func (l *Lab) Forward(port int) (address string) {
	l.t.Helper()
	in, err := net.Listen("tcp", net.JoinHostPort(l.Address(0), "0"))
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = in.Close() })
	go func() {
		for {
			c, err := in.Accept()
			if err != nil {
				return // the test has ended
			}
			go forward(c, net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
		}
	}()
	return in.Addr().String()
}

// forward joins a connection with one to a server, until both sides have said all.
func forward(c net.Conn, server string) {
	defer func() { _ = c.Close() }()
	s, err := net.Dial("tcp", server)
	if err != nil {
		return // as if the server had closed it
	}
	defer func() { _ = s.Close() }()
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{c, s}, {s, c}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // an end is an end
			if half, ok := way[0].(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
			done <- struct{}{}
		}()
	}
	<-done
	<-done
}

// wire makes a device whose packets this process reads and writes.
func (l *Lab) wire(host int) (wire *os.File, name string) {
	l.t.Helper()
	name = l.namespace(host) + "w"
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		l.t.Fatalf("opening /dev/net/tun: %v; the test needs root and a kernel with TUN", err)
	}
	request, err := unix.NewIfreq(name)
	if err != nil {
		l.t.Fatal(err)
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		l.t.Fatalf("making a network device: %v; the test needs root", err)
	}
	return os.NewFile(uintptr(fd), name), name
}

// ip runs the program of that name.
func (l *Lab) ip(args ...string) {
	l.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		l.t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// read takes what a host sends, until its wire is closed.
func (l *Lab) read(host int) {
	defer close(l.queues[host])
	buffer := make([]byte, 1<<16)
	for {
		n, err := l.wires[host].Read(buffer)
		if err != nil {
			return
		}
		to := l.receiver(buffer[:n])
		if to < 0 {
			continue
		}
		due, arrives := l.network.pass(host, to, time.Now())
		if !arrives {
			continue
		}
		select {
		case l.queues[host] <- packet{to, due, append([]byte(nil), buffer[:n]...)}:
		default: // a full queue
		}
	}
}

// receiver is the host that an IPv4 packet is for; less than 0: none.
func (l *Lab) receiver(data []byte) int {
	if len(data) < 20 || data[0]>>4 != 4 {
		return -1
	}
	to := netip.AddrFrom4([4]byte(data[16:20]))
	for host := range l.wires {
		if to == netip.MustParseAddr(l.Address(host)) {
			return host
		}
	}
	return -1
}

// deliver has the packets of a host arrive when they are due.
func (l *Lab) deliver(host int) {
	for p := range l.queues[host] {
		time.Sleep(time.Until(p.due))
		_, _ = l.wires[p.to].Write(p.data) // a host whose device is down takes none
	}
}
