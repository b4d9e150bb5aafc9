package allow_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/run/allow"
)

// A target is permitted by its driver and its address, or by its host alone; similar targets are
// not.
func TestTargets(t *testing.T) {
	l := allow.List{Targets: []string{"postgres@db1:5432", "questdb@db2", "mysql@::1", "griddb@https://provider/x", "cassandra@a,b"}}
	for _, target := range []string{"postgres@db1:5432", "postgres@DB1:5432", "questdb@db2:9000", "questdb@db2:8812", "mysql@[::1]:3306", "griddb@https://provider/x", "cassandra@a,b:9042"} {
		if err := l.Check(allow.Needs{Targets: []string{target}}); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
	for _, target := range []string{
		"postgres@db1:5433", "postgres@db2:5432", "postgres@db1,evil:5432", "postgres@evil,db1:5432", "mysql@db1:5432", "questdb@db2.evil:9000", "questdb@evil@db2:9000", "questdb@db2:9000/@evil:1",
		"griddb@https://provider/y", "postgres", "postgres@", "", "cassandra@a:9042", "questdb@",
	} {
		err := l.Check(allow.Needs{Targets: []string{target}})
		if err == nil || !strings.Contains(err.Error(), "does not allow "+target+"; start it with --allow ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", target, err)
		}
	}
	if err := (allow.List{}).Check(allow.Needs{}); err != nil {
		t.Error(err)
	}
}

// Files in permitted folders are permitted, and no name leads out of them.
func TestFiles(t *testing.T) {
	l := allow.List{Files: []string{"own", "/data/one.csv", "/many/*.csv"}}
	for _, name := range []string{"own", "own/a.csv", "./own/a.csv", "own/sub/*.csv", "/data/one.csv", "/many/*.csv"} {
		if err := l.Check(allow.Needs{Files: []string{name}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"/etc/shadow", "ownership.csv", "own/../secret", "own/link/../../x", "/data/one.csv.key", "/data", "/", ".", "/many/a.csv", "../own/a.csv"} {
		if err := l.Check(allow.Needs{Files: []string{name}}); err == nil || !strings.Contains(err.Error(), "does not allow reading "+name+"; start it with --allow-files ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (allow.List{Files: []string{"/"}}).Check(allow.Needs{Files: []string{"/any/file"}}); err != nil {
		t.Error(err)
	}
}

func TestCheckTarget(t *testing.T) {
	known := func(name string) error {
		if name != "postgres" {
			return errors.New("unknown driver")
		}
		return nil
	}
	for _, text := range []string{"postgres@db1", "postgres@db1:5432", "postgres@/run/postgresql"} {
		if err := allow.CheckTarget(text, known); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{"postgres": "must be DRIVER@HOST", "@db1": "must be", "postgres@": "must be", "postgres@a b": "must be", "oracle@db1": "unknown driver"} {
		if err := allow.CheckTarget(text, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The flags for the needs can be copied to a shell.
func TestFlags(t *testing.T) {
	var n allow.Needs
	n.Add(allow.Needs{Targets: []string{"postgres@db1:5432"}, Files: []string{"my data/*.csv"}})
	n.Add(allow.Needs{Targets: []string{"postgres@db1:5432", "mysql@[::1]:3306"}})
	if got, want := n.Flags(), " --allow 'mysql@[::1]:3306' --allow postgres@db1:5432 --allow-files 'my data/*.csv'"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if (allow.Needs{}).Flags() != "" {
		t.Error("nothing needs flags")
	}
}
