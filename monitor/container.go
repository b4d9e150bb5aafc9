package monitor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// cgroupRoots are where version 2 of control groups is mounted: alone, or
// beside version 1.
func cgroupRoots() []string { return []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} }

// containerSource reads the files of a control group of version 2.
type containerSource struct {
	id    string
	roots []string
	dir   string
}

// ContainerSource reads a container of this host, by twelve or more digits of
// its id (not its name), from the files of its control group, version 2.
func ContainerSource(id string) Source { return &containerSource{id: id, roots: cgroupRoots()} }

// Read implements Source. A container that is restarted is found again.
func (s *containerSource) Read(ctx context.Context) (Reading, error) {
	r := Reading{Cores: runtime.NumCPU(), Measure: "container " + s.id}
	if s.dir == "" {
		dir, err := findCgroup(ctx, s.roots, s.id)
		if err != nil {
			return r, err
		}
		s.dir = dir
	}
	r.Values = map[result.Metric]float64{}
	problem := errors.Join(s.readCPU(r.Values), s.readMemory(r.Values), s.readIO(r.Values), s.readThreads(r.Values))
	if len(r.Values) == 0 {
		s.dir = "" // it may have ended
	}
	// A group made anew counts from 0: its folder is another one.
	if info, err := os.Stat(s.dir); err == nil {
		r.Incarnation = float64(info.ModTime().UnixNano())
	}
	return r, oneLine(problem)
}

func (s *containerSource) readCPU(v map[result.Metric]float64) error {
	stat, err := keyed(filepath.Join(s.dir, "cpu.stat"))
	if err != nil {
		return fmt.Errorf("cannot read the container's CPU: %w", err)
	}
	const micro = 1e6
	addCPU(v, stat["user_usec"]/micro, stat["system_usec"]/micro)
	return nil
}

func (s *containerSource) readMemory(v map[result.Metric]float64) error {
	stat, err := keyed(filepath.Join(s.dir, "memory.stat"))
	if err != nil {
		return fmt.Errorf("cannot read the container's memory: %w", err)
	}
	// memory.current would count the page cache, which is nobody's need.
	v[result.RSS] = stat["anon"]
	return nil
}

// readIO adds up io.stat: a line a device, "8:0 rbytes=1 wbytes=2 rios=3 wios=4".
func (s *containerSource) readIO(v map[result.Metric]float64) error {
	text, err := os.ReadFile(filepath.Join(s.dir, "io.stat"))
	if err != nil {
		return fmt.Errorf("cannot read the container's disk use: %w", err)
	}
	names := map[string]result.Metric{
		"rbytes": result.DiskRead, "wbytes": result.DiskWritten, "rios": result.DiskReads, "wios": result.DiskWrites,
	}
	for _, m := range names {
		v[m] = 0 // an empty file: no device was used yet
	}
	for field := range strings.FieldsSeq(string(text)) {
		name, number, _ := strings.Cut(field, "=")
		if n, err := strconv.ParseFloat(number, 64); err == nil && names[name] != "" {
			v[names[name]] += n
		}
	}
	return nil
}

func (s *containerSource) readThreads(v map[result.Metric]float64) error {
	text, err := os.ReadFile(filepath.Join(s.dir, "pids.current"))
	if err != nil {
		return fmt.Errorf("cannot read the container's threads: %w", err)
	}
	if n, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil {
		v[result.Threads] = n // it counts tasks, which threads are
	}
	return nil
}

// keyed reads lines of a name and a number.
func keyed(file string) (map[string]float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	numbers := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(number, 64); err == nil {
			numbers[name] = n
		}
	}
	return numbers, nil
}

// findCgroup returns the folder of a container: docker-ID.scope, ID,
// crio-ID.scope, libpod-ID.scope, depending on who runs it.
func findCgroup(ctx context.Context, roots []string, id string) (string, error) {
	if len(id) < 12 {
		return "", fmt.Errorf("container %q: give at least twelve digits of its id (docker ps shows them), not its name", id)
	}
	for _, root := range roots {
		var found string
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || !entry.IsDir():
				return nil // what cannot be read holds no container that can
			case ctx.Err() != nil:
				return ctx.Err()
			case strings.Contains(entry.Name(), id) && isCgroup2(path):
				found = path
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			return "", fmt.Errorf("cannot look for container %s: %w", id, err)
		}
		if found != "" {
			return found, nil
		}
	}
	return "", fmt.Errorf("no container %s with control groups of version 2 runs on this host", id)
}

// isCgroup2 tells version 2, where one folder has all, from version 1. Only
// there cpu.stat holds the time used.
func isCgroup2(dir string) bool {
	stat, err := keyed(filepath.Join(dir, "cpu.stat"))
	_, ok := stat["usage_usec"]
	return err == nil && ok
}
