package targettest

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tsmark/tsmark/process"
)

// limitFiles keeps the server from writing beyond so many bytes of any file,
// which to it is much like a full disk; 0 lifts that. It takes no mount, and so
// no root.
func (s *Server) limitFiles(ctx context.Context, bytes uint64) error {
	tree, err := process.Tree(ctx, s.running.PID())
	if err != nil {
		return err
	}
	for _, p := range tree {
		var now unix.Rlimit
		if err := unix.Prlimit(p.PID, unix.RLIMIT_FSIZE, nil, &now); err != nil {
			return fmt.Errorf("reading a limit of process %d: %w", p.PID, err)
		}
		if now.Cur = bytes; bytes == 0 {
			now.Cur = now.Max
		}
		if err := unix.Prlimit(p.PID, unix.RLIMIT_FSIZE, &now, nil); err != nil {
			return fmt.Errorf("limiting the files of process %d: %w", p.PID, err)
		}
	}
	return nil
}
