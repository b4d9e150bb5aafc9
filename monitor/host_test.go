package monitor

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
)

func TestHost(t *testing.T) {
	start := time.Now()
	h := Host(context.Background(), filepath.Join(t.TempDir(), "not", "there"))
	took := time.Since(start)
	t.Logf("%+v in %s", h, took)
	if took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	if h.Cores < runtime.NumCPU() {
		t.Errorf("%d cores, and %d are usable", h.Cores, runtime.NumCPU())
	}
	if h.Memory < 64<<20 {
		t.Errorf("%d bytes of memory", h.Memory)
	}
	for name, text := range map[string]string{"OS": h.OS, "kernel": h.Kernel, "arch": h.Arch, "CPU": h.CPU, "file system": h.FileSystem} {
		if text == "" && runtime.GOOS == "linux" {
			t.Errorf("%s is empty", name)
		}
		if strings.TrimSpace(text) != text {
			t.Errorf("%s is %q", name, text)
		}
	}
}

func TestMountedAt(t *testing.T) {
	mounts := []disk.PartitionStat{
		{Mountpoint: "/", Fstype: "overlay"},
		{Mountpoint: "/data", Fstype: "xfs"},
		{Mountpoint: "/data/fast", Fstype: "ext4"},
		{Mountpoint: "/data/fast", Fstype: "tmpfs"},
		{Mountpoint: "/home", Fstype: "btrfs"},
	}
	for path, want := range map[string]string{
		"/":             "overlay",
		"/database":     "overlay",
		"/data":         "xfs",
		"/data/faster":  "xfs",
		"/data/fast":    "tmpfs",
		"/data/fast/er": "tmpfs",
		"/home/me":      "btrfs",
	} {
		if got := mountedAt(filepath.FromSlash(path), mounts).Fstype; got != want {
			t.Errorf("%s is on %q, want %q", path, got, want)
		}
	}
	if got := mountedAt("/data", nil).Fstype; got != "" {
		t.Errorf("without mounts: %q", got)
	}
}
