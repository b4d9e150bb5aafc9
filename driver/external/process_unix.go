//go:build unix && !light

package external

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the program the leader of a process group: an interrupt at the terminal does not
// reach it, and its children are known.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate requests the program's end. It may have ended already.
func terminate(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }

// killGroup kills the program and its children, if any are left.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
