package influxdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver/poll"
)

// The engine looks for compactions to make once a second, so that it is idle
// only once it has been so for longer than that.
const (
	idleFor = 1100 * time.Millisecond
	look    = 50 * time.Millisecond
)

// Settle implements driver.DB. Rows are visible once they are acknowledged;
// what is waited for is the end of compactions of the database's shards.
func (d *database) Settle(ctx context.Context) error {
	since, err := poll.Idle(ctx, look, idleFor, func() (bool, error) { return d.compacting(ctx) })
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.where(), err)
	}
	d.idleSince.Store(&since)
	return nil
}

// IdleSince implements driver.Watcher.
func (d *database) IdleSince() time.Time { return *d.idleSince.Load() }

// compacting reports whether shards of the database are being compacted, or wait
// for that.
func (d *database) compacting(ctx context.Context) (bool, error) {
	shards, err := d.shards(ctx, "tsm1_engine")
	for _, s := range shards {
		for name, value := range s {
			if value != "0" && (strings.HasSuffix(name, "CompactionsActive") || strings.HasSuffix(name, "CompactionQueue")) {
				return true, nil
			}
		}
	}
	return false, err
}

// shards returns what the server tells of each shard of the database but the
// note's.
func (d *database) shards(ctx context.Context, module string) ([]shown, error) {
	all, err := d.table(ctx, "SHOW STATS FOR '"+module+"'")
	var own []shown
	for _, s := range all {
		if s["database"] == d.settings.database && s["retentionPolicy"] != note {
			own = append(own, s)
		}
	}
	return own, err
}

// Footprint implements driver.DB: the files of the shards and their
// write-ahead logs, which the server counts, and the shards' indexes and the
// database's file of series, which it does not, where they can be read here.
func (d *database) Footprint(ctx context.Context) (int64, error) {
	shards, err := d.shards(ctx, "shard")
	var total int64
	for _, s := range shards {
		var n int64
		if err == nil {
			n, err = strconv.ParseInt(s["diskBytes"], 10, 64)
		}
		total += n
	}
	if err != nil {
		return -1, fmt.Errorf("measuring the files of %s: %w", d.where(), err)
	}
	extra, err := besides(shards, total)
	left := ""
	if err != nil {
		left = "the index and the file of series, which the server does not count: " + err.Error()
	}
	d.leftOut.Store(&left)
	return total + extra, nil
}

// LeftOut implements driver.Incomplete.
func (d *database) LeftOut() string {
	if left := d.leftOut.Load(); left != nil {
		return *left
	}
	return ""
}

// besides returns the bytes of what lies beside the files that a server counted:
// the indexes of shards (index-version tsi1; inmem has none on disk) and the
// database's file of series. It fails where the server's folders are not to be
// found here, as on another host, or are another server's: their files have
// another size.
func besides(shards []shown, counted int64) (int64, error) {
	var extra, found int64
	unreadable := false
	size := func(path ...string) int64 {
		n, err := sizeOf(filepath.Join(path...))
		unreadable = unreadable || err != nil
		return n
	}
	databases := map[string]bool{}
	for _, s := range shards {
		shard := s["path"]
		if shard == "" {
			return 0, errors.New("it does not say where its shards are")
		}
		databases[filepath.Dir(filepath.Dir(shard))] = true
		index := size(shard, "index")
		found += size(shard) - index + size(s["walPath"])
		extra += index
	}
	for folder := range databases {
		series := size(folder, "_series")
		unreadable = unreadable || series == 0
		extra += series
	}
	// The server writes on while it is measured; its files are still nearly those.
	if off := found - counted; unreadable || max(off, -off) > counted/4+1<<20 {
		return 0, errors.New("its folders cannot be read here")
	}
	return extra, nil
}

// sizeOf returns the bytes of all files below a folder, without what is not there,
// such as what a compaction has replaced meanwhile.
func sizeOf(folder string) (int64, error) {
	var total int64
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				total += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return total, err
}
