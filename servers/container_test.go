package servers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeRuntime puts a program called docker in front of PATH, which writes its arguments to a file
// and keeps whether its container runs in another one. It refuses what the file refuse has.
func fakeRuntime(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	script := `#!/bin/sh
cd "$(dirname "$0")"
echo "$* / $POSTGRES_PASSWORD" >>calls
if [ -e refuse ] && [ "$1" = "$(cat refuse)" ]; then
	echo "Unable to find image locally" >&2
	echo "docker: Error response from daemon: no such image." >&2
	echo "See 'docker run --help'." >&2
	exit 125
fi
case $1 in
run) echo true >state; echo 0123456789ab ;;
start) echo true >state ;;
stop) echo false >state ;;
rm) rm -f state ;;
inspect) cat state ;;
logs) echo "first line"; echo "no space left on device" ;;
esac
`
	if err := os.WriteFile(filepath.Join(folder, "docker"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	return folder
}

func calls(t *testing.T, folder string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(folder, "calls"))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// A container is run once, with its ports on 127.0.0.1 and its password in the environment; it is
// known until it is removed, and keeps its port.
func TestContainer(t *testing.T) {
	runtime, b := fakeRuntime(t), Background{Folder: t.TempDir()}
	image, _ := FindImage("timescaledb")
	port, err := b.StartContainer(t.Context(), image, 25_000)
	if err != nil || port != 25_000 {
		t.Fatalf("port %d, %v", port, err)
	}
	want := "run -d --name tsmark-timescaledb -p 127.0.0.1:25000:5432 --shm-size 1g -e TIMESCALEDB_TELEMETRY=off -e POSTGRES_PASSWORD " + image.Reference + " / " + Password()
	if got := calls(t, runtime); len(got) != 1 || got[0] != want {
		t.Errorf("calls %q, want %q", got, want)
	}
	known := func(running bool) {
		t.Helper()
		if list, err := b.List(t.Context()); err != nil || len(list) != 1 || list[0] != (Known{"timescaledb", 25_000, running, true}) {
			t.Errorf("known %+v, %v; running should be %v", list, err, running)
		}
	}
	known(true)
	_ = calls(t, runtime)
	if again, err := b.StartContainer(t.Context(), image, 0); err != nil || again != port || strings.Contains(strings.Join(calls(t, runtime), "\n"), "run -d") {
		t.Errorf("started twice: port %d, %v", again, err)
	}
	if _, err := b.StartContainer(t.Context(), image, 25_001); err == nil || !strings.Contains(err.Error(), "has port 25000") {
		t.Errorf("another port: %v", err)
	}
	if _, err := b.Start(t.Context(), fake(t), "timescaledb", 0); err == nil || !strings.Contains(err.Error(), "--container starts it") {
		t.Errorf("the script starts it beside its container: %v", err)
	}
	if err := b.Stop(t.Context(), "timescaledb", false); err != nil {
		t.Error(err)
	}
	known(false)
	if output, err := b.ContainerState(t.Context(), "timescaledb"); err != nil || !strings.HasSuffix(output, "no space left on device") {
		t.Errorf("an ended container: %q, %v", output, err)
	}
	_ = calls(t, runtime)
	if again, err := b.StartContainer(t.Context(), image, 0); err != nil || again != port || !strings.Contains(strings.Join(calls(t, runtime), "\n"), "start tsmark-timescaledb") {
		t.Errorf("started after a stop: port %d, %v", again, err)
	}
	if err := b.Stop(t.Context(), "timescaledb", true); err != nil {
		t.Error(err)
	}
	if got := strings.Join(calls(t, runtime), "\n"); !strings.Contains(got, "rm --force --volumes tsmark-timescaledb") {
		t.Errorf("not removed: %q", got)
	}
	if left, err := os.ReadDir(b.Folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The runtime's own error is passed on in one line, and nothing is left behind.
func TestContainerRefused(t *testing.T) {
	runtime, b := fakeRuntime(t), Background{Folder: t.TempDir()}
	if err := os.WriteFile(filepath.Join(runtime, "refuse"), []byte("run"), 0o644); err != nil {
		t.Fatal(err)
	}
	image, _ := FindImage("griddb")
	if _, err := b.StartContainer(t.Context(), image, 0); err == nil || err.Error() != "docker run: docker: Error response from daemon: no such image." {
		t.Errorf("%v", err)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("known %+v, %v", list, err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := b.StartContainer(t.Context(), image, 0); err == nil || !strings.HasPrefix(err.Error(), "neither docker nor podman is on PATH") {
		t.Errorf("without a runtime: %v", err)
	}
}

// A container that is there after a failed start, of this folder of servers or of another, is named and
// stays.
func TestContainerLeft(t *testing.T) {
	runtime, b := fakeRuntime(t), Background{Folder: t.TempDir()}
	image, _ := FindImage("griddb")
	if _, err := b.StartContainer(t.Context(), image, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(runtime, "refuse"), []byte("run"), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = calls(t, runtime)
	other := Background{Folder: t.TempDir()}
	if _, err := other.StartContainer(t.Context(), image, 0); err == nil || !strings.HasSuffix(err.Error(), "docker rm --volumes tsmark-griddb removes the container of this name with its data") {
		t.Errorf("%v", err)
	}
	if got := strings.Join(calls(t, runtime), "\n"); strings.Contains(got, "rm ") {
		t.Errorf("removed: %q", got)
	}
}

// The pages of the documentation have the commands of the images, whole.
func TestImageCommands(t *testing.T) {
	for page, of := range map[string][]string{
		"own-server.md": {"griddb", "influxdb", "questdb", "tdengine", "timescaledb"}, "drivers/griddb.md": {"griddb"}, "drivers/tdengine.md": {"tdengine"},
	} {
		text, err := os.ReadFile(filepath.Join("..", "docs", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		for _, server := range of {
			image, ok := FindImage(server)
			if !ok || !strings.Contains(string(text), "\n    "+image.Command()+"\n") {
				t.Errorf("docs/%s lacks\n    %s", page, image.Command())
			}
		}
	}
}
