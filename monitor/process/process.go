package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Command describes how to start a server.
type Command struct {
	Path string // program; looked up in PATH if it has no slash
	Args []string
	// Env is a list of NAME=value. Besides these the server only gets the variables that programs
	// need to run (PATH, HOME and the like), so that no secret of the client's environment ends up
	// in its log. Later values win.
	Env []string
	Dir string // working folder; empty: tsmark's own
	Log string // file that its output is appended to; empty: it goes nowhere
	// Note is called with the process before the program runs, and the program runs only if Note
	// returns nil. If tsmark is killed in between, no unrecorded process remains. Nil: not called.
	// It needs sh.
	Note func(Info) error
	// Among collects the running processes; nil: they are not collected.
	Among *Children
	// Memory is the maximum number of bytes of memory of its processes together, including the
	// pages of files that the kernel caches for them; 0: unlimited. CanLimitMemory reports whether
	// a host supports it. It needs sh.
	Memory int64
	// Ready checks whether the server accepts requests, about 20 times a second; nil: it counts as
	// ready at once.
	Ready func(context.Context) error
	// Within is the longest time until it must be ready; 0: a minute.
	Within time.Duration
	// Signal is sent to terminate the server; nil: SIGTERM.
	Signal os.Signal
	// Grace is the time to end before it is killed; 0: ten seconds.
	Grace time.Duration
}

// Process is a server: one that Start started or one that Attach found. Its
// methods may be used by several goroutines.
type Process struct {
	command Command
	info    Info
	// group is the server's own process group; 0: none.
	group int
	// memory is its control group; it is removed when its processes have ended.
	memory memoryGroup
	// ended is closed when a child has ended and how is set; nil: it is not
	// our child.
	ended chan struct{}
	how   error
	// stopping keeps Stop and Kill apart from each other.
	stopping sync.Mutex
}

// Start starts a server in a process group of its own and waits until it is
// ready. When it ends first, is not ready in time, or ctx ends, it is killed
// and the error shows the end of its log, with secrets of Env blotted out.
// Afterwards it lives on, whatever becomes of ctx.
func Start(ctx context.Context, c Command) (*Process, error) {
	name := filepath.Base(c.Path)
	cmd, release, err := c.holdCommand()
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	cmd.Dir, cmd.Env = c.Dir, append(baseEnvironment(), c.Env...)
	ownGroup(cmd)
	defer release(false)
	log, err := openLog(c.Log)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	if log != nil {
		defer log.Close() // the server has it open itself
		cmd.Stdout, cmd.Stderr = log, log
	}
	logBegin := sizeOf(log)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	p := &Process{command: c, ended: make(chan struct{})}
	p.info = Info{PID: cmd.Process.Pid}
	if info, err := lookup(ctx, p.info.PID); err == nil {
		p.info = info
	}
	p.group = groupOf(p.info.PID)
	c.Among.add(p)
	go func() {
		p.how = cmd.Wait()
		c.Among.remove(p)
		close(p.ended)
	}()
	if c.Note != nil {
		err = c.Note(p.info)
	}
	if err == nil && c.Memory > 0 {
		if p.memory, err = limitMemory(p.info, c.Memory); err != nil {
			err = fmt.Errorf("limiting its memory: %w", err)
		}
	}
	if err == nil {
		release(true)
		err = p.waitReady(ctx)
	}
	if err != nil {
		if killErr := p.Kill(); killErr != nil {
			err = errors.Join(err, killErr)
		}
		return nil, fmt.Errorf("%s did not start: %w%s", name, err, tail(c, logBegin))
	}
	return p, nil
}

// holdCommand returns the command and a function that starts its program or cancels it. With
// neither Note nor Memory the program starts at once. Otherwise a shell waits for a line from this
// process before it becomes the program; it ends without the line if tsmark has ended.
func (c *Command) holdCommand() (*exec.Cmd, func(bool), error) {
	if c.Note == nil && c.Memory == 0 {
		return exec.Command(c.Path, c.Args...), func(bool) {}, nil
	}
	wait, say, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("sh", append([]string{"-c", `read -r go <&3 || exit; exec "$0" "$@" 3<&-`, c.Path}, c.Args...)...)
	cmd.ExtraFiles = []*os.File{wait} // as number 3
	return cmd, func(run bool) {
		if run {
			_, _ = say.WriteString("go\n") // who waits has ended, if this fails: that shows
		}
		_ = say.Close()
		_ = wait.Close()
	}, nil
}

// waitReady calls Ready until it succeeds.
func (p *Process) waitReady(ctx context.Context) error {
	if p.command.Ready == nil {
		return nil
	}
	within := orElse(p.command.Within, time.Minute)
	limit, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := p.command.Ready(limit)
		// Check again after the answer, which another server may have given.
		select {
		case <-p.ended:
			return fmt.Errorf("it ended: %w", endedHow(p.how))
		default:
		}
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended: %w", endedHow(p.how))
		case <-limit.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("not ready within %s: %w", within, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// endedHow puts a success into words too: a server should not end at all.
func endedHow(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// Attach returns a server that runs already, for Stop and Kill.
func Attach(ctx context.Context, pid int) (*Process, error) {
	info, err := Lookup(ctx, pid)
	if err != nil {
		return nil, err
	}
	p := &Process{info: info, memory: memoryGroupOf(pid)}
	if info.Group == pid { // else the group may be a shell's, with others in it
		p.group = pid
	}
	return p, nil
}

// PID is the number of the server's first process.
func (p *Process) PID() int { return p.info.PID }

// Running reports whether the first process runs.
func (p *Process) Running(ctx context.Context) bool {
	if p.ended != nil {
		select {
		case <-p.ended:
			return false
		default:
			return true
		}
	}
	now, err := Lookup(ctx, p.info.PID)
	return err == nil && now.Started == p.info.Started
}

// openLog opens the log for appending; nil for no name.
func openLog(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// sizeOf returns the size of a log; 0 without a log.
func sizeOf(log *os.File) int64 {
	if log == nil {
		return 0
	}
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return 0
	}
	return end
}

func orElse(d, standard time.Duration) time.Duration {
	if d == 0 {
		return standard
	}
	return d
}
