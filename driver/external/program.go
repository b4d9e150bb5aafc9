//go:build !light

package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/scratch"
)

// program is a driver that another process runs.
type program struct {
	all   *Programs
	words []string // its command; nil: it runs already
	shown string   // its command or endpoint, in messages
	dial  dialing
	// can has its capabilities. They are read without the lock, which a start holds. Nil: not known yet.
	can atomic.Pointer[message.Capabilities]

	mu      sync.Mutex
	folder  *scratch.Folder // with its socket
	process *process        // nil: it is not running, or tsmark has not started it
	conn    *grpc.ClientConn
	opened  int // open databases
	// unreachable is the error of startOnce; nil: none.
	unreachable error
}

// mostIdle is the number of programs without open databases that are kept running.
const mostIdle = 4

// look returns the driver of the program that the options name.
func (p *Programs) look(options map[string]string) (driver.Driver, error) {
	if err := check(options); err != nil {
		return driver.Driver{}, err
	}
	p.mu.Lock()
	of := p.known[key(options)]
	if of == nil {
		var err error
		if of, err = p.newProgram(options); err != nil {
			p.mu.Unlock()
			return driver.Driver{}, err
		}
		if p.known == nil {
			p.known = make(map[string]*program)
		}
		p.known[key(options)] = of
	}
	p.mu.Unlock()
	if err := of.startOnce(); err != nil {
		return driver.Driver{}, err
	}
	return of.driver()
}

func (p *Programs) newProgram(options map[string]string) (*program, error) {
	of := &program{all: p, shown: options[OptionEndpoint]}
	if command := options[OptionCommand]; command != "" {
		var err error
		of.shown = command
		if of.words, err = splitWords(command); err != nil {
			return nil, fmt.Errorf("driver external: command %q: %w", command, err)
		}
		return of, nil
	}
	var err error
	if of.dial, err = parseEndpoint(options[OptionEndpoint]); err != nil {
		return nil, fmt.Errorf("driver external: %w", err)
	}
	if file := options[OptionTokenFile]; file != "" {
		token, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("driver external: token_file: %w", err)
		}
		if of.dial.token = strings.TrimSpace(string(token)); of.dial.token == "" {
			return nil, fmt.Errorf("driver external: token_file %s is empty", file)
		}
	}
	return of, nil
}

// patience is how long the program may take to start, and to answer what needs no database.
func (p *program) patience() time.Duration {
	if p.all.Start > 0 {
		return p.all.Start
	}
	return startPatience
}

// title names the program in messages.
func (p *program) title() string {
	if can := p.can.Load(); can != nil {
		return "driver " + can.Name
	}
	return fmt.Sprintf("driver %q", p.shown)
}

// use records a use of the program, and stops the programs that have been idle for longest.
func (p *Programs) use(of *program) {
	p.mu.Lock()
	p.used = append(slices.DeleteFunc(p.used, func(o *program) bool { return o == of }), of)
	var surplus []*program
	for i := 0; i < len(p.used)-1 && len(p.used)-len(surplus) > mostIdle; i++ {
		if p.used[i].isIdle() {
			surplus = append(surplus, p.used[i])
		}
	}
	p.used = slices.DeleteFunc(p.used, func(o *program) bool { return slices.Contains(surplus, o) })
	p.mu.Unlock()
	for _, o := range surplus {
		o.stop()
	}
}

func (p *program) isIdle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened == 0
}

// start ensures that the program runs and has reported its capabilities. Waiting tells the user
// about a slow start; nil: as Programs does.
func (p *program) start(ctx context.Context, waiting driver.Waiting) error {
	p.all.use(p)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil && (p.process == nil || !p.process.hasEnded(0)) {
		return nil
	}
	p.halt()
	if waiting == nil {
		waiting = p.all.Waiting
	}
	defer limit.Announce(waiting, fmt.Sprintf("starting %s (%v at most)", p.title(), p.patience()))()
	err := p.launch(ctx)
	if err != nil {
		p.halt()
		return fmt.Errorf("%s: %w", p.title(), err)
	}
	return nil
}

// startOnce is start before a run. An endpoint where nothing answered is not waited for again: a plan looks up each
// driver several times.
func (p *program) startOnce() error {
	p.mu.Lock()
	err := p.unreachable
	p.mu.Unlock()
	if err == nil {
		if err = p.start(context.Background(), nil); errors.Is(err, driver.ErrUnreachable) && p.words == nil {
			p.mu.Lock()
			p.unreachable = err
			p.mu.Unlock()
		}
	}
	return err
}

// longestSocket is the largest number of bytes of the path of a Unix socket on every system.
const longestSocket = 103

func (p *program) launch(ctx context.Context) error {
	if p.words != nil {
		var err error
		if p.folder, err = scratch.New("", "tsmark-driver"); err != nil {
			return err
		}
		socket := filepath.Join(p.folder.Path(), "s")
		if len(socket) > longestSocket {
			return fmt.Errorf("the path of its socket, %s, has %d bytes, and %d are allowed; set TMPDIR to a folder with a shorter path", socket, len(socket), longestSocket)
		}
		if p.process, err = startProcess(p.words, socket); err != nil {
			return err
		}
		p.dial.address = "unix://" + socket
	}
	conn, err := p.dial.connect()
	if err != nil {
		return err
	}
	p.conn = conn
	can, err := p.greet(ctx)
	if err != nil {
		return err
	}
	if err := checkCapabilities(can); err != nil {
		return err
	}
	p.can.Store(can)
	return nil
}

// greet requests the capabilities until the program answers or ends, or until its time is over.
func (p *program) greet(ctx context.Context) (*message.Capabilities, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience())
	defer cancel()
	body := &message.Request{Protocol: []int{message.Protocol}, Tsmark: version()}
	var last error
	for {
		can, err := call[message.Capabilities](ctx, p.conn, &p.dial, message.ActionCapabilities, body)
		if err == nil {
			return can, nil
		}
		if p.process != nil && p.process.hasEnded(0) {
			return nil, errors.New(p.process.exit())
		}
		code, text, ok := readStatus(err)
		switch {
		case ctx.Err() != nil:
			return nil, p.silence(last)
		case !ok:
			return nil, err
		case code == codes.Unavailable:
			last = errors.New(text)
		case code == codes.Unimplemented:
			return nil, fmt.Errorf("it does not speak tsmark's protocol over Arrow Flight: %s; sdk/protocol.md describes it", text)
		case code == codes.Unauthenticated:
			return nil, fmt.Errorf("it refuses the token (%s); give token_file=FILE with the token that it was started with", text)
		case code == codes.InvalidArgument:
			return nil, fmt.Errorf("it refuses version %d of the protocol, which this tsmark speaks: %s; use a version of the driver for it", message.Protocol, text)
		default:
			return nil, fmt.Errorf("capabilities: %s", text)
		}
		select {
		case <-ctx.Done():
			return nil, p.silence(last)
		case <-p.end():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// end returns a channel that is closed when the program has ended; nil: tsmark has not started it.
func (p *program) end() <-chan struct{} {
	if p.process == nil {
		return nil
	}
	return p.process.ended
}

// silence is the error of a program that does not answer.
func (p *program) silence(last error) error {
	text := fmt.Sprintf("no answer within %v", p.patience())
	if last != nil {
		text += fmt.Sprintf(" (%v)", last)
	}
	if p.words == nil {
		return fmt.Errorf("%w: %s; is it running there?", driver.ErrUnreachable, text)
	}
	if line := p.process.output.lastLine(); line != "" {
		text += "; its last line of output: " + line
	}
	return errors.New(text + "; it must serve Arrow Flight at the address behind --listen")
}

// nameForm is the form of names of drivers and options.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,40}$`)

// checkCapabilities returns an error for capabilities that contradict the protocol.
func checkCapabilities(c *message.Capabilities) error {
	switch {
	case c.Protocol != message.Protocol:
		return fmt.Errorf("it speaks version %d of the protocol, and this tsmark speaks version %d; use a version of the driver for it", c.Protocol, message.Protocol)
	case !nameForm.MatchString(c.Name):
		return fmt.Errorf("capabilities: its name %q must be letters, digits, _ and -, in lower case", c.Name)
	case c.Caps == nil:
		return errors.New("capabilities: caps is missing")
	}
	seen := make(map[string]bool)
	for i := range c.Options {
		o := &c.Options[i]
		switch {
		case !nameForm.MatchString(o.Name):
			return fmt.Errorf("capabilities: the name %q of an option must be letters, digits, _ and -, in lower case", o.Name)
		case isOwn(o.Name):
			return fmt.Errorf("capabilities: option %s is tsmark's own; choose another name", o.Name)
		case seen[o.Name]:
			return fmt.Errorf("capabilities: two options have the name %s", o.Name)
		}
		seen[o.Name] = true
		if _, err := o.Driver(); err != nil {
			return fmt.Errorf("capabilities: %w", err)
		}
	}
	for _, set := range slices.Concat(c.Profiles, c.Durabilities) {
		for name := range set.Options {
			if !seen[name] {
				return fmt.Errorf("capabilities: profile %s sets %s, which is not an option", set.Name, name)
			}
		}
	}
	_, err := c.Caps.Driver()
	if err != nil {
		return fmt.Errorf("capabilities: caps: %w", err)
	}
	return nil
}

// halt ends the program and the connection to it.
func (p *program) halt() {
	if p.conn != nil {
		_ = p.conn.Close() // nothing is left to read
	}
	if p.process != nil {
		p.process.stop()
	}
	if p.folder != nil {
		_ = p.folder.Close() // the next start removes the rest
	}
	p.conn, p.process, p.folder = nil, nil, nil
}

// stop ends the program. It starts again with its next use.
func (p *program) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halt()
}

// version is the version of this tsmark.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

// call runs an action and returns its result.
func call[T any](ctx context.Context, conn *grpc.ClientConn, d *dialing, action string, body *message.Request) (*T, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	result, err := d.act(ctx, conn, action, text)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := json.Unmarshal(result, out); err != nil {
		return nil, fmt.Errorf("the result of action %s is not the expected JSON: %w", action, err)
	}
	return out, nil
}

// parseEndpoint reads the option endpoint.
func parseEndpoint(text string) (dialing, error) {
	scheme, address, ok := strings.Cut(text, "://")
	if !ok {
		scheme, address = "grpc", text
	}
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" || scheme != "grpc" && scheme != "grpc+tls" {
		return dialing{}, fmt.Errorf("endpoint %q must be grpc://HOST:PORT, or grpc+tls://HOST:PORT", text)
	}
	return dialing{address: "passthrough:///" + address, tls: scheme == "grpc+tls"}, nil
}
