//go:build !light

package external

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/secret"
)

const (
	// grace is how long a program may take to end before it is killed.
	grace = 5 * time.Second
	// logName is the file in the target's folder with the output of its program.
	logName = "driver.log"
	// keptOutput is the number of bytes of output kept for messages and for logs that begin later.
	keptOutput = 16 << 10
)

// process is a running program. It ends by itself when its standard input is closed, and so also
// when tsmark is killed.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	output *output
	ended  chan struct{} // closed when it has ended
	err    error         // how it ended; valid once ended is closed
}

// startProcess starts a program that listens on a Unix socket.
func startProcess(words []string, socket string) (*process, error) {
	p := &process{output: new(output), ended: make(chan struct{})}
	args := slices.Concat(words[1:], []string{"--listen", "unix://" + socket})
	p.cmd = exec.Command(words[0], args...)
	p.cmd.Env = publicEnvironment(os.Environ())
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.WaitDelay = time.Second // children of it may keep its output open
	ownGroup(p.cmd)
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		switch {
		case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
			return nil, fmt.Errorf("cannot find the program %s; the option command is relative to the working folder, or found by PATH", words[0])
		case errors.Is(err, os.ErrPermission):
			return nil, fmt.Errorf("%s is not executable; run chmod +x, or name its interpreter in the option command", words[0])
		}
		return nil, fmt.Errorf("%w; does its first line name its interpreter (#!)?", err)
	}
	go func() {
		p.err = p.cmd.Wait()
		killGroup(p.cmd.Process) // its children
		close(p.ended)
	}()
	return p, nil
}

// publicEnvironment returns an environment without variables whose names look like secrets: they
// belong to other programs.
func publicEnvironment(environ []string) []string {
	return slices.DeleteFunc(environ, secret.IsSecretVariable)
}

// hasEnded reports whether the program has ended, or ends within a while.
func (p *process) hasEnded(within time.Duration) bool {
	select {
	case <-p.ended:
		return true
	default:
	}
	if within == 0 {
		return false
	}
	select {
	case <-p.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// exit describes how the program ended and its last line of output.
func (p *process) exit() string {
	text := "the program ended"
	if p.err != nil {
		text += " (" + p.err.Error() + ")"
	}
	if last := p.output.lastLine(); last != "" {
		return text + "; its last line of output: " + last
	}
	return text + " without any output"
}

// stop ends the program: it closes its standard input, sends SIGTERM, and kills its process group
// after a grace period.
func (p *process) stop() {
	_ = p.stdin.Close() // it has ended if this fails
	if !p.hasEnded(0) {
		terminate(p.cmd.Process)
	}
	if !p.hasEnded(grace) {
		killGroup(p.cmd.Process)
	}
	<-p.ended
}

// output is what a program writes. It goes to the logs of the targets that use the program.
type output struct {
	mu   sync.Mutex
	last []byte
	logs []*os.File
}

// Write implements io.Writer. It never fails: a full disk must not end a driver.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(o.last, b...)
	if more := len(o.last) - keptOutput; more > 0 {
		o.last = append(o.last[:0], o.last[more:]...)
	}
	for _, log := range o.logs {
		_, _ = log.Write(b)
	}
	return len(b), nil
}

// lastLine returns the last line that is not empty, shortened.
func (o *output) lastLine() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(o.last), []byte("\n"))
	return oneLine(string(lines[len(lines)-1]))
}

// openLog writes the output to a file in a folder, until the returned function is called. The file
// begins with earlier output.
func (o *output) openLog(dir string) (end func(), err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of the driver's log: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(dir, logName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("writing the driver's log: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = log.Write(o.last)
	o.logs = append(o.logs, log)
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.logs = slices.DeleteFunc(o.logs, func(l *os.File) bool { return l == log })
		_ = log.Close() // a log
	}, nil
}

// longestMessage is the number of bytes after which messages of drivers are cut off.
const longestMessage = 2000

// oneLine returns a driver's message in one line of limited length.
func oneLine(text string) string {
	text = printable.OneLine(text)
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "…"
	}
	return text
}

// splitWords splits a command as a shell does, with quotes and backslashes, but without variables
// and patterns.
func splitWords(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, open := byte(0), false
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote && quote != 0:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(command):
			i++
			word.WriteByte(command[i])
		default:
			word.WriteByte(c)
		}
		open = true
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quotation mark %c is not closed", quote)
	}
	if open {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("it names no program")
	}
	return words, nil
}
