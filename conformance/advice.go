package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// Advises fails unless a server gives advice on exactly these settings, and if it does not report
// them, returns the reason (empty: it reports them).
func Advises(t *testing.T, db driver.DB, reason string, settings ...string) {
	t.Helper()
	found, err := db.Advise(t.Context())
	var got []string
	for _, one := range found {
		got = append(got, one.Setting)
		if one.Value == "" || one.Effect == "" || one.Fix == "" {
			t.Errorf("%+v does not say all", one)
		}
	}
	slices.Sort(got)
	slices.Sort(settings)
	if !slices.Equal(got, settings) {
		t.Errorf("advice on %q, want %q", got, settings)
	}
	if unknown := driver.Unknown(""); (reason == "") != (err == nil) || err != nil && (!errors.As(err, &unknown) || !strings.Contains(err.Error(), reason)) {
		t.Errorf("error %v, want %q", err, reason)
	}
}

// Reads fails unless a server's clock shows a time, and its free space is in the folder, or
// is unknown for the reason.
func Reads(t *testing.T, db driver.DB, shows time.Time, folder, reason string) {
	t.Helper()
	if read, err := db.ReadClock(t.Context()); err != nil || !read.Server.Equal(shows) || read.Unit == 0 || read.Received.Before(read.Sent) {
		t.Errorf("the clock: %+v, %v; want %v", read, err, shows)
	}
	got, free, err := db.FreeSpace(t.Context())
	if unknown := driver.Unknown(""); got != folder || free != -1 || (reason == "") != (err == nil) || err != nil && (!errors.As(err, &unknown) || !strings.Contains(err.Error(), reason)) {
		t.Errorf("the room: %q, %d, %v; want %q, %q", got, free, err, folder, reason)
	}
}
