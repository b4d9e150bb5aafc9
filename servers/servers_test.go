package servers

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/monitor/process"
)

func TestNames(t *testing.T) {
	names := Names()
	if !slices.Contains(names, "postgres") || slices.Contains(names, wrapper) || slices.Contains(names, "password") {
		t.Errorf("names %q", names)
	}
	for _, name := range Slow() {
		if !slices.Contains(names, name) {
			t.Errorf("the file nightly has %s, which no script starts", name)
		}
	}
	if err := Find("postgers"); err == nil || !strings.Contains(err.Error(), `did you mean "postgres"?`) {
		t.Errorf("looking for postgers: %v", err)
	}
}

// Unpacked scripts are those of the repository, and can be run; local changes
// are reverted.
func TestUnpack(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	scripts, err := Unpack()
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(scripts.Folder(), "questdb")
	if err := os.WriteFile(changed, []byte("#!/bin/false\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if scripts, err = Unpack(); err != nil {
		t.Fatal(err)
	}
	for _, name := range list() {
		here, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := os.ReadFile(filepath.Join(scripts.Folder(), filepath.FromSlash(name)))
		if err != nil || string(unpacked) != string(here) {
			t.Errorf("%s unpacked as another text, or not at all: %v", name, err)
		}
	}
	for _, name := range Names() {
		if about, err := os.Stat(filepath.Join(scripts.Folder(), name)); err != nil || about.Mode()&0o111 == 0 {
			t.Errorf("%s cannot be run: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(scripts.Folder(), passwordFile)); err != nil {
		t.Error(err)
	}
}

// fake returns scripts of one server, called questdb, without a port: it runs once
// its file exists, and writes its arguments to it.
func fake(t *testing.T) Scripts {
	t.Helper()
	s := Scripts{t.TempDir()}
	script := `#!/bin/sh
case $1 in
install) echo "nothing to do" ;;
exec) echo "$TSMARK_VERSION_QUESTDB" >"$2/version"; echo "$3 $TSMARK_SERVERS" >"$2/new"; mv "$2/new" "$2/given"; exec sleep 600 ;; # whole when it is there
ready) [ -e "$2/given" ] ;;
esac
`
	if err := os.WriteFile(filepath.Join(s.folder, "questdb"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// alive reports whether a process runs.
func alive(pid int) bool {
	info, err := process.Lookup(context.Background(), pid)
	return err == nil && !info.Ended
}

func TestBackground(t *testing.T) {
	t.Setenv("TSMARK_SERVERS", "/packages")
	scripts, b := fake(t), Background{Folder: t.TempDir()}
	if known, err := b.List(t.Context()); err != nil || len(known) > 0 {
		t.Fatalf("known before the first start: %v, %v", known, err)
	}
	if err := b.Stop(t.Context(), "questdb", false); err == nil {
		t.Error("a server that was never started was stopped")
	}
	first, err := b.Start(t.Context(), scripts, "questdb", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Stop(context.Background(), "questdb", true) })
	arguments := filepath.Join(b.Folder, "questdb", dataFolder, "given")
	if text, err := os.ReadFile(arguments); err != nil || string(text) != strconv.Itoa(first)+" /packages\n" {
		t.Errorf("the script was given %q, %v", text, err)
	}
	if options, err := b.Options("questdb"); err != nil || len(options) > 0 {
		t.Errorf("options %v, %v", options, err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(arguments), optionsFile), []byte("connections=many\nuser=a=b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if options, err := b.Options("questdb"); err != nil || len(options) != 2 || options["connections"] != "many" || options["user"] != "a=b" {
		t.Errorf("options %v, %v", options, err)
	}
	n, err := b.note("questdb")
	if err != nil || !alive(n.PID) {
		t.Fatalf("it is not the process of its note %+v: %v", n, err)
	}

	// It is started only once, on the same port.
	if again, err := b.Start(t.Context(), scripts, "questdb", 0); err != nil || again != first {
		t.Errorf("started again: port %d, not %d, %v", again, first, err)
	}
	if _, err := b.Start(t.Context(), scripts, "questdb", first+1); err == nil {
		t.Error("it runs on two ports")
	}
	if again, err := b.note("questdb"); err != nil || again != n {
		t.Errorf("two processes: %+v and %+v, %v", n, again, err)
	}

	// With another script, of a newer tsmark, it is started again, on the same port.
	script := filepath.Join(scripts.folder, "questdb")
	text, err := os.ReadFile(script)
	if err == nil {
		err = os.WriteFile(script, append(text, "# method=insert\n"...), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := n
	if again, err := b.Start(t.Context(), scripts, "questdb", 0); err != nil || again != first {
		t.Errorf("started by another script: port %d, not %d, %v", again, first, err)
	}
	if n, err = b.note("questdb"); err != nil || n == before || !alive(n.PID) || alive(before.PID) {
		t.Errorf("it runs by the script from before: %+v and %+v, %v", before, n, err)
	}

	// Its files outlive it until they are removed.
	if err := b.Stop(t.Context(), "questdb", false); err != nil || alive(n.PID) {
		t.Errorf("stopped: %v, runs %v", err, alive(n.PID))
	}
	if known, err := b.List(t.Context()); err != nil || !slices.Equal(known, []Known{{Name: "questdb", Port: first}}) {
		t.Errorf("known after it was stopped: %v, %v", known, err)
	}
	if _, err := os.Stat(arguments); err != nil {
		t.Error(err)
	}
	if again, err := b.Start(t.Context(), scripts, "questdb", 0); err != nil || again != first {
		t.Errorf("started after a stop: port %d, not %d, %v", again, first, err)
	}
	if err := b.Stop(t.Context(), "questdb", true); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(b.Folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A port that has been taken since is not tried again.
func TestPortTaken(t *testing.T) {
	scripts, b := fake(t), Background{Folder: t.TempDir()}
	first, err := b.Start(t.Context(), scripts, "questdb", 0)
	if err == nil {
		err = b.Stop(t.Context(), "questdb", false)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+3)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	second, err := b.Start(t.Context(), scripts, "questdb", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Stop(t.Context(), "questdb", true); err != nil {
		t.Error(err)
	}
	if second == first {
		t.Errorf("started on port %d again, and port %d is another's", first, first+3)
	}
}

// Servers for a command leave neither processes nor files, and know the servers started
// before them.
func TestTemporary(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var servers Temporary
	address, pid, err := servers.Start(t.Context(), fake(t), "questdb")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"TSMARK_TEST_QUESTDB=" + address}; !slices.Equal(servers.Variables(), want) {
		t.Errorf("variables %q, not %q", servers.Variables(), want)
	}
	if !alive(pid) {
		t.Errorf("process %d does not run", pid)
	}
	if err := servers.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if alive(pid) {
		t.Errorf("process %d outlived Stop", pid)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Scripts pass on the settings that they can, and refuse names that they set themselves, names that
// the server does not know, and all settings where the server takes none.
func TestSettings(t *testing.T) {
	run := func(script, settings string, lines ...string) string {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "settings"), []byte(settings), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{script, "exec", dir, "1"}
		if len(lines) > 0 {
			args = []string{"-c", ". ./common.bash; " + strings.Join(lines, "; "), "./postgres", dir}
		}
		out, _ := exec.Command("bash", args...).CombinedOutput() // a refusal is an exit status
		return string(out)
	}
	for _, name := range []string{"clickhouse", "influxdb3", "kairosdb", "opentsdb"} {
		if out := run(name, "a=1\n"); out != name+": server settings: this script passes none on; leave them out\n" {
			t.Errorf("%s: %q", name, out)
		}
	}
	for _, c := range []struct{ settings, line, want string }{
		{"a=1 2\nb.c=$(id)\n", `read_settings "$1" port; printf '<%s>' "${settings[@]}"`, "<a=1 2><b.c=$(id)>"},
		{"port=1\n", `read_settings "$1" port`, "postgres: server.port: the script sets it; leave it out\n"},
		{"cache=1\n", `read_settings "$1"; printf 'data.cache\nwal\n' | know_settings`, "postgres: server.cache: the server has no such setting; did you mean data.cache?\n"},
		{"wal=1\n", `read_settings "$1"; printf 'data.cache\nwal\n' | know_settings`, ""},
		{"a.b=2\n", `read_settings "$1"; printf 'a.b=1\na.bc=3\n' >"$1/conf"; override_settings "$1/conf" =; cat "$1/conf"`, "a.bc=3\na.b=2\n"},
	} {
		if out := run("", c.settings, c.line); out != c.want {
			t.Errorf("%q, %s: %q, want %q", c.settings, c.line, out, c.want)
		}
	}
}
