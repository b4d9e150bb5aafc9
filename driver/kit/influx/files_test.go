package influx_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tsmark/tsmark/driver/kit/influx"
)

// TestBesides checks that the preallocated series file counts with its allocated blocks, and that the
// server's own files are recognised by their lengths.
func TestBesides(t *testing.T) {
	root := t.TempDir()
	shard := influx.Shard{Path: filepath.Join(root, "data", "db", "autogen", "1"), WAL: filepath.Join(root, "wal", "db", "autogen", "1")}
	file := func(length int64, path ...string) {
		t.Helper()
		name := filepath.Join(path...)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, length); err != nil {
			t.Fatal(err)
		}
	}
	file(8<<20, shard.Path, "000000001-000000001.tsm") // with a hole, as none of the server's has
	file(1000, shard.Path, "index", "0", "L0-00000001.tsl")
	file(1000, shard.WAL, "_00001.wal")
	for _, part := range []string{"00", "01", "02"} {
		file(4<<20, root, "data", "db", "_series", part, "0000")
	}
	extra, err := influx.UncountedBytes([]influx.Shard{shard}, 8<<20+1000)
	if err != nil {
		t.Fatal(err)
	}
	if extra < 4000 || extra > 1<<20 {
		t.Errorf("index and series take %d bytes, want the 4,000 written ones in their blocks", extra)
	}
	if _, err := influx.UncountedBytes([]influx.Shard{shard}, 20<<20); err == nil {
		t.Error("files of another length were taken for the server's")
	}
}
