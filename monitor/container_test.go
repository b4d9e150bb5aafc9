package monitor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
)

// write makes files below a folder.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestContainerSource(t *testing.T) {
	root := t.TempDir()
	const id = "4fa6e0f0c678"
	group := "system.slice/docker-" + id + "6786290b16f7d3e.scope/"
	write(t, root, map[string]string{
		group + "cpu.stat":    "usage_usec 3500000\nuser_usec 2000000\nsystem_usec 1500000\nnr_periods 0\n",
		group + "memory.stat": "anon 4096\nfile 99999\n",
		group + "io.stat":     "8:0 rbytes=100 wbytes=200 rios=3 wios=4 dbytes=0 dios=0\n259:1 rbytes=1 wbytes=2 rios=1 wios=1\n",
		"cpu/docker/" + id + "6786290b16f7d3e/cpu.stat": "nr_periods 0\n", // version 1
	})
	source := &containerSource{id: id, roots: []string{filepath.Join(root, "not", "there"), root}}
	r, err := source.Read(t.Context())
	// The file with the threads is not there: that alone is absent.
	if err == nil || !strings.Contains(err.Error(), "threads") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	compare(t, r.Values, map[result.Metric]float64{
		result.CPU: 3.5, result.CPUUser: 2, result.CPUSystem: 1.5, result.RSS: 4096,
		result.DiskRead: 101, result.DiskWritten: 202, result.DiskReads: 4, result.DiskWrites: 5,
	})
	write(t, root, map[string]string{group + "pids.current": "17\n", group + "io.stat": ""})
	if r, err = source.Read(t.Context()); err != nil || r.Values[result.Threads] != 17 || r.Values[result.DiskRead] != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := os.RemoveAll(filepath.Join(root, "system.slice")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // noticed, and then not found
		if r, err = source.Read(t.Context()); err == nil || len(r.Values) > 0 {
			t.Errorf("a container that ended: %+v, %v", r, err)
		}
	}
	if _, err := ContainerSource("mydb").Read(t.Context()); err == nil || !strings.Contains(err.Error(), "not its name") {
		t.Errorf("a name: %v", err)
	}
}

func TestFacts(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"sys/block/nvme0n1/device/model":                                  "Samsung SSD 980 PRO   \n",
		"sys/block/nvme0n1/queue/rotational":                              "0\n",
		"sys/block/nvme0n1/nvme0n1p2/size":                                "1",
		"sys/block/sda/device/model":                                      "Big  Disk",
		"sys/block/sda/queue/rotational":                                  "1",
		"sys/block/vda/queue/rotational":                                  "1",
		"sys/block/dm-0/size":                                             "1",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "powersave\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo":                    "1\n",
		"sys/devices/system/node/node0/x":                                 "",
		"sys/devices/system/node/node1/x":                                 "",
		"proc/self/cgroup":                                                "3:cpuset:/\n0::/kube/pod/container\n",
		"sys/fs/cgroup/kube/pod/cpu.max":                                  "150000 100000\n",
		"sys/fs/cgroup/kube/pod/memory.max":                               "1000\n",
		"sys/fs/cgroup/kube/pod/container/cpu.max":                        "max 100000\n",
		"sys/fs/cgroup/kube/pod/container/memory.max":                     "2000\n",
	})
	if err := os.MkdirAll(filepath.Join(root, "sys/class/block"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../block/nvme0n1/nvme0n1p2", filepath.Join(root, "sys/class/block/nvme0n1p2")); err != nil {
		t.Fatal(err)
	}
	var got result.Host
	addFacts(&got, root, "nvme0n1p2")
	want := result.Host{
		Disk: "nvme0n1: Samsung SSD 980 PRO, SSD", ClockSource: "tsc", Governor: "powersave", Turbo: "off",
		NUMANodes: 2, CPULimit: 1.5, MemoryLimit: 1000,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for device, want := range map[string]string{
		"sda": "sda: Big Disk, rotating", "vda": "vda: virtual", "dm-0": "dm-0", "sdz": "", "": "",
	} {
		var h result.Host
		if addFacts(&h, root, device); h.Disk != want {
			t.Errorf("disk of %q is %q, want %q", device, h.Disk, want)
		}
	}
	var nothing result.Host
	if addFacts(&nothing, t.TempDir(), "sda"); nothing != (result.Host{}) {
		t.Errorf("of an empty machine: %+v", nothing)
	}
}

func TestTurbo(t *testing.T) {
	for _, c := range [][3]string{{"1", "", "off"}, {"0", "", "on"}, {"", "1", "on"}, {"", "0", "off"}, {"", "", ""}} {
		if got := turbo(c[0], c[1]); got != c[2] {
			t.Errorf("no_turbo %q, boost %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
