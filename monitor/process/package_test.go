package process

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// A package's version is that of the newest entry of its changelog, wherever it was unpacked;
// programs without a package have no version.
func TestPackageOf(t *testing.T) {
	root := filepath.Join(t.TempDir(), "usr")
	doc := func(name, text string) {
		t.Helper()
		folder := filepath.Join(root, "share", "doc", name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(folder, "changelog.Debian.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z := gzip.NewWriter(f)
		_, _ = z.Write([]byte(text))
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	doc("victoria-metrics", "victoria-metrics (1.79.5+ds1-2) unstable; urgency=medium\n\n  * Text\n\nvictoria-metrics (1.79.4) unstable;\n")
	doc("other", "no entry (1.0)\n")
	for program, want := range map[string]string{
		filepath.Join(root, "bin", "victoria-metrics"):  "1.79.5+ds1-2",
		filepath.Join(root, "sbin", "victoria-metrics"): "1.79.5+ds1-2",
		filepath.Join(root, "lib", "victoria-metrics"):  "",
		filepath.Join(root, "bin", "other"):             "",
		filepath.Join(root, "bin", "none"):              "",
		"":                                              "",
	} {
		if got := packageOf(program); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}
