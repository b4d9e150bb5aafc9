package result

import (
	"fmt"
	"math"
	"strings"
)

// Noise is the activity of the machine during a measurement that neither tsmark nor the target's
// own server caused, from readings at its start and end. Unreadable figures are absent. Judge sets
// Reasons and Unknown.
type Noise struct {
	Wall  float64 `json:"wall"`  // seconds
	Cores float64 `json:"cores"` // of the machine: Wall times Cores is all available CPU time
	// Others is the CPU seconds of programs other than tsmark and the target's server, including
	// the servers of other targets, and of interrupts. It lies between OthersMin and OthersMax:
	// clocks tick every 10 ms, which matters in short phases.
	Others    Value `json:"others"`
	OthersMin Value `json:"others_min"` // see Others
	OthersMax Value `json:"others_max"` // see Others
	// Most names the program among them that used the most CPU; empty: unknown.
	Most string `json:"most,omitempty"`
	// Steal is the CPU seconds that the hypervisor gave to other machines.
	Steal Value `json:"steal"`
	// Periods is the number of scheduling periods that the CPU limits of tsmark's control group
	// counted, and Throttled the number of periods in which tsmark was throttled; with nested
	// groups, of the group that was throttled most. Absent: there is no limit.
	Periods   Value `json:"periods"`
	Throttled Value `json:"throttled"` // see Periods
	// Seconds in which some program waited for a processor, for memory that had to be freed or read
	// back first, or for storage (Linux's pressure stall information, "some"). Databases cause the
	// first and the last themselves, so only memory is judged.
	CPUStall    Value `json:"cpu_stall"`
	MemoryStall Value `json:"memory_stall"` // seconds in which some program waited for memory
	IOStall     Value `json:"io_stall"`     // seconds in which some program waited for storage
	// Swapped is the number of bytes swapped out and back in; MajorFaults is the number of pages of
	// programs or mapped files that had to be read from storage.
	Swapped     Value `json:"swapped"`
	MajorFaults Value `json:"major_faults"` // see Swapped

	Bound float64 `json:"bound"` // bound that Judge applied, as a share of the CPU time
	// Reasons are why the host was noisy, in words; none: it was quiet, as far as known.
	Reasons []string `json:"reasons,omitempty"`
	// Unknown lists figures that could not be read, with the reasons; empty: all were read.
	Unknown string `json:"unknown,omitempty"`
}

// Bounds beyond which the host is noisy. docs/measuring.md says why.
const (
	QuietShare     = 0.10 // of the machine's CPU time: other programs and stolen time, each
	quietThrottled = 0.05 // of the scheduling periods
	quietMemory    = 0.01 // of the time, some program waiting for memory
	quietSwapped   = 1 << 20
)

// TooShort is the value of Noise.Unknown if clocks are too coarse for the phase.
const TooShort = "too short to measure"

// NewNoise returns a record with all figures absent.
func NewNoise(wall, cores float64) Noise {
	no := Absent()
	return Noise{
		Wall: wall, Cores: cores, Others: no, OthersMin: no, OthersMax: no, Steal: no, Periods: no, Throttled: no,
		CPUStall: no, MemoryStall: no, IOStall: no, Swapped: no, MajorFaults: no,
	}
}

// OthersShare is the part of the machine's CPU time that other programs used; absent: unknown.
func (n *Noise) OthersShare() Value { return min(1, ratio(n.Others, Value(n.Wall*n.Cores))) }

// StealShare is the part of the machine's CPU time that the hypervisor took.
func (n *Noise) StealShare() Value { return ratio(n.Steal, Value(n.Wall*n.Cores)) }

// ThrottledShare is the part of the scheduling periods in which a CPU limit throttled tsmark.
func (n *Noise) ThrottledShare() Value { return ratio(n.Throttled, n.Periods) }

// MemoryShare is the part of the time in which some program waited for memory.
func (n *Noise) MemoryShare() Value { return ratio(n.MemoryStall, Value(n.Wall)) }

// Judge decides whether the host was noisy: whether other programs certainly used more than the
// bound, a share of all CPU time, and so on. If the measurement is too uncertain it records that in
// Unknown.
func (n *Noise) Judge(bound float64) {
	n.Bound, n.Reasons = bound, nil
	if n.Unknown == TooShort {
		n.Unknown = ""
	}
	capacity := Value(n.Wall * n.Cores)
	share := func(v Value) string { return fmt.Sprintf("%.0f %%", 100*float64(v)) }
	if n.Others.IsKnown() && capacity > 0 {
		switch {
		case n.OthersMin > Value(bound)*capacity:
			why := "other processes used " + share(n.OthersShare()) + " of the CPU"
			if n.Most != "" {
				why += ", most of it " + n.Most
			}
			n.Reasons = append(n.Reasons, why)
		case n.OthersMax > Value(bound)*capacity:
			n.Unknown = TooShort
		}
	}
	// The clock of stolen time ticks every 10 ms.
	if s := n.StealShare(); s.IsKnown() && n.Steal-0.01 > Value(bound)*capacity {
		n.Reasons = append(n.Reasons, "the hypervisor took "+share(s)+" of the CPU (steal)")
	}
	if s := n.ThrottledShare(); s.IsKnown() && s > quietThrottled {
		n.Reasons = append(n.Reasons, "a CPU limit held tsmark back in "+share(s)+" of the scheduling periods")
	}
	if s := n.MemoryShare(); s.IsKnown() && s > quietMemory {
		n.Reasons = append(n.Reasons, "programs waited for memory in "+share(s)+" of the time")
	}
	if n.Swapped.IsKnown() && n.Swapped > quietSwapped {
		n.Reasons = append(n.Reasons, fmt.Sprintf("%.0f MiB went to and from swap", float64(n.Swapped)/(1<<20)))
	}
}

// Noisy says why the host was noisy; empty: it was quiet, or was not observed.
func (n *Noise) Noisy() string {
	if n == nil {
		return ""
	}
	return strings.Join(n.Reasons, "; ")
}

// Contended reports whether other processes used the processors, or kept them from programs of this
// machine, beyond the bound.
func (n *Noise) Contended() bool {
	if n == nil {
		return false
	}
	only := *n
	only.MemoryStall, only.Swapped = Absent(), Absent()
	only.Judge(n.Bound)
	return len(only.Reasons) > 0
}

// AddNoise merges phases of one measurement, such as the rounds of a query type, and judges them by
// the bound of the first phase: their sum is more exact than each phase. Nil: no phase has any.
func AddNoise(phases ...*Noise) *Noise {
	var sum *Noise
	most, error2 := Value(-1), 0.0
	for _, n := range phases {
		if n == nil {
			continue
		}
		if sum == nil {
			first := *n
			sum = &first
		} else {
			sum.add(n)
		}
		// Tick errors of several readings partly cancel out.
		error2 += math.Pow(float64(n.OthersMax-n.OthersMin)/2, 2)
		if n.Others > most && n.Most != "" {
			most, sum.Most = n.Others, n.Most
		}
	}
	if sum == nil {
		return nil
	}
	if middle := (sum.OthersMin + sum.OthersMax) / 2; middle.IsKnown() {
		// An exact bound, such as the usage of observed processes, remains.
		sum.OthersMin = max(sum.OthersMin, min(middle-Value(math.Sqrt(error2)), sum.Others))
		sum.OthersMax = min(sum.OthersMax, max(middle+Value(math.Sqrt(error2)), sum.Others))
	}
	sum.Judge(sum.Bound)
	return sum
}

// add adds all figures of a phase.
func (n *Noise) add(other *Noise) {
	// Phases measured on one machine have the same number of cores.
	n.Wall += other.Wall
	for _, v := range []struct{ to, from *Value }{
		{&n.Others, &other.Others}, {&n.OthersMin, &other.OthersMin}, {&n.OthersMax, &other.OthersMax}, {&n.Steal, &other.Steal},
		{&n.Periods, &other.Periods}, {&n.Throttled, &other.Throttled}, {&n.CPUStall, &other.CPUStall},
		{&n.MemoryStall, &other.MemoryStall}, {&n.IOStall, &other.IOStall}, {&n.Swapped, &other.Swapped}, {&n.MajorFaults, &other.MajorFaults},
	} {
		*v.to += *v.from // absent if either is
	}
	if n.Unknown == "" || n.Unknown == TooShort {
		n.Unknown = other.Unknown
	}
}

// Disturbance says why a measurement was disturbed, as a whole or in how many of its phases, such
// as the rounds of a query type. Empty: it was not, as far as known.
func Disturbance(phases ...*Noise) string {
	known, noisy, why := 0, 0, ""
	for _, n := range phases {
		if n == nil {
			continue
		}
		known++
		if n.Noisy() != "" {
			noisy, why = noisy+1, n.Noisy()
		}
	}
	sum := AddNoise(phases...).Noisy()
	switch {
	case sum != "" && noisy > 0 && noisy < known:
		return fmt.Sprintf("%s (in %d of %d phases by itself)", sum, noisy, known)
	case sum != "":
		return sum
	case noisy > 0 && known > 1:
		return fmt.Sprintf("%s (in %d of %d phases)", why, noisy, known)
	}
	return why
}
