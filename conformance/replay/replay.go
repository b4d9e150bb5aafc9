// Package replay records the conversations of the conformance suite with a user-provided
// server, and plays them back without a server: in CI. So the messages that a driver
// renders, sends and decodes stay the same as when it passed against that server. A replay
// does not test the behaviour of a server, and is never called a test against one.
//
// A driver's test is one function for both:
//
//	func TestReplayed(t *testing.T) {
//		replay.Run(t, replay.Subject{Driver: Driver(), Framing: replay.WebSocket{}}, func(t *testing.T, d driver.Driver, options map[string]string) {
//			conformance.RunSparse(t, d, options)
//		})
//	}
//
// It plays the recordings in [Folder], packed text: zcat shows it. With TSMARK_RECORD=1, and
// TSMARK_TEST_<NAME>=host:port
// of a server, a proxy between suite and server writes that
// folder from scratch: about.txt, with the server's version and the date, and the
// conversations as text.
//
// # Content of a recording, and how it is checked
//
// A conversation is the messages of both sides of one connection: a
// [Framing] splits the streams. The fake server answers a client's message with
// the answer of the server to the same message in the recording. A connection is identified by
// its messages, not by its time: among the recorded conversations with the same beginning, on
// both sides, it is the first one with the same next message. So connections may
// interleave in any way. A message that differs in one byte from all possible ones
// is an error, as is a conversation with a missing part. Only the parts that a
// [Connection] masks by name may differ.
//
// So the suite must send the same messages each time: one worker (Run gives the driver
// Caps.OneConnection, which leaves the test of several writers out), databases with
// fixed names, numbers of requests that count from 1 and no clock. Numbers that
// the server assigns need no mask: a replay assigns the recorded ones. Run sets the flag -short, so
// that there is one set of tests.
//
// # The text
//
// A line "== PORT" begins a conversation with the server's first, second… port. A line
// "> N" or "< N" begins a message of N bytes of the client's or the server's; the
// lines behind it, indented, are the bytes. Bytes that are not printable text are escaped
// with a backslash: \n and \r, \xNN for a byte, \{N} for N zero bytes, \\ for itself. A line ends
// after \n and wherever it is long, which has no meaning. A long message of the client's is stored
// as its beginning and its SHA-256, "> N sha256:…": a changed byte anywhere still
// differs. "#5" behind the number makes it the fifth message that is long enough to repeat,
// and "> #5" or "< #5" alone is that message again.
package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// Folder is a driver's folder for recordings, below its own folder.
const Folder = "testdata/recording"

// Side is the sender of a message.
type Side byte

// The sides, as recordings write them.
const (
	Client Side = '>'
	Server Side = '<'
)

// Framing is a protocol, as far as its streams are split into messages.
type Framing interface {
	// Connection returns the framing of a new connection. It may keep
	// state, for example that a handshake is over.
	Connection() Connection
}

// Connection is the framing of one connection. Messages are plain bytes, as they are
// compared and read: without a length before them, and
// unmasked if a protocol masks. Read may be called for both sides at
// the same time, by two goroutines; the other methods by one at a time.
type Connection interface {
	// Read takes the next message of a side from its stream, all of it and no byte more
	// than that. Its error is io.EOF if the stream ends between two messages.
	Read(from Side, stream *bufio.Reader) ([]byte, error)
	// Mask returns a message in which everything that may differ from run to run has a fixed
	// value: a client's random key, a server's time. The result is recorded
	// and compared. Mask does not change its argument.
	Mask(from Side, message []byte) []byte
	// Answer returns the bytes on the wire of a recorded message of the server's. request
	// is the client's last message before it, not masked (nil: no message), for an
	// answer that repeats a part of it, as one to a random key.
	Answer(recorded, request []byte) []byte
}

// Subject is the subject of a recording.
type Subject struct {
	Driver  driver.Driver
	Framing Framing
	// Name is that of the file, if a driver has several: one for each set of options.
	// The default is suite.
	Name string
}

// Run runs a suite against the recordings of a subject, or against a server while recording
// it: see the package. The suite receives the driver, and options that lead to the recording
// or the server.
func Run(t *testing.T, s Subject, suite func(*testing.T, driver.Driver, map[string]string)) {
	t.Helper()
	short(t)
	d := oneWriter(s.Driver)
	if s.Name == "" {
		s.Name = "suite"
	}
	file := filepath.Join(Folder, s.Name+".txt.gz")
	if os.Getenv("TSMARK_RECORD") != "" {
		s.record(t, d, file, suite)
		return
	}
	about, err := ReadAbout(Folder)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := read(file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	t.Logf("replayed against recordings of version %s, of %s, and not tested against a server", about.Version, about.Date)
	p, err := play(s.Framing, recorded, len(d.Ports()), t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	defer p.finish(t.Failed)
	suite(t, d, serverOptions(d, p.addresses()))
}

// record runs the suite against the user-provided server.
func (s *Subject) record(t *testing.T, d driver.Driver, file string, suite func(*testing.T, driver.Driver, map[string]string)) {
	t.Helper()
	straight := conformance.TestServer(t, d)
	about := About{Version: version(t, d, straight), Date: time.Now().UTC().Format(time.DateOnly)}
	var to []string
	for _, option := range d.Ports() {
		to = append(to, net.JoinHostPort(straight[connection.Host], straight[option]))
	}
	r, err := listen(s.Framing, to)
	if err != nil {
		t.Fatal(err)
	}
	suite(t, d, serverOptions(d, r.addresses()))
	recorded := r.finish()
	if t.Failed() {
		t.Fatal("the suite did not pass: nothing is recorded")
	}
	if err := os.MkdirAll(Folder, 0o755); err != nil {
		t.Fatal(err)
	}
	err = write(file, recorded)
	if err == nil {
		err = os.WriteFile(filepath.Join(Folder, aboutFile), []byte(about.text()), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("recorded %d conversations with version %s into %s", len(recorded), about.Version, file)
}

// read reads a recording.
func read(file string) ([]conversation, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(packed)
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// write writes a recording.
func write(file string, recorded []conversation) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, render(recorded))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, packed.Bytes(), 0o644)
}

// serverOptions returns the options that lead to addresses, one for each port.
func serverOptions(d driver.Driver, addresses []net.Addr) map[string]string {
	options := map[string]string{connection.Host: "127.0.0.1"}
	for name, value := range d.TestServer {
		options[name] = value
	}
	for i, option := range d.Ports() {
		options[option] = strconv.Itoa(addresses[i].(*net.TCPAddr).Port)
	}
	return options
}

// oneWriter returns the driver with one writing connection at a time, since the distribution of rows
// among several writers depends on timing.
func oneWriter(d driver.Driver) driver.Driver {
	caps := d.Caps
	d.Caps = func(o driver.Options) driver.Caps {
		c := caps(o)
		c.OneConnection = true
		return c
	}
	return d
}

// short sets the flag -short until the test ends.
func short(t *testing.T) {
	t.Helper()
	before := strconv.FormatBool(testing.Short())
	if err := flag.Set("test.short", "true"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("test.short", before) })
}

// version returns the version that the server reports.
func version(t *testing.T, d driver.Driver, options map[string]string) string {
	t.Helper()
	resolved, err := d.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	db, err := d.Open(t.Context(), driver.Env{Create: true}, resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, db)
	about, err := db.Describe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return about.Version
}

const aboutFile = "about.txt"

// About describes the server of recordings, and their date.
type About struct {
	Version string // as the server reported it: driver.Description.Version
	Date    string // YYYY-MM-DD
}

func (a About) text() string { return fmt.Sprintf("version: %s\ndate: %s\n", a.Version, a.Date) }

// ReadAbout reads the description of the recordings in a folder.
func ReadAbout(folder string) (About, error) {
	text, err := os.ReadFile(filepath.Join(folder, aboutFile))
	if err != nil {
		return About{}, fmt.Errorf("reading which server was recorded: %w", err)
	}
	var a About
	for line := range strings.Lines(string(text)) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ": "); key {
		case "version":
			a.Version = value
		case "date":
			a.Date = value
		}
	}
	if a.Version == "" || a.Date == "" {
		return About{}, fmt.Errorf("%s/%s has no version or no date; record again with TSMARK_RECORD=1", folder, aboutFile)
	}
	return a, nil
}
