package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tsmark/tsmark/monitor/process"
)

// limitFiles limits the size of every file that the server writes, in bytes, which
// to it is much like a full disk. It needs neither a mount nor root.
func (s *Server) limitFiles(ctx context.Context, bytes uint64) error {
	tree, err := process.Tree(ctx, s.running.PID())
	if err != nil {
		return err
	}
	for _, p := range tree {
		err := limitProcess(p.PID, bytes)
		if errors.Is(err, unix.EPERM) {
			err = limitAsItsUser(ctx, p.PID, bytes)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
			return fmt.Errorf("limiting the files of process %d: %w", p.PID, err)
		}
	}
	return nil
}

func limitProcess(pid int, bytes uint64) error {
	var now unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &now); err != nil {
		return err
	}
	now.Cur = bytes
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &now, nil)
}

// limitAsItsUser is for root in a container, which may become another user but
// not set the limits of one.
func limitAsItsUser(ctx context.Context, pid int, bytes uint64) error {
	owner, err := os.Stat("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return err
	}
	of, ok := owner.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("its user is not known")
	}
	cmd := exec.CommandContext(ctx, "prlimit", "--pid", strconv.Itoa(pid), fmt.Sprintf("--fsize=%d:", bytes))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: of.Uid, Gid: of.Gid}}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("prlimit: %w: %s", err, out)
	}
	return nil
}
