package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/internal/puppet"
)

// Where a host can hold a server to an amount of memory, one that takes more is killed, its
// children count too, and no control group stays; elsewhere it does not start at all.
func TestMemory(t *testing.T) {
	const limit = 64 << 20
	why := CanLimitMemory()
	begin := func(steps ...string) (*Process, error) {
		dir := t.TempDir()
		ready := filepath.Join(dir, "ready")
		c := Command{Path: puppet.Program(t), Args: puppet.Args(append(steps, "pid:"+ready, "wait:")...), Env: puppet.Env(), Ready: exists(ready), Memory: limit}
		return Start(t.Context(), c)
	}
	small, err := begin("hold:1000000")
	if why != nil {
		if err == nil || !strings.Contains(err.Error(), why.Error()) {
			t.Errorf("this host cannot limit memory (%v), and a server with a limit: %v", why, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	group := small.memory
	if found := memoryGroupOf(small.PID()); found != group || group == "" {
		t.Errorf("the server is in group %q, want %q", found, group)
	}
	if attached, err := Attach(t.Context(), small.PID()); err != nil || attached.memory != group {
		t.Errorf("a server that was found is in group %q, want %q: %v", attached.memory, group, err)
	}
	if err := small.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(string(group)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its control group is still there: %v", err)
	}
	for name, steps := range map[string][]string{"itself": {"hold:200000000"}, "a child": {"run:hold:200000000"}} {
		p, err := begin(steps...)
		if err == nil {
			t.Errorf("a server that takes 200 MB, by %s, lives on with 64 MiB", name)
			_ = p.Kill()
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(string(group)), groupName+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("control groups that are left: %v, %v", left, err)
	}
}
