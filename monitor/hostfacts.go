package monitor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// addFacts reads facts about the machine, and about the device that holds the results, from the
// kernel's files below root, which is / except in tests. Only Linux has these files.
func addFacts(h *result.Host, root, device string) {
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	h.Disk = diskFact(at("sys/block"), at("sys/class/block"), device)
	h.ClockSource = word(at("sys/devices/system/clocksource/clocksource0/current_clocksource"))
	h.Governor = word(at("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
	h.Turbo = turbo(word(at("sys/devices/system/cpu/intel_pstate/no_turbo")), word(at("sys/devices/system/cpu/cpufreq/boost")))
	if nodes, err := filepath.Glob(at("sys/devices/system/node/node[0-9]*")); err == nil {
		h.NUMANodes = len(nodes)
	}
	addLimits(h, root)
}

// addLimits reads the limits of the control groups, version 2, that tsmark is
// in: of each group on the way up the least counts.
func addLimits(h *result.Host, root string) {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for path = filepath.Clean("/" + path); ; path = filepath.Dir(path) {
			group := filepath.Join(root, "sys/fs/cgroup", path)
			if cores := cpuLimit(word(filepath.Join(group, "cpu.max"))); cores > 0 && (h.CPULimit == 0 || cores < h.CPULimit) {
				h.CPULimit = cores
			}
			if bytes := readNumber(filepath.Join(group, "memory.max")); bytes < math.MaxUint64 && (h.MemoryLimit == 0 || bytes < h.MemoryLimit) {
				h.MemoryLimit = bytes
			}
			if path == "/" {
				return
			}
		}
	}
}

// cpuLimit parses cpu.max, "200000 100000": microseconds of CPU per period, and the period in
// microseconds. "max" means unlimited.
func cpuLimit(text string) float64 {
	quota, period, _ := strings.Cut(text, " ")
	q, err := strconv.ParseFloat(quota, 64)
	if err != nil {
		return 0
	}
	p, err := strconv.ParseFloat(period, 64)
	if err != nil || p <= 0 {
		return 0
	}
	return q / p
}

// turbo brings the two ways in which kernels tell it together.
func turbo(noTurbo, boost string) string {
	switch {
	case noTurbo == "1" || noTurbo == "" && boost == "0":
		return "off"
	case noTurbo == "0" || boost == "1":
		return "on"
	}
	return ""
}

// diskFact describes the disk of a device: "nvme0n1: Samsung SSD 980 PRO, SSD". A volume made of
// several disks has no model.
func diskFact(blocks, classes, device string) string {
	if device == "" {
		return ""
	}
	name := device
	dir := filepath.Join(blocks, name)
	if _, err := os.Stat(dir); err != nil {
		// A partition: its folder lies in that of its disk.
		real, err := filepath.EvalSymlinks(filepath.Join(classes, device))
		if err != nil {
			return ""
		}
		dir = filepath.Dir(real)
		name = filepath.Base(dir)
	}
	var parts []string
	if model := word(filepath.Join(dir, "device/model")); model != "" {
		parts = append(parts, model)
	}
	switch rotates := word(filepath.Join(dir, "queue/rotational")); {
	case strings.HasPrefix(name, "vd") || strings.HasPrefix(name, "xvd"):
		parts = append(parts, "virtual") // the hypervisor's statement about rotation is not reliable
	case rotates == "0":
		parts = append(parts, "SSD")
	case rotates == "1":
		parts = append(parts, "rotating")
	}
	if len(parts) == 0 {
		return name
	}
	return fmt.Sprintf("%s: %s", name, strings.Join(parts, ", "))
}

// word reads a file of one line; empty: it cannot be read.
func word(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), " ")
}
