package monitor

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/puppet"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
)

func TestDatabaseOf(t *testing.T) {
	for _, c := range []struct {
		program string
		line    []string
		want    string
	}{
		{"postgres", nil, "PostgreSQL or TimescaleDB"},
		{"influxd.exe", nil, "InfluxDB"},
		{"victoria-metrics-prod", nil, "VictoriaMetrics"},
		{"java", []string{"java", "-Xmx1g", "-m", "io.questdb/io.questdb.ServerMain"}, "QuestDB"},
		{"java", []string{"java", "org.apache.iotdb.db.service.DataNode", "-s"}, "Apache IoTDB"},
		{"java", []string{"java", "org.apache.cassandra.service.CassandraDaemon"}, "Apache Cassandra"},
		{"java", []string{"java", "-jar", "editor.jar", "/notes/io.questdb.txt"}, ""},
		{"vi", []string{"vi", "postgres"}, ""},
		{"postgres_exporter", nil, ""},
		{"victoria", nil, ""},
		{"", nil, ""},
	} {
		if got := databaseOf(c.program, c.line); got != c.want {
			t.Errorf("%s %q is %q, want %q", c.program, c.line, got, c.want)
		}
	}
}

// TestOtherDatabases: a puppet under a database's name is found with its child's use,
// and not found when it is the one under test.
func TestOtherDatabases(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "taosd")
	copyProgram(t, puppet.Program(t), program)
	ready := filepath.Join(dir, "ready")
	p, err := process.Start(t.Context(), process.Command{
		Path: program, Args: puppet.Args("hold:30000000", "fork:burn:60", "pid:"+ready, "wait:"), Env: puppet.Env(),
		Ready: func(context.Context) error { _, err := os.Stat(ready); return err },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	var found []result.OtherDatabase
	place := -1
	for range 40 { // the child may take its time to begin
		if found, err = OtherDatabases(t.Context(), 500*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		place = slices.IndexFunc(found, func(r result.OtherDatabase) bool { return r.PID == p.PID() })
		if place < 0 {
			t.Fatalf("not among %+v", found)
		}
		if found[place].Share > 0.02 {
			break
		}
	}
	// Its child is not listed beside it.
	if n := len(slices.DeleteFunc(slices.Clone(found), func(r result.OtherDatabase) bool { return r.Process != "taosd" })); n != 1 {
		t.Errorf("found %d times: %+v", n, found)
	}
	if r := found[place]; r.Name != "TDengine" || r.Process != "taosd" || r.RSS < 30e6 || !(r.Share > 0.02) || r.Share > 1.5 {
		t.Errorf("got %+v, holds 30,000,000 bytes and computes on one core", r)
	}
	others, err := OtherDatabases(t.Context(), 0, p.PID())
	if err != nil || slices.ContainsFunc(others, func(r result.OtherDatabase) bool { return r.Process == "taosd" }) {
		t.Errorf("the server under test is listed as another database: %+v, %v", others, err)
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCoLocated(t *testing.T) {
	for address, want := range map[string]bool{
		"localhost:5432": true, "127.0.0.1": true, "127.9.9.9:80": true, "[::1]:80": true, "::1": true,
		"http://localhost:8086/write?db=x": true, "postgres://me:secret@127.0.0.1:5432/db": true,
		"/var/run/postgresql": true, "@abstract": true, "": true, "0.0.0.0:9000": true,
		"192.0.2.1:5432": false, "http://[2001:db8::1]:80": false, // documentation's addresses
	} {
		if got, err := CoLocated(t.Context(), address); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", address, got, err, want)
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := CoLocated(t.Context(), net.JoinHostPort(prefix.Addr().String(), "1")); err != nil || !got {
			t.Errorf("own address %s: %v, %v", a, got, err)
		}
	}
	far := []net.Addr{&net.IPNet{IP: net.IPv4(10, 0, 0, 7), Mask: net.CIDRMask(8, 32)}}
	if !isOwn([]netip.Addr{netip.MustParseAddr("::ffff:10.0.0.7")}, far) {
		t.Error("an address written as IPv6 is not recognised")
	}
	if isOwn([]netip.Addr{netip.MustParseAddr("10.0.0.8")}, far) {
		t.Error("a neighbour counts as this machine")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel() // so that no server is queried
	if _, err := CoLocated(ended, "no-such-host.invalid:1"); err == nil {
		t.Error("a name that cannot be resolved is not an error")
	}
}

func TestWholeDisks(t *testing.T) {
	for _, c := range [][2][]string{
		{{"sda", "sda1", "sda2", "sdb"}, {"sda", "sdb"}},
		{{"nvme0n1", "nvme0n1p1", "nvme1n1", "mmcblk0", "mmcblk0p2"}, {"nvme0n1", "nvme1n1", "mmcblk0"}},
		{{"vda", "dm-0", "md127", "loop3", "zram0", "ram1", "sr0"}, {"vda"}},
		{{"xvda1", "xvdb"}, {"xvda1", "xvdb"}}, // some clouds show no disk, only its partition
		{{"disk0"}, {"disk0"}},
	} {
		if got := wholeDisks(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("of %v: %v, want %v", c[0], got, c[1])
		}
	}
}

func TestDeviceName(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dm-0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dm-0", filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "data"): "dm-0", filepath.Join(dir, "sda1"): "sda1", "overlay": "", "": "",
	} {
		if got := deviceName(path); got != want {
			t.Errorf("device of %q is %q, want %q", path, got, want)
		}
	}
}
