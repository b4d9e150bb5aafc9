package influx

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tsmark/tsmark/driver/kit/disk"
)

// Shard is the location of a shard's files as the server reports it.
type Shard struct {
	Path, WAL string // folders of its data and of its write-ahead log
}

// Uncounted names the files that UncountedBytes measures, for when it fails; the reason follows.
const Uncounted = "the index and the file of series, which the server does not count: "

// Pending describes the bytes of values in a server's caches: they are not in the final files yet, but
// in the write-ahead log, which is many times as large.
func Pending(cached float64) string {
	if cached == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f bytes of values are in the server's cache and its write-ahead log, and not yet in compressed files", cached)
}

// UncountedBytes returns the bytes on disk that the server leaves out of its own count: the indexes of shards
// (index-version tsi1; inmem has none on disk) and the database's series files, which are preallocated.
// It fails if the server's folders are not on this host, or if their sizes show that they belong to
// another server.
func UncountedBytes(shards []Shard, counted int64) (int64, error) {
	var extra, found int64 // found is in lengths, as the server counts
	unreadable := false
	size := func(path ...string) disk.Size {
		n, err := disk.Folder(filepath.Join(path...))
		unreadable = unreadable || err != nil
		return n
	}
	databases := map[string]bool{}
	for _, s := range shards {
		shard := s.Path
		if shard == "" {
			return 0, errors.New("it does not say where its shards are")
		}
		databases[filepath.Dir(filepath.Dir(shard))] = true
		index := size(shard, "index")
		found += size(shard).Length - index.Length + size(s.WAL).Length
		extra += index.Allocated
	}
	for folder := range databases {
		series := size(folder, "_series")
		unreadable = unreadable || series.Length == 0
		extra += series.Allocated
	}
	// The server continues to write during the measurement, so the sizes differ slightly.
	if off := found - counted; unreadable || max(off, -off) > counted/4+1<<20 {
		return 0, errors.New("its folders cannot be read here")
	}
	return extra, nil
}
