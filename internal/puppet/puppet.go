// Package puppet lets a test binary act as a server: restarted with a list of steps, it listens,
// burns CPU, writes files, forks children, and obeys or ignores signals, so that tests can compare
// measurements with known actions. Only tests import it.
package puppet

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// flag says, as first argument, that steps follow.
const flag = "puppet-steps"

// longest is the lifetime of a puppet that is not stopped.
const longest = 2 * time.Minute

// Main runs the tests, or the steps if the binary was started with Args. A TestMain calls it.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == flag {
		time.AfterFunc(longest, func() { os.Exit(9) })
		for _, step := range os.Args[2:] {
			if err := take(step); err != nil {
				fmt.Fprintln(os.Stderr, step, err)
				os.Exit(8)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Program is the path of the running test binary.
func Program(t testing.TB) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Env returns the environment for a puppet: a program with the race detector would sleep for a
// second at its end.
func Env() []string { return []string{"GORACE=atexit_sleep_ms=0"} }

// Args are the arguments with which the binary takes the steps in turn:
//
//	print:TEXT      prints TEXT, in which $NAME stands for the environment's
//	listen:FILE     listens on a port of 127.0.0.1 and writes its number
//	serve:PORT      listens on that port of 127.0.0.1
//	pid:FILE        writes its process number
//	burn:SECONDS    computes until it has used so much CPU
//	write:FILE:N    writes N bytes and forces them to disk
//	hold:N          touches and keeps N bytes of memory
//	run:STEP|STEP   starts a child with these steps and waits for it
//	fork:STEP|STEP  starts a child and goes on; the child is reaped when it ends
//	deaf:           ignores SIGTERM from now on
//	await:FILE      waits until the file exists
//	exit:STATUS     ends
//	wait:           lives on until it is stopped
func Args(steps ...string) []string { return append([]string{flag}, steps...) }

func take(step string) error {
	verb, rest, _ := strings.Cut(step, ":")
	switch verb {
	case "print":
		fmt.Println(os.ExpandEnv(rest))
	case "listen":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go accept(l)
		return appear(rest, l.Addr().(*net.TCPAddr).Port)
	case "serve":
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", rest))
		if err != nil {
			return err
		}
		go accept(l)
	case "pid":
		return appear(rest, os.Getpid())
	case "burn":
		return burn(rest)
	case "write":
		name, bytes, _ := strings.Cut(rest, ":")
		return write(name, bytes)
	case "hold":
		return hold(rest)
	case "run", "fork":
		child := exec.Command(os.Args[0], Args(strings.Split(rest, "|")...)...)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return err
		}
		if verb == "run" {
			return child.Wait()
		}
		go child.Wait()
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	case "await":
		for {
			if _, err := os.Stat(rest); err == nil {
				return nil
			}
			time.Sleep(5 * time.Millisecond)
		}
	case "exit":
		status, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		os.Exit(status)
	case "wait":
		time.Sleep(longest)
	default:
		return fmt.Errorf("not a step")
	}
	return nil
}

func accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Close()
	}
}

// appear writes a number to a file atomically.
func appear(name string, number int) error {
	if err := os.WriteFile(name+".part", []byte(strconv.Itoa(number)+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".part", name)
}

// burn computes on one core. It measures CPU time used, not elapsed time: the machine may be busy.
func burn(seconds string) error {
	wanted, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	self := process.Process{Pid: int32(os.Getpid())}
	for begin := -1.0; ; {
		times, err := self.Times()
		if err != nil {
			return err
		}
		used := times.User + times.System
		if begin < 0 {
			begin = used
		}
		if used-begin >= wanted {
			return nil
		}
		for i := range 3_000_000 {
			runtime.KeepAlive(i)
		}
	}
}

func write(name, bytes string) error {
	n, err := strconv.Atoi(bytes)
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for block := make([]byte, 1<<20); n > 0; n -= len(block) {
		if _, err := f.Write(block[:min(n, len(block))]); err != nil {
			return err
		}
	}
	return f.Sync()
}

func hold(bytes string) error {
	n, err := strconv.Atoi(bytes)
	if err != nil {
		return err
	}
	memory := make([]byte, n)
	for i := 0; i < n; i += os.Getpagesize() {
		memory[i] = 1
	}
	time.AfterFunc(longest, func() { runtime.KeepAlive(memory) })
	return nil
}

// Number waits for a file that a step writes and returns the number in it.
func Number(t testing.TB, file string) int {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Fatalf("%s did not appear", file)
	return 0
}
