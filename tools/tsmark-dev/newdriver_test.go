package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNewDriver writes a driver from each kit beside copies of the files that it changes, and
// has the compiler check it as part of the repository.
func TestNewDriver(t *testing.T) {
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	packages := []string{"./driver/all"}
	copied := make(map[string]bool)
	for _, kit := range kits {
		d, err := newDriver("fresh"+kit, kit)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range d.entries() {
			if !copied[e.file] {
				copied[e.file] = true
				copyFile(t, filepath.Join(repository, e.file), filepath.Join(root, e.file))
			}
		}
		written, err := d.write(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range written {
			overlay.Replace[filepath.Join(repository, name)] = filepath.Join(root, name)
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), d.Name) {
				t.Errorf("%s does not mention %s", name, d.Name)
			}
		}
		packages = append(packages, "./driver/db/"+d.Name)
		if _, err := d.write(root); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Errorf("writing %s again: %v", d.Name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	// go vet cannot read an overlay; go list -export compiles packages and their tests.
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-overlay", file, "-export", "-test"}, packages...)...)
	list.Dir = repository
	if out, err := list.CombinedOutput(); err != nil {
		t.Errorf("go list: %v\n%s", err, out)
	}
	script, err := os.Stat(filepath.Join(root, "servers", "freshsql"))
	if err != nil || script.Mode()&0o100 == 0 {
		t.Errorf("the script is not executable: %v", err)
	}
}

func TestNewDriverRefuses(t *testing.T) {
	for _, c := range []struct{ name, kit, problem string }{
		{"Crate-DB", "sql", `name "Crate-DB": use lower-case letters and digits, starting with a letter`},
		{"cratedb", "soap", `--kit "soap": must be one of sql, http, metric`},
	} {
		if _, err := newDriver(c.name, c.kit); err == nil || err.Error() != c.problem {
			t.Errorf("%s, %s: %v", c.name, c.kit, err)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o666); err != nil {
		t.Fatal(err)
	}
}
