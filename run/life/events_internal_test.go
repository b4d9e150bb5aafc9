package life

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tsmark/tsmark/query"
)

// A driver whose writers keep rows back until others arrive cannot have an event that needs all rows written, and
// writes on.
func TestWritersThatKeepRowsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &life{ctx: t.Context(), handed: 100}
		l.phase.Acked, l.phase.Written = func() int64 { return 90 }, make(chan struct{})
		begin := time.Now()
		if _, err := l.pause(t.Context()); !errors.Is(err, query.ErrUnsupported) || time.Since(begin) != pausePatience {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		if err := l.lockOpen(); err != nil {
			t.Fatal(err)
		}
		l.mu.Unlock()
	})
}
