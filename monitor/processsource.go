package monitor

import (
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
)

// costShare limits the cost of looking for a missing server to 1/costShare of the time.
const costShare = 200

// processSource reads processes and all that descend from them.
type processSource struct {
	what     string
	find     func(context.Context) ([]int, error)
	roots    []int
	tracker  process.Tracker
	family   family
	nextFind time.Time // when to look for the roots again
}

// PortSource reads the server that listens on a TCP port of this machine, and
// its children; of several ports, the processes of all of them. A server that is
// restarted is found again.
func PortSource(ports ...int) Source {
	return &processSource{
		what: fmt.Sprintf("%s on %s, and %s children", english.PluralWord(len(ports), "the process that listens", "the processes that listen"), portsText(ports), english.PluralWord(len(ports), "its", "their")),
		find: func(ctx context.Context) ([]int, error) { return process.ByPort(ctx, ports...) },
	}
}

// UnknownSource is the source of a server whose processes cannot be found: each reading
// returns err.
func UnknownSource(err error) Source { return unknownSource{err} }

type unknownSource struct{ err error }

// Read implements Source.
func (u unknownSource) Read(context.Context) (Reading, error) { return Reading{}, u.err }

// portsText names ports, at least one.
func portsText(ports []int) string {
	if len(ports) == 1 {
		return fmt.Sprintf("port %d", ports[0])
	}
	words := make([]string, len(ports))
	for i, port := range ports {
		words[i] = strconv.Itoa(port)
	}
	return "ports " + english.WordSeries(words, "and")
}

// PIDSource reads a process and its children.
func PIDSource(pid int) Source {
	return &processSource{
		what: fmt.Sprintf("process %d and its children", pid),
		find: func(ctx context.Context) ([]int, error) {
			_, err := process.Lookup(ctx, pid)
			return []int{pid}, err
		},
	}
}

// ProgramSource reads a process, the servers that listen on TCP ports of this machine, and the children
// of all of them.
func ProgramSource(pid int, ports ...int) Source {
	s := PIDSource(pid).(*processSource)
	if len(ports) == 0 {
		return s
	}
	s.what = fmt.Sprintf("process %d, %s, and their children", pid, english.PluralWord(len(ports), "the process that listens on ", "the processes that listen on ")+portsText(ports))
	s.find = func(ctx context.Context) ([]int, error) {
		listening, err := process.ByPort(ctx, ports...)
		return append(listening, pid), err
	}
	return s
}

// Read implements Source. Its counters start at 0 with the first call, and go
// on where processes are restarted.
func (s *processSource) Read(ctx context.Context) (Reading, error) {
	r := Reading{Cores: runtime.NumCPU(), Measure: s.what}
	if !s.family.began {
		table, err := process.Table(ctx)
		if err != nil {
			return r, err
		}
		s.family.begin(startsOf(table))
	}
	var members []observed
	for range 2 { // again if the server has ended: another may have replaced it
		pids, err := s.look(ctx)
		if err != nil {
			return r, err
		}
		if members = readAll(pids); s.rootLives(members) {
			break
		}
		s.roots = nil
	}
	if len(members) == 0 {
		return r, fmt.Errorf("%s: gone", s.what)
	}
	now := map[int]member{}
	for _, m := range members {
		now[m.pid] = m.member
	}
	s.family.update(now)
	r.Values = s.values(members)
	return r, nil
}

// look returns the processes and their descendants. It searches for the processes if none is known.
func (s *processSource) look(ctx context.Context) ([]int, error) {
	if len(s.roots) == 0 {
		begin := time.Now()
		if begin.Before(s.nextFind) {
			return nil, nil
		}
		roots, err := s.find(ctx)
		s.nextFind = time.Now().Add(costShare * time.Since(begin))
		if err != nil {
			return nil, err
		}
		s.roots = roots
	}
	infos, err := s.tracker.Tree(ctx, s.roots...)
	if err != nil {
		return nil, err
	}
	pids := make([]int, len(infos))
	for i, p := range infos {
		pids[i] = p.PID
	}
	return pids, nil
}

// observed is a member of the family and its gauges; NaN: not known.
type observed struct {
	pid int
	member
	rss, openFiles, threads float64
}

// readAll reads the processes that still exist.
func readAll(pids []int) []observed {
	var all []observed
	for _, pid := range pids {
		if m, err := observe(pid); err == nil { // else it has ended
			all = append(all, m)
		}
	}
	return all
}

func (s *processSource) rootLives(members []observed) bool {
	for _, m := range members {
		for _, root := range s.roots {
			if m.pid == root && !m.ended {
				return true
			}
		}
	}
	return false
}

// values adds the members up.
func (s *processSource) values(members []observed) map[result.Metric]float64 {
	v := map[result.Metric]float64{}
	addCPU(v, s.family.total.user, s.family.total.system)
	v[result.CPU] = s.family.total.cpu
	v[result.DiskRead], v[result.DiskWritten] = s.family.total.read, s.family.total.written
	for _, m := range members {
		if m.ended {
			continue
		}
		v[result.Processes]++
		v[result.RSS] += m.rss
		v[result.OpenFiles] += m.openFiles
		v[result.Threads] += m.threads
	}
	dropUnknown(v)
	return v
}

// dropUnknown removes NaN values: a sum with a missing part is unknown.
func dropUnknown(v map[result.Metric]float64) {
	for m, value := range v {
		if math.IsNaN(value) {
			delete(v, m)
		}
	}
}

// startsOf returns when each process of a table started.
func startsOf(table []process.Info) map[int]int64 {
	starts := make(map[int]int64, len(table))
	for _, p := range table {
		starts[p.PID] = p.Started
	}
	return starts
}

// members returns the processes that were there when it was read last.
func (s *processSource) members() []int { return slices.Collect(maps.Keys(s.family.last)) }
