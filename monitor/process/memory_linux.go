package process

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// memoryGroup is the folder of a control group that limits the memory of a server; empty: no group.
type memoryGroup string

// groupName begins the names of groups that were made here.
const groupName = "tsmark-"

// limit limits the group's memory, without swap; version is that of the control groups.
func (g memoryGroup) limit(version int, bytes int64) error {
	most := strconv.FormatInt(bytes, 10)
	file, swapFile, swap := "memory.max", "memory.swap.max", "0"
	if version == 1 { // there the limit of swap is one of memory and swap together
		file, swapFile, swap = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", most
	}
	if err := g.write(file, most); err != nil {
		return err
	}
	if err := g.write(swapFile, swap); !errors.Is(err, fs.ErrNotExist) { // a kernel without swap lacks it
		return err
	}
	return nil
}

// limitMemory limits the memory of a process and of all processes that it starts from now on.
func limitMemory(of Info, bytes int64) (memoryGroup, error) {
	parent, version, err := groupsFolder("/proc/self")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(parent, fmt.Sprintf("%s%d-%d", groupName, of.PID, of.Started))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("making a control group: %w", whyNot(err))
	}
	g := memoryGroup(dir)
	if err = g.limit(version, bytes); err == nil {
		err = g.write("cgroup.procs", strconv.Itoa(of.PID))
	}
	if err != nil {
		return "", errors.Join(err, g.remove())
	}
	return g, nil
}

func (g memoryGroup) write(file, value string) error {
	// The kernel has the file or does not support it.
	f, err := os.OpenFile(filepath.Join(string(g), file), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("setting %s of a control group: %w", file, whyNot(err))
	}
	_, err = f.WriteString(value)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("setting %s of a control group: %w", file, whyNot(err))
	}
	return nil
}

// remove removes the group, whose processes have ended: the kernel may still count them for a
// moment.
func (g memoryGroup) remove() error {
	if g == "" {
		return nil
	}
	var err error
	for range 100 {
		if err = os.Remove(string(g)); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("removing a control group: %w", err)
}

// memoryGroupOf returns the group that limitMemory has put a process into; empty: none.
func memoryGroupOf(pid int) memoryGroup {
	mounts, err := groupMounts("/proc/self")
	if err != nil {
		return ""
	}
	m, path, err := memoryAt(mounts, fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil || !strings.HasPrefix(filepath.Base(path), groupName) {
		return ""
	}
	return memoryGroup(m.folder(path))
}

// CanLimitMemory says why Command.Memory cannot be kept on this host; nil: it can.
func CanLimitMemory() error {
	parent, version, err := groupsFolder("/proc/self")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, groupName+"try-")
	if err != nil {
		return fmt.Errorf("making a control group: %w", whyNot(err))
	}
	g := memoryGroup(dir)
	return errors.Join(g.limit(version, 1<<30), g.remove())
}

// groupsFolder returns the folder in which a process can create control groups for memory, and
// their version; proc is the folder of the process below /proc. In version 2 the new group is a
// sibling of the process's own: a group with processes cannot have subgroups (Linux,
// Documentation/admin-guide/cgroup-v2.rst, "No Internal Process Constraint").
func groupsFolder(proc string) (folder string, version int, err error) {
	mounts, err := groupMounts(proc)
	if err != nil {
		return "", 0, err
	}
	m, own, err := memoryAt(mounts, filepath.Join(proc, "cgroup"))
	if err != nil {
		return "", 0, err
	}
	if m.version == 1 {
		return m.folder(own), 1, nil
	}
	parent := m.folder(filepath.Dir(own))
	controllers, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
	if err != nil {
		return "", 0, fmt.Errorf("looking for control groups: %w", whyNot(err))
	}
	if !slices.Contains(strings.Fields(string(controllers)), "memory") {
		return "", 0, errors.New("control groups beside tsmark's own have no limit of memory")
	}
	return parent, 2, nil
}

// groupMount is a mount of a hierarchy of control groups.
type groupMount struct {
	version int
	root    string // path of the mounted folder in the hierarchy
	at      string
	memory  bool // version 1: it is the memory hierarchy
}

// folder returns the folder of a group of the hierarchy.
func (m groupMount) folder(path string) string {
	return filepath.Join(m.at, strings.TrimPrefix(path, m.root))
}

// groupMounts returns the control group mounts that a process sees, from proc_pid_mountinfo(5).
func groupMounts(proc string) ([]groupMount, error) {
	f, err := os.Open(filepath.Join(proc, "mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", whyNot(err))
	}
	defer f.Close()
	var list []groupMount
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		of, about, _ := strings.Cut(lines.Text(), " - ")
		place, kind := strings.Fields(of), strings.Fields(about)
		if len(place) < 5 || len(kind) < 3 {
			continue
		}
		m := groupMount{root: strings.TrimSuffix(place[3], "/"), at: place[4]}
		switch kind[0] {
		case "cgroup":
			m.version, m.memory = 1, slices.Contains(strings.Split(kind[2], ","), "memory")
		case "cgroup2":
			m.version = 2
		default:
			continue
		}
		list = append(list, m)
	}
	return list, lines.Err()
}

// memoryAt finds the hierarchy that counts the memory of a process, and the path of its
// group there, by its file of cgroups(7).
func memoryAt(mounts []groupMount, file string) (groupMount, string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return groupMount{}, "", fmt.Errorf("looking for control groups: %w", whyNot(err))
	}
	var unified string
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			if i := slices.IndexFunc(mounts, func(m groupMount) bool { return m.memory }); i >= 0 {
				return mounts[i], parts[2], nil
			}
		case parts[0] == "0":
			unified = parts[2]
		}
	}
	if i := slices.IndexFunc(mounts, func(m groupMount) bool { return m.version == 2 }); i >= 0 && unified != "" {
		return mounts[i], unified, nil
	}
	return groupMount{}, "", errors.New("no control groups for memory are mounted")
}
