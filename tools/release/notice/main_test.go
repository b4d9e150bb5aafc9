package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// Each text appears once with all parts that it covers, including copied code; files that
// are not licences are left out.
func TestCompose(t *testing.T) {
	got, err := compose("example.org/program", []part{
		{"example.org/a v1.0.0", fstest.MapFS{"LICENSE": file("Permission\r\n"), "license.go": file("package a"), "testdata/LICENSE": file("test"), ".x/LICENSE": file("hidden")}, true},
		{"example.org/b v1.0.0", fstest.MapFS{"COPYING.txt": file("Permission\n"), "inner/Licence.md": file("copied"), "README": file("read")}, true},
		{"Go", fstest.MapFS{"LICENSE": file("go"), "src/LICENSE": file("below")}, false},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"contains example.org/program,", "\n  example.org/b v1.0.0\n",
		"=\nexample.org/a v1.0.0\nexample.org/b v1.0.0\n\nPermission\n", "=\nexample.org/b v1.0.0\n\ncopied\n", "=\nGo\n\ngo\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, not := range []string{"package a", "test", "hidden", "read\n", "below\n\n", "\nbelow"} {
		if strings.Contains(got[strings.Index(got, "===="):], not) {
			t.Errorf("%q is in\n%s", not, got)
		}
	}
}

// A module without a licence file stops a release.
func TestNoLicence(t *testing.T) {
	_, err := compose("example.org/program", []part{{"example.org/a v1.0.0", fstest.MapFS{"a.go": file("package a")}, true}})
	if err == nil || err.Error() != "licences of example.org/a v1.0.0: has no licence file" {
		t.Errorf("%v", err)
	}
}
