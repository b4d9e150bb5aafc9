package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tsmark/tsmark/engine"
)

// A resumed run removes the files of answers that were being written when it was killed, and keeps
// complete ones.
func TestUnfinishedAnswersAreSwept(t *testing.T) {
	dir := Answers(filepath.Join(t.TempDir(), "taken-answers"))
	if err := dir.RemoveUnfinished(); err != nil {
		t.Errorf("without files: %v", err)
	}
	kept := Phase{"duck", "lastpoint", 1}
	if err := dir.Put(kept, []engine.Answered{{}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		file, err := os.CreateTemp(string(dir), unfinishedAnswers)
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.RemoveUnfinished(); err != nil {
		t.Error(err)
	}
	names, err := filepath.Glob(filepath.Join(string(dir), "*"))
	if err != nil || len(names) != 1 || names[0] != dir.path(kept) {
		t.Errorf("it has %v, %v", names, err)
	}
	dir.Drop(kept)
	if _, err := os.Stat(string(dir)); err == nil {
		t.Error("the folder stays")
	}
}
