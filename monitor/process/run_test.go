package process

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/puppet"
)

// shell is a command line for sh that takes the puppet's steps.
func shell(t *testing.T, steps ...string) string {
	return "'" + strings.Join(append([]string{puppet.Program(t)}, puppet.Args(steps...)...), "' '") + "'"
}

// What a command leaves in the background is not waited for, and lives on.
func TestRunLeavesServers(t *testing.T) {
	dir := t.TempDir()
	file, log := filepath.Join(dir, "pid"), filepath.Join(dir, "restart.log")
	begin := time.Now()
	if err := Run(t.Context(), shell(t, "print:up", "pid:"+file, "wait:")+" &", log); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	pid := puppet.Number(t, file)
	left, err := Attach(t.Context(), pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := left.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), "echo no disk today; exit 3", log); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no disk today") || strings.Contains(err.Error(), "up\n") {
		t.Errorf("%v", err)
	}
}

// One that does not end is killed with its children when its time is over.
func TestRunEnds(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pid")
	over := errors.New("it takes too long")
	ctx, cancel := context.WithCancelCause(t.Context())
	pids := make(chan int, 1)
	go func() {
		pids <- puppet.Number(t, file)
		cancel(over)
	}()
	if err := Run(ctx, shell(t, "pid:"+file, "wait:")+"; echo never", filepath.Join(dir, "log")); !errors.Is(err, over) {
		t.Errorf("%v", err)
	}
	for pid := <-pids; ; time.Sleep(10 * time.Millisecond) {
		if _, err := Lookup(context.Background(), pid); err != nil {
			return
		}
	}
}
