package tdengine

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/disk"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// Footprint implements driver.DB: the files of rows and of metadata, if they can be read here;
// otherwise the server's figures for the blocks of each super table. These omit rows that are not
// merged into blocks yet, as in tables with few rows: the size is then unknown.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	sum, err := d.readDistribution(ctx, "")
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring %s: %w", d.place(), err)
	}
	size := driver.Footprint{Without: "the write-ahead log"}
	if sum.memory > 0 {
		size.Pending = fmt.Sprintf("%d rows are in the server's memory", sum.memory)
	}
	bytes, here := d.files(ctx, sum.bytes)
	switch {
	case here:
		size.Bytes = bytes
	case sum.pending > 0:
		size.Bytes = -1
	default:
		size.Bytes = sum.bytes
		size.Without += ", and the tables' metadata and tags, whose size the server does not report"
	}
	return size, nil
}

// files returns the size of the database's files on this host. ok is false if the files are not here,
// if the server does not say where they are, or if these are another server's: they are smaller than
// the blocks that the server reports.
func (d *database) files(ctx context.Context, blocks int64) (bytes int64, ok bool) {
	groups, err := sqlkit.QueryRows(ctx, d.admin, "SELECT dnode_id, vgroup_id FROM information_schema.ins_vnodes WHERE db_name = '"+d.name+"'")
	if err != nil || len(groups) == 0 {
		return 0, false
	}
	folders := make(map[string][]string) // of data, by node
	var rows int64                       // size of the files of rows, as the server counts them
	for _, group := range groups {
		node := group[0].String()
		if _, known := folders[node]; !known {
			named, err := sqlkit.QueryRows(ctx, d.admin, "SHOW DNODE "+node+" VARIABLES LIKE 'dataDir'")
			if err != nil {
				return 0, false // only root may read it
			}
			for _, line := range named {
				folders[node] = append(folders[node], line[2].String())
			}
		}
		ofRows, all, here := vnode(folders[node], group[1].String())
		if !here {
			return 0, false
		}
		rows, bytes = rows+ofRows, bytes+all
	}
	return bytes, rows >= blocks
}

// vnode returns the size of a vgroup's files of rows, and the bytes on disk of these and of its
// metadata, in the data folders of a node. here is false if none of the folders on this host contains
// it.
func vnode(folders []string, group string) (rows, all int64, here bool) {
	for _, folder := range folders {
		own := filepath.Join(folder, "vnode", "vnode"+group)
		for _, part := range []string{"tsdb", "meta"} {
			n, err := disk.Folder(filepath.Join(own, part))
			if err != nil {
				return 0, 0, false
			}
			all += n.Allocated
			if part == "tsdb" {
				rows += n.Length
			}
		}
	}
	return rows, all, rows > 0
}

// distribution is the server's report on where rows are, for all super tables together or for one of
// them.
type distribution struct {
	bytes   int64 // of blocks in files
	memory  int64 // rows in memory
	pending int64 // rows in files that are not merged into blocks yet; their size is not reported
}

// readDistribution reads the distribution of blocks. Empty name: of all super tables.
func (d *database) readDistribution(ctx context.Context, name string) (sum distribution, err error) {
	objects, _, err := d.objects(ctx)
	for _, o := range objects {
		if err != nil || o.Kind != kindStable || name != "" && o.Name != name {
			continue
		}
		var lines [][]query.Value
		lines, err = sqlkit.QueryRows(ctx, d.admin, "SHOW TABLE DISTRIBUTED "+d.qualify(o.Name))
		for _, line := range lines {
			text := line[0].String()
			sum.bytes += int64(parseFigure(totalSize, text) * 1024)
			sum.memory += int64(parseFigure(inMemory, text))
			sum.pending += int64(parseFigure(unmerged, text))
		}
	}
	return sum, err
}

// Figures in the server's report on a table.
var (
	totalSize = regexp.MustCompile(`Total_Size=\[([0-9.]+) (?:KB|KiB)\]`)
	inMemory  = regexp.MustCompile(`Inmem_Rows=\[([0-9]+)\]`)
	unmerged  = regexp.MustCompile(`Stt_Rows=\[([0-9]+)\]`)
)

// parseFigure is the figure that a pattern finds in a text, or 0.
func parseFigure(pattern *regexp.Regexp, text string) (figure float64) {
	if found := pattern.FindStringSubmatch(text); found != nil {
		_, _ = fmt.Sscan(found[1], &figure)
	}
	return figure
}
