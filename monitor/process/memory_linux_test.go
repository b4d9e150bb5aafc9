package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/internal/puppet"
)

// Control groups are made below tsmark's own in version 1, beside it in version 2, and not where
// these have no limit of memory.
func TestGroupsFolder(t *testing.T) {
	const v1 = "36 25 0:32 / AT/memory rw - cgroup cgroup rw,memory\n37 25 0:33 / AT/cpu rw - cgroup cgroup rw,cpu\n"
	const v2 = "30 25 0:26 / AT/unified rw - cgroup2 cgroup2 rw\n"
	for name, c := range map[string]struct {
		mounts, own, controllers string // controllers: of the root of version 2
		folder                   string
		version                  int
	}{
		"version 1":                   {v1, "4:memory:/a/b\n", "", "memory/a/b", 1},
		"both":                        {v1 + v2, "4:memory:/a\n0::/c\n", "memory", "memory/a", 1},
		"version 2":                   {v2, "0::/a/b.scope\n", "cpu memory", "unified/a", 2},
		"version 2, below":            {"30 25 0:26 /pod AT/unified rw - cgroup2 cgroup2 rw\n", "0::/pod/b\n", "memory", "unified", 2},
		"version 2, no memory":        {v2, "0::/a/b.scope\n", "cpu", "", 0},
		"version 2, memory in 1 only": {v1 + v2, "0::/a/b.scope\n", "cpu", "", 0},
		"none":                        {"", "0::/\n", "", "", 0},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"mountinfo": strings.ReplaceAll(c.mounts, "AT", dir), "cgroup": c.own, "unified/cgroup.subtree_control": c.controllers, "unified/a/cgroup.subtree_control": c.controllers} {
			file = filepath.Join(dir, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		folder, version, err := groupsFolder(dir)
		if want := filepath.Join(dir, c.folder); (err == nil) != (c.version > 0) || err == nil && (folder != want || version != c.version) {
			t.Errorf("%s: %s of version %d, %v", name, folder, version, err)
		}
	}
}

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
