//go:build !unix

package process

import (
	"errors"
	"os"
	"os/exec"
)

// terminate is how a server is asked to end: systems without signals can only
// end it at once.
func terminate() os.Signal { return os.Kill }

func ownGroup(*exec.Cmd) {}

// signalTo sends a signal to a process; one that has gone is no error.
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
