package servers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// registry returns scripts whose questdb says that the registry has these versions, after its default,
// and has 8.0.0, which it does not list. The file refuse makes it unreachable.
func registry(t *testing.T, lines ...string) Scripts {
	t.Helper()
	s := Scripts{t.TempDir()}
	script := `#!/bin/sh
[ ! -e "$(dirname "$0")/refuse" ] || { echo "no network" >&2; exit 1; }
case $1 in
versions) printf '%s\n' ` + strings.Join(lines, " ") + ` ;;
offers) [ "$TSMARK_VERSION_QUESTDB" = 8.0.0 ] ;;
esac
`
	if err := os.WriteFile(filepath.Join(s.folder, "questdb"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReadOffer(t *testing.T) {
	s := registry(t, "2.0.1-beta", "9.10.0", "9.2.0", "2.0.1-beta", "9.3.0-rc1", "9.2.0")
	offer, err := s.readOffer(t.Context(), "questdb", offerAge)
	if err != nil || offer.Default != "2.0.1-beta" || !slices.Equal(offer.All, []string{"2.0.1-beta", "9.2.0", "9.3.0-rc1", "9.10.0"}) ||
		!slices.Equal(offer.Stable(), []string{"2.0.1-beta", "9.2.0", "9.10.0"}) {
		t.Errorf("%+v, stable %q, %v", offer, offer.Stable(), err)
	}
	// A cached list needs no registry, and an old one is used without a registry.
	if err := os.WriteFile(filepath.Join(s.folder, "refuse"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, age := range []time.Duration{offerAge, 0} {
		if again, err := s.readOffer(t.Context(), "questdb", age); err != nil || !slices.Equal(again.All, offer.All) {
			t.Errorf("without a registry, at most %v old: %+v, %v", age, again, err)
		}
	}
	if err := os.RemoveAll(filepath.Join(s.folder, "versions")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.readOffer(t.Context(), "questdb", offerAge); err == nil || !strings.HasSuffix(err.Error(), "versions of questdb: no network") && !strings.HasSuffix(err.Error(), "about questdb: no network") {
		t.Errorf("%v", err)
	}
}

func TestResolve(t *testing.T) {
	s := registry(t, "9.3.4", "9.2.0", "9.2.3", "9.2.10", "9.3.0-rc1", "9.3.4")
	for wanted, want := range map[string]string{
		"9.2.3": "9.2.3", "9.2": "9.2.10", "9": "9.3.4", "9.3.0-rc1": "9.3.0-rc1", "8.0.0": "8.0.0",
		"9.2.4": "the registry has no version 9.2.4 of questdb; the nearest are 9.2.0, 9.2.3, 9.2.10, 9.3.4; tsmark server versions questdb lists all",
		"10":    "the registry has no version 10 of questdb; the nearest are 9.2.10, 9.3.4; tsmark server versions questdb lists all",
	} {
		got, err := s.resolve(t.Context(), "questdb", wanted)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s is %s, want %s", wanted, got, want)
		}
	}
	alone := registry(t, "9.3.4", "9.3.4")
	if _, err := alone.resolve(t.Context(), "questdb", "9.2"); err == nil || err.Error() != "tsmark installs questdb in one version, 9.3.4, and not in version 9.2" {
		t.Errorf("%v", err)
	}
}

func TestRange(t *testing.T) {
	s := registry(t, "9.3.4", "8.1.4", "8.2.0", "9.0.1", "9.0.3", "9.1.0", "9.2.0", "9.2.3", "9.3.0-rc1", "9.3.4")
	for _, c := range []struct{ spec, every, want string }{
		{"questdb@8.2..9.0", "", "questdb@8.2.0 questdb@9.0.1 questdb@9.0.3"},
		{"questdb@8.0..9.2", "minor", "questdb@8.1.4 questdb@8.2.0 questdb@9.0.3 questdb@9.1.0 questdb@9.2.3"},
		{"questdb@..9.0.1", "major", "questdb@8.2.0 questdb@9.0.1"},
		{"questdb@9.2..", "", "questdb@9.2.0 questdb@9.2.3 questdb@9.3.4"},
		{"questdb@9.3,9.0.1,9.3.4,8.1", "", "questdb@8.1.4 questdb@9.0.1 questdb@9.3.4"},
		{"questdb@1..2", "", "the registry has no version 1..2 of questdb; "},
		{"questdb@9.3..9.1", "", "questdb@9.3..9.1: the range ends before it begins; write questdb@9.1..9.3"},
		{"questdb@9.2.3..9.2", "", "questdb@9.2.3"},
		{"questdb@9.x..9.3", "", "the registry has no version 9.x of questdb; "},
		{"questdb@9.9", "", "the registry has no version 9.9 of questdb; "},
		{"questdb", "", `"questdb" names no versions; write questdb@FIRST..LAST`},
		{"questdb@9.2..", "week", `--every "week": must be patch, minor or major`},
	} {
		list, err := s.listRange(t.Context(), c.spec, c.every)
		got := strings.Join(list, " ")
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.HasPrefix(got, c.want) {
			t.Errorf("%s, every %q: %s, want %s", c.spec, c.every, got, c.want)
		}
	}
}

// Two versions of a server run at once, each with its own files; the tests beside them learn the
// version.
func TestVersionsSideBySide(t *testing.T) {
	scripts, b := fake(t), Background{Folder: t.TempDir()}
	var ports []int
	for _, name := range []string{"questdb@9.2.3", "questdb@9.3.4"} {
		port, err := b.Start(t.Context(), scripts, name, 0)
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port)
		text, err := os.ReadFile(filepath.Join(b.Folder, name, dataFolder, "version"))
		if err != nil || "questdb@"+strings.TrimSpace(string(text)) != name {
			t.Errorf("%s started as %s, %v", name, text, err)
		}
	}
	known, err := b.List(t.Context())
	if err != nil || !slices.Equal(known, []Known{{"questdb@9.2.3", ports[0], true, false}, {"questdb@9.3.4", ports[1], true, false}}) {
		t.Errorf("known %+v, %v", known, err)
	}
	for _, k := range known {
		if err := b.Stop(t.Context(), k.Name, true); err != nil {
			t.Error(err)
		}
	}
	var temporary Temporary
	address, _, err := temporary.Start(t.Context(), scripts, "questdb@9.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"TSMARK_TEST_QUESTDB=" + address, "TSMARK_VERSION_QUESTDB=9.2.3"}; !slices.Equal(temporary.Variables(), want) {
		t.Errorf("variables %q, want %q", temporary.Variables(), want)
	}
	if err := temporary.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
