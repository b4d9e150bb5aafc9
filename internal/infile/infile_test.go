package infile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/internal/infile"
)

func TestUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	_, missing := os.ReadFile("no.csv")
	_, inFile := os.ReadFile(filepath.Join(os.Args[0], "no.csv"))
	_, directory := os.ReadFile(folder)
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no.csv", missing, "cannot read no.csv: no such file or directory; give its right name; it was looked for from " + folder + " on"},
		{"/no.csv", missing, "cannot read /no.csv: no such file or directory; give its right name"},
		{"s3://bucket/no.csv", missing, "cannot read s3://bucket/no.csv: no such file or directory; it is a URL, and tsmark reads files: download it first"},
		{"a", directory, "cannot read a: is a directory; give the name of a file in it"},
		{"a", inFile, "cannot read a: not a directory; a part of the name is a file and no folder: give its right name"},
		{"a", &fs.PathError{Op: "open", Path: "a", Err: fs.ErrPermission}, "cannot read a: permission denied; let this user read it, as by chmod or chown, or run tsmark as its owner"},
		{"a", errors.New("input/output error"), "cannot read a: input/output error"},
	} {
		got := infile.Unreadable(c.name, c.err)
		if got.Error() != c.want {
			t.Errorf("%v\nwant %s", got, c.want)
		}
	}
	if got := infile.Cannot("import", "/no.csv", missing); !errors.Is(got, fs.ErrNotExist) || !strings.HasPrefix(got.Error(), "cannot import /no.csv: ") {
		t.Error(got)
	}
}

func TestIsURL(t *testing.T) {
	for name, want := range map[string]bool{
		"mysql://h/db": true, "s3://b": true, "Postgres://h": true, "jdbc:postgresql://h/db": true, "file:///tmp/x": true,
		"": false, "results": false, "://x": false, "/a://b": false, `C:\results`: false, "a:b": false, "./x://y": false,
	} {
		if infile.IsURL(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
