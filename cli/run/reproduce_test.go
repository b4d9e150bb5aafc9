package run

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
)

// Which hosts are warned of size small.
func TestTooSmall(t *testing.T) {
	for _, c := range []struct {
		host result.Host
		want string
	}{
		{result.Host{Cores: 2, Memory: 8 << 30}, ""},
		{result.Host{Cores: 2, Memory: 76 << 27}, ""}, // 8 GiB, as Linux reports it
		{result.Host{Cores: 64}, ""},                  // the memory could not be read
		{result.Host{Cores: 1, Memory: 8 << 30}, "this host has 1 and 8.0 GiB"},
		{result.Host{Cores: 4, Memory: 2 << 30}, "this host has 4 and 2.0 GiB"},
	} {
		if got := tooSmall(c.host); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%d cores, %d bytes: %q, want %q in it", c.host.Cores, c.host.Memory, got, c.want)
		}
	}
}

// Which data does not fit.
func TestDiskShortfall(t *testing.T) {
	const want = "the databases store about 2.0 GiB of rows at once, before compression, and 1.0 GiB are free in results: free some, choose another folder by --results, or load less by --size"
	for free, want := range map[int64]string{-1: "", 3 << 30: "", 1 << 30: want} {
		if got := diskShortfall(2<<30, free, "results", "--size"); got != want {
			t.Errorf("%d free: %q, want %q", free, got, want)
		}
	}
}
