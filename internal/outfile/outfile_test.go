package outfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// TestMain lets this program stand in for one that writes to a pipe: see
// TestClosedPipe.
func TestMain(m *testing.M) {
	if os.Getenv("OUTFILE_TEST_WRITE_STDOUT") == "" {
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGPIPE)
	f, err := Create("-")
	for err == nil {
		_, err = f.Write(make([]byte, 64<<10))
	}
	fmt.Fprintln(os.Stderr, err, errors.Is(err, syscall.EPIPE), f.Commit())
}

func create(t *testing.T, name string) *File {
	t.Helper()
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, f *File, text string) {
	t.Helper()
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
}

// contents returns the names in a folder and the text of each regular file.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for _, e := range entries {
		text := e.Type().String()
		if e.Type().IsRegular() {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		texts[e.Name()] = text
	}
	return texts
}

func expect(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if got := contents(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("folder holds %q, want %q", got, want)
	}
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	f := create(t, name)
	write(t, f, "one")
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the name is taken before Commit: %v", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	if err := f.Commit(); err != nil {
		t.Errorf("second Commit: %v", err)
	}
	expect(t, dir, map[string]string{"a.txt": "one"})
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(name, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	f := create(t, name)
	write(t, f, "new")
	f.Discard()
	f.Discard()
	expect(t, dir, map[string]string{"a.txt": "old"})

	f = create(t, name)
	write(t, f, "new")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	expect(t, dir, map[string]string{"a.txt": "new"})
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("permissions of the replaced file: %v, %v", info.Mode(), err)
	}
}

func TestCompression(t *testing.T) {
	text := strings.Repeat("cpu,hostname=host_0 usage_user=58i\n", 100_000)
	readers := map[string]func(io.Reader) (io.Reader, error){
		"a.gz":  func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"a.zst": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	}
	for name, open := range readers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f := create(t, filepath.Join(dir, name))
			write(t, f, text)
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			data := contents(t, dir)[name]
			if len(data) > len(text)/100 {
				t.Errorf("%d bytes became %d", len(text), len(data))
			}
			r, err := open(strings.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, []byte(text)) {
				t.Errorf("read back %d bytes of %d: %v", len(got), len(text), err)
			}
			f = create(t, filepath.Join(dir, name))
			write(t, f, text)
			f.Discard()
			expect(t, dir, map[string]string{name: data})
		})
	}
}

func TestSymlinks(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"data", "deep/er"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{
		"relative":     "data/old.txt",
		"absolute":     filepath.Join(dir, "data", "old.txt"),
		"second":       "relative",
		"dangling":     "data/new.txt",
		"folder":       "deep/er",
		"deep/er/link": "../up.txt", // reached by folder/link: up from deep/er, not from folder
	}
	for link, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "old.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, file := range map[string]string{
		"relative": "data/old.txt", "absolute": "data/old.txt", "second": "data/old.txt",
		"dangling": "data/new.txt", "folder/link": "deep/up.txt",
	} {
		f := create(t, filepath.Join(dir, link))
		write(t, f, "through "+link)
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || string(got) != "through "+link {
			t.Errorf("by %s, %s holds %q, %v", link, file, got, err)
		}
		if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link %s was replaced: %v", link, err)
		}
	}
}

// A file that is not regular keeps its type.
func TestInPlace(t *testing.T) {
	f := create(t, os.DevNull)
	write(t, f, "gone")
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&fs.ModeDevice == 0 {
		t.Fatalf("%s is no longer a device: %v", os.DevNull, err)
	}

	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.gz")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		defer close(read)
		r, err := os.Open(pipe)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Error(err)
			return
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
		}
		read <- string(data)
	}()
	f = create(t, pipe)
	write(t, f, "through a pipe")
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	if got := <-read; got != "through a pipe" {
		t.Errorf("read %q", got)
	}
	expect(t, dir, map[string]string{"pipe.gz": fs.ModeNamedPipe.String()[:1] + "---------"})
}

// An open file that has lost its name is written, not its folder.
func TestOpenFileWithoutName(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	name := fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip("needs a system with /proc")
	}
	if err := os.Remove(file.Name()); err != nil {
		t.Fatal(err)
	}
	f := create(t, name)
	write(t, f, "nameless")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(file); err != nil || string(got) != "nameless" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	const want = "cannot write /dev/full: no space left on device; free space there, or choose another file system"
	f := create(t, "/dev/full")
	if _, err := f.Write([]byte("x")); err == nil || err.Error() != want || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Write: %v", err)
	}
	if err := f.Commit(); err == nil || err.Error() != want {
		t.Errorf("Commit: %v", err)
	}
	f.Discard()

	// What a compressor held back shows at the end.
	link := filepath.Join(t.TempDir(), "full.gz")
	if err := os.Symlink("/dev/full", link); err != nil {
		t.Fatal(err)
	}
	f = create(t, link)
	write(t, f, "x")
	if err := f.Commit(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Commit: %v", err)
	}
}

// A failed Write leaves nothing, even where later ones succeed.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	f := create(t, filepath.Join(dir, "a.txt"))
	write(t, f, "one")
	failure := errors.New("broken")
	f.w = writerFunc(func([]byte) (int, error) { return 0, failure })
	if _, err := f.Write(nil); !errors.Is(err, failure) {
		t.Errorf("Write: %v", err)
	}
	f.w = f.f
	write(t, f, "two")
	if err := f.Commit(); !errors.Is(err, failure) {
		t.Errorf("Commit: %v", err)
	}
	expect(t, dir, nil)
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", "loop"); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 300)
	for name, want := range map[string]string{
		"no/such/a.gz": "cannot write no/such/a.gz: no such file or directory; create the folder no/such first, or choose another",
		"file/a":       "cannot write file/a: not a directory; a part of the path is a file: choose another folder",
		".":            "cannot write .: is a directory; give the name of a file, in it or elsewhere",
		"new/":         "cannot write new/: is a directory; give the name of a file, in it or elsewhere",
		"loop":         "cannot write loop: too many levels of symbolic links; fix the link, or choose another name",
		long:           "cannot write " + long + ": file name too long; choose a shorter name",
	} {
		f, err := Create(name)
		if err == nil {
			f.Discard()
			t.Errorf("Create(%q) succeeded", name)
			continue
		}
		if err.Error() != want {
			t.Errorf("Create(%q)\n got %s\nwant %s", name, err, want)
		}
	}
}

// Permissions do not bind root, who may run the tests: the system's errors
// are given by hand.
func TestExplain(t *testing.T) {
	for cause, want := range map[error]string{
		&fs.PathError{Op: "open", Path: "/d/.a.tmp", Err: syscall.EACCES}:      "cannot write /d/a: permission denied; choose a folder that you may write to, or change the permissions of /d",
		&os.LinkError{Op: "rename", Old: "x", New: "y", Err: syscall.EACCES}:   "cannot write /d/a: permission denied; choose a folder that you may write to, or change the permissions of /d",
		&fs.PathError{Op: "open", Path: "/d/.a.tmp", Err: syscall.EROFS}:       "cannot write /d/a: read-only file system; choose a folder on another file system",
		&fs.PathError{Op: "write", Path: "/d/.a.tmp", Err: syscall.EDQUOT}:     "cannot write /d/a: disk quota exceeded; free space there, or choose another file system",
		&fs.PathError{Op: "write", Path: "/d/.a.tmp", Err: syscall.EIO}:        "cannot write /d/a: input/output error",
		fmt.Errorf("zstd: %w", &fs.PathError{Op: "write", Err: syscall.EPIPE}): "cannot write /d/a: broken pipe; the program that reads it has ended",
	} {
		if got := explain("/d/a", cause); got.Error() != want {
			t.Errorf("%v\n got %s\nwant %s", cause, got, want)
		}
	}
	if got, want := explain("s3://b/a", fs.ErrNotExist), "; it is a URL, and tsmark writes files: name a file, and upload it afterwards"; !strings.HasSuffix(got.Error(), want) {
		t.Errorf("%v\nwant its end %s", got, want)
	}
}

// A reader that ends early shows as an error, not as a killed program.
func TestClosedPipe(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "OUTFILE_TEST_WRITE_STDOUT=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, 10)); err != nil {
		t.Error(err)
	}
	if err := stdout.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	const message = "cannot write standard output: broken pipe; the program that reads it has ended"
	if got, want := stderr.String(), message+" true "+message+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// A file that is being written is never a leftover, whichever process checks; other temporary files
// are.
func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "page.html")
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	RemoveLeftovers(dir)
	if _, err := f.Write([]byte("whole")); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "whole" {
		t.Fatalf("%q, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".page.html.0badcafe.tmp"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	RemoveLeftovers(dir)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
