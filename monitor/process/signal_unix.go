//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// terminate returns the default signal to end a server.
func terminate() os.Signal { return syscall.SIGTERM }

// ownGroup makes the command the leader of a process group of its own, so that
// an interrupt at the terminal does not reach it and its children are known.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalTo sends a signal to a process. It returns nil if the process has ended.
func signalTo(pid int, signal os.Signal) error {
	number, ok := signal.(syscall.Signal)
	if !ok {
		return os.ErrInvalid
	}
	if err := syscall.Kill(pid, number); err != syscall.ESRCH {
		return err
	}
	return nil
}

// killGroup kills all processes of a group.
func killGroup(group int) error {
	if group <= 1 { // -1 would signal all processes
		return os.ErrInvalid
	}
	return signalTo(-group, syscall.SIGKILL)
}

// groupOf returns the process group of a process; 0: it cannot be read.
func groupOf(pid int) int {
	group, err := syscall.Getpgid(pid)
	if err != nil {
		return 0
	}
	return group
}
