package outfile

import (
	"os"
	"path/filepath"
	"testing"
)

// The bytes are neither compressed nor, where they cannot be written, there in
// part.
func TestWriteBytes(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "log.zst")
	if err := WriteBytes(name, []byte("as it is")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "as it is" {
		t.Errorf("%q, %v", got, err)
	}
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "inside"), 0o777); err != nil {
		t.Fatal(err)
	}
	if WriteBytes(taken, nil) == nil || WriteBytes(filepath.Join(dir, "none", "x"), nil) == nil {
		t.Error("no error")
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
