//go:build !unix

package process

import (
	"errors"
	"os"
	"os/exec"
)

// terminate returns the default signal to end a server: systems without signals can only kill it.
func terminate() os.Signal { return os.Kill }

func ownGroup(*exec.Cmd) {}

// signalTo sends a signal to a process. It returns nil if the process has ended.
func signalTo(pid int, signal os.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	if err := p.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func killGroup(int) error { return nil }

func groupOf(int) int { return 0 }
