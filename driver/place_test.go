package driver

import (
	"path/filepath"
	"testing"
)

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	for _, pair := range [][2]string{
		{FilePlace(filepath.Join(dir, "x.db")), FilePlace(filepath.Join(dir, "a", "..", ".", "x.db"))},
		{AddressPlace("localhost", "1"), AddressPlace("127.0.0.1", "1")},
		{AddressPlace("::1", "1"), AddressPlace("LocalHost", "1")},
		{AddressPlace("DB.example.", "1"), AddressPlace("db.example", "1")},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%q and %q", pair[0], pair[1])
		}
	}
	if FilePlace("") != "" || AddressPlace("a", "1") == AddressPlace("a", "2") || AddressPlace("127.0.0.2", "1") == AddressPlace("127.0.0.1", "1") {
		t.Error("different places are one")
	}
}
