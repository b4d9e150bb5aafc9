package monitor

import (
	"slices"
	"strings"
	"unicode"
)

// wholeDisks returns the names of the disks whose sum is the machine's traffic. Partitions, and
// volumes made of disks (device mapper, software RAID), would count the same bytes twice; RAM and
// loop devices are not disks.
func wholeDisks(names []string) []string {
	var whole []string
	for _, name := range names {
		if hasPrefix(name, "loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd") {
			continue
		}
		if disk := diskOf(name); disk == name || !slices.Contains(names, disk) {
			whole = append(whole, name)
		}
	}
	return whole
}

// diskOf returns the disk of a partition according to Linux's names (sda1 on sda, nvme0n1p2 on
// nvme0n1), and other names unchanged.
func diskOf(name string) string {
	disk := strings.TrimRightFunc(name, unicode.IsDigit)
	if disk == name {
		return name
	}
	if hasPrefix(name, "nvme", "mmcblk") { // their names end in a digit themselves
		if before, ok := strings.CutSuffix(disk, "p"); ok && before != "" && unicode.IsDigit(rune(before[len(before)-1])) {
			return before
		}
		return name
	}
	if hasPrefix(name, "sd", "hd", "vd", "xvd") {
		return disk
	}
	return name
}

// isLoopback recognizes the loopback interface by its name: lo on Linux, lo0 on BSDs and macOS,
// words on Windows.
func isLoopback(name string) bool {
	return name == "lo" || name == "lo0" || strings.HasPrefix(name, "Loopback")
}

// isVirtualInterface reports whether the traffic of an interface also passes through another one:
// bridges, containers' ends, tunnels, VLANs.
func isVirtualInterface(name string) bool {
	return strings.Contains(name, ".") || hasPrefix(name, "veth", "docker", "br-", "virbr", "cni", "flannel", "cali",
		"vxlan", "tun", "tap", "wg", "ifb", "dummy", "bond", "team", "utun", "bridge", "podman", "lxc")
}

func hasPrefix(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
