package disk_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/tsmark/tsmark/driver/kit/disk"
)

const mebi = 1 << 20

// TestAllocated checks that a sparse file counts with its blocks, and that a file written just before
// counts completely although nothing forced it to disk.
func TestAllocated(t *testing.T) {
	folder := t.TempDir()
	sparse := filepath.Join(folder, "below", "sparse")
	if err := os.Mkdir(filepath.Dir(sparse), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, sparse, make([]byte, 1))
	if err := os.Truncate(sparse, 32*mebi); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(folder, "full")
	noise := make([]byte, 3*mebi) // which no file system can compress
	_, _ = rand.Read(noise)
	write(t, full, noise)

	got, err := disk.Folder(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got.Length != 35*mebi {
		t.Errorf("the length is %d, want %d", got.Length, 35*mebi)
	}
	if got.Allocated < 3*mebi || got.Allocated > 4*mebi {
		t.Errorf("%d bytes are allocated, want the 3 MiB that were written and the first block of the file of 32", got.Allocated)
	}
	files, err := disk.Files(sparse, full, filepath.Join(folder, "none"))
	if err != nil || files != got {
		t.Errorf("the files are %+v (%v), the folder %+v", files, err, got)
	}
}

// TestAbsent checks that missing files and folders have size 0.
func TestAbsent(t *testing.T) {
	if got, err := disk.Folder(filepath.Join(t.TempDir(), "none")); err != nil || got != (disk.Size{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
