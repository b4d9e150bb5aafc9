package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// maxFile is how large a file may be that goes along: an operation log of some
// million operations does.
const maxFile = 64 << 20

// Collect reads the small files of a run's folder: its page, its operation
// log. The folders of the targets hold databases, of which only operation logs
// go along; the mark of a run that goes on does not. What was left out for its
// size is named.
func Collect(dir string, r *result.Run) (files []File, left []string, err error) {
	databases := make(map[string]bool)
	for i := range r.Targets {
		databases[r.Targets[i].Name] = true
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		top, _, below := strings.Cut(name, "/")
		switch {
		case !d.Type().IsRegular() || name == "running" || strings.HasPrefix(path.Base(name), "."):
			return nil
		case below && databases[top] && !OperationLog(name):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > maxFile {
			left = append(left, filepath.Join(dir, filepath.FromSlash(name)))
			return nil
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		files = append(files, File{name, data})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // somebody made room: the figures are in the database
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading the folder of run %s: %w", r.ID, err)
	}
	return files, left, nil
}

// OperationLog reports whether a file of a run's folder is an operation log by its name.
func OperationLog(name string) bool {
	return strings.HasSuffix(name, ".oplog") || strings.HasSuffix(name, ".tsmlog")
}
