//go:build !unix && !light

package external

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// terminate does nothing: such a system has no signals, and the program's closed input ends it.
func terminate(*os.Process) {}

// killGroup kills the program, if it is still running.
func killGroup(p *os.Process) { _ = p.Kill() }
