package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// sulkyInflux plays an InfluxDB that answers only when it is greeted, for a
// minute: sulkyinflux PORT FILE writes its number to the file; a further argument
// makes it deaf to SIGTERM.
func sulkyInflux() {
	if len(os.Args) > 3 {
		signal.Ignore(syscall.SIGTERM)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		os.Exit(3)
	}
	time.AfterFunc(time.Minute, func() { os.Exit(4) })
	pid := fmt.Sprint(os.Getpid())
	_ = os.WriteFile(os.Args[2], []byte(pid), 0o600)
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Influxdb-Version", "1.8.10")
		if r.URL.Path == "/ping" || r.FormValue("q") == "SHOW DATABASES" {
			_, _ = w.Write([]byte(`{"results":[{}]}`))
			return
		}
		<-r.Context().Done()
	}))
}

// sulks starts a load into such a server, which tsmark starts, with flags. Its
// output goes to out.
func sulks(t *testing.T, deaf string, out io.Writer, flags ...string) (tsmark *exec.Cmd, pidFile string) {
	t.Helper()
	dir := t.TempDir()
	pidFile = filepath.Join(dir, "pid")
	file := filepath.Join(dir, "x.yaml")
	text := fmt.Sprintf("name: sulks\ntargets:\n  - driver: influxdb\n    start: sulkyinflux {port} %s %s\nworkload: {scale: 10, log-interval: 1h}\nqueries: {types: [lastpoint]}\n", pidFile, deaf)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tsmark = exec.Command("tsmark", append([]string{"run", file, "--results", filepath.Join(dir, "results")}, flags...)...)
	tsmark.Stdout, tsmark.Stderr = out, out
	if err := tsmark.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tsmark.Process.Kill() })
	return tsmark, pidFile
}

// serverOf waits for the server and returns its number.
func serverOf(t *testing.T, pidFile string, out *bytes.Buffer) (pid int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(pidFile); err == nil {
			if n, _ := fmt.Sscan(string(text), &pid); n == 1 {
				return pid
			}
		}
	}
	t.Fatalf("no server was started:\n%s", out)
	return 0
}

// ends waits for tsmark's end, and returns its exit status.
func ends(t *testing.T, tsmark *exec.Cmd, within time.Duration) int {
	t.Helper()
	timer := time.AfterFunc(within, func() { _ = tsmark.Process.Kill() })
	defer timer.Stop()
	err := tsmark.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return tsmark.ProcessState.ExitCode()
}

// A server that stops answering ends a run with a line that names the operation, the time that
// tsmark waited, and the flag that allows more.
func TestSilentServer(t *testing.T) {
	var out bytes.Buffer
	tsmark, pidFile := sulks(t, "", &out, "--statement-timeout", "1s")
	pid := serverOf(t, pidFile, &out)
	if code := ends(t, tsmark, 40*time.Second); code != app.ExitTarget {
		t.Errorf("exit status %d, want %d", code, app.ExitTarget)
	}
	said := regexp.MustCompile(`(?m)^tsmark: target influxdb failed: .*SHOW.*no answer within 1s; .*--statement-timeout$`)
	if !said.Match(out.Bytes()) {
		t.Errorf("it does not say why:\n%s", &out)
	}
	if _, err := process.Lookup(t.Context(), pid); err == nil {
		t.Error("its server still runs")
	}
}

// The first signal ends in order, which a deaf server delays; the second one ends
// at once and kills the server.
func TestTwoSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			caught := make(chan os.Signal, 1)
			signal.Notify(caught, s) // tests that run under nohup ignore SIGHUP; a child of a process that catches it does not
			defer signal.Stop(caught)
			var out bytes.Buffer
			tsmark, pidFile := sulks(t, "deaf", &out)
			pid := serverOf(t, pidFile, &out)
			time.Sleep(time.Second) // it has been found ready, or is about to be
			for range 2 {
				if err := tsmark.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * sameSignal)
			}
			begin := time.Now()
			if code := ends(t, tsmark, 40*time.Second); code != app.ExitInterrupted {
				t.Errorf("exit status %d, want %d:\n%s", code, app.ExitInterrupted, &out)
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("it went on for %v", took)
			}
			if !strings.Contains(out.String(), "tsmark: stopped immediately") && !strings.Contains(out.String(), "tsmark: interrupted") {
				t.Errorf("it does not say so:\n%s", &out)
			}
			for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				if _, err := process.Lookup(t.Context(), pid); err != nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("its server, process %d, still runs", pid)
				}
			}
		})
	}
}

// A reader of the output that ends, as head does, ends a run in order.
func TestOutputGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	tsmark, pidFile := sulks(t, "", w)
	_ = w.Close()
	pid := serverOf(t, pidFile, new(bytes.Buffer))
	_ = r.Close() // the next line that tsmark prints finds it
	if code := ends(t, tsmark, 40*time.Second); code != app.ExitInterrupted {
		t.Errorf("exit status %d, want %d", code, app.ExitInterrupted)
	}
	if _, err := process.Lookup(t.Context(), pid); err == nil {
		t.Error("its server still runs")
	}
}

// Under nohup SIGHUP is ignored.
func TestHangUpIgnored(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	tsmark := exec.Command("sh", "-c", `trap "" HUP; exec tsmark load sqlite --scale 100 --log-interval 1m --reporting-period 50ms --results "$0"`, dir)
	tsmark.Stdout, tsmark.Stderr = &out, &out
	if err := tsmark.Start(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		time.Sleep(200 * time.Millisecond)
		_ = tsmark.Process.Signal(syscall.SIGHUP) // fails if it has ended, which is allowed
	}
	if code := ends(t, tsmark, time.Minute); code != app.ExitDone {
		t.Errorf("exit status %d:\n%s", code, &out)
	}
}

// An address of metrics that accepts and stays silent ends in a line too.
func TestSilentMetrics(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, key := range []string{"metrics", "exporter"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "x.yaml")
		text := fmt.Sprintf("name: x\ntargets:\n  - {driver: memory, %s: \"http://%s/metrics\"}\nworkload: {scale: 10, log-interval: 1h}\nqueries: {types: [lastpoint]}\ntimeouts: {statement: 300ms}\n", key, l.Addr())
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), []string{"tsmark", "run", "--verbose", "--results", dir, file}, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{memory.Driver("memory")}))
		if code != app.ExitUsage || !strings.Contains(stderr.String(), "no answer within 300ms") || !strings.Contains(stderr.String(), "--statement-timeout") || strings.Count(stderr.String(), "tsmark: ") != 1 {
			t.Errorf("%s: exit status %d: %s", key, code, &stderr)
		}
	}
}
