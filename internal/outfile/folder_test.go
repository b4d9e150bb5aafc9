package outfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func createFolder(t *testing.T, name string, files map[string]string) *Folder {
	t.Helper()
	f, err := CreateFolder(name)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		w, err := f.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestFolderCommit(t *testing.T) {
	for _, existing := range []string{"", "empty", "link"} {
		dir := t.TempDir()
		name := filepath.Join(dir, "out")
		final := name
		switch existing {
		case "empty":
			if err := os.Mkdir(name, 0o750); err != nil {
				t.Fatal(err)
			}
		case "link":
			final = filepath.Join(dir, "elsewhere")
			if err := os.Symlink("elsewhere", name); err != nil {
				t.Fatal(err)
			}
		}
		f := createFolder(t, name+"/", map[string]string{"a": "one", "b": ""})
		if entries, _ := os.ReadDir(final); len(entries) > 0 {
			t.Errorf("%q: files stand under the name before Commit", existing)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		f.Discard()
		if err := f.Commit(); err != nil {
			t.Errorf("second Commit: %v", err)
		}
		expect(t, final, map[string]string{"a": "one", "b": ""})
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("%q: left behind: %q", existing, left)
		}
		if info, err := os.Stat(final); err != nil || existing == "empty" && info.Mode().Perm() != 0o750 {
			t.Errorf("permissions of the replaced folder: %v, %v", info.Mode(), err)
		}
	}
}

func TestFolderDiscard(t *testing.T) {
	dir := t.TempDir()
	f := createFolder(t, filepath.Join(dir, "out"), map[string]string{"a": "one"})
	f.Discard()
	f.Discard()
	expect(t, dir, map[string]string{})
}

// A file or folder that appears under the name in the meantime is kept.
func TestFolderTaken(t *testing.T) {
	for _, taken := range []string{"out/kept", "out"} {
		dir := t.TempDir()
		f := createFolder(t, filepath.Join(dir, "out"), map[string]string{"a": "one"})
		kept := filepath.Join(dir, taken)
		if err := os.MkdirAll(filepath.Dir(kept), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(kept, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err == nil {
			t.Errorf("%s: Commit replaced it", taken)
		}
		if text, err := os.ReadFile(kept); string(text) != "mine" {
			t.Errorf("%s holds %q, %v", taken, text, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("%s: left behind: %q", taken, left)
		}
	}
}

func TestFolderRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, problem := range map[string]string{
		dir:                              "the folder is not empty; choose another name, or empty it first",
		filepath.Join(dir, "file"):       "it is not a folder; choose another name",
		filepath.Join(dir, "file", "x"):  "choose another folder",
		filepath.Join(dir, "none", "x"):  "create the folder " + filepath.Join(dir, "none") + " first",
		"/dev/null":                      "it is not a folder; choose another name",
		"/proc/out":                      "cannot write /proc/out: ",
		filepath.Join(dir, "file") + "/": "it is not a folder",
	} {
		_, err := CreateFolder(name)
		if err == nil || !strings.Contains(err.Error(), problem) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want a line with %q", name, err, problem)
		}
	}
	expect(t, dir, map[string]string{"file": "old"})

	f := createFolder(t, filepath.Join(dir, "out"), map[string]string{"a": ""})
	defer f.Discard()
	for _, name := range []string{"../a", "b/c", "", ".", "..", "a"} {
		if _, err := f.Create(name); err == nil {
			t.Errorf("a file %q was created", name)
		}
	}
}

// A folder is replaced only where its owner says so, and whole.
func TestReplaceFolder(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	refusal := errors.New("it is somebody's; choose another name")
	for n, c := range []struct {
		ours func(string) error
		want map[string]string
	}{
		{func(string) error { return refusal }, map[string]string{"out/a/b": "first"}}, // there is nothing yet to look at
		{func(string) error { return nil }, map[string]string{"out/c": "second"}},
		{func(string) error { return refusal }, map[string]string{"out/c": "second"}},
	} {
		f, err := ReplaceFolder(name, c.ours)
		if n == 2 {
			if err == nil || err.Error() != "cannot write "+name+": "+refusal.Error() {
				t.Errorf("%v, want %v", err, refusal)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range c.want {
			if err := f.WriteBytes(strings.TrimPrefix(file, "out/"), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		for file, want := range c.want {
			if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(text) != want {
				t.Errorf("%s: %q, %v", file, text, err)
			}
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	if _, err := os.Stat(filepath.Join(name, "a")); err == nil {
		t.Error("files of the old folder are in the new one")
	}
	// What became somebody else's in the meantime stays.
	looked := 0
	f, err := ReplaceFolder(name, func(string) error {
		if looked++; looked > 1 {
			return refusal
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); !errors.Is(err, refusal) {
		t.Errorf("%v, want %v", err, refusal)
	}
	expect(t, name, map[string]string{"c": "second"})
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	f = createFolder(t, filepath.Join(dir, "other"), nil)
	defer f.Discard()
	for _, bad := range []string{"../a", "/a", "", ".", "a/../b"} {
		if err := f.WriteBytes(bad, nil); err == nil {
			t.Errorf("a file %q was written", bad)
		}
	}
}
