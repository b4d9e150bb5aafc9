package fault

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A small server for the tests of the fault suite: this test binary, started
// again as a process of its own. It stores lines as they come: with sync=on in
// a file before it answers, otherwise in memory until a settle request.
const playServer = "TSMARK_FAKE_SERVER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(playServer); dir != "" {
		time.AfterFunc(5*time.Minute, func() { os.Exit(9) })
		fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1], newFakeServer(dir, os.Getenv("FAKE_SINS"))))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const (
	fakeUser     = "tester"
	fakePassword = "quite-secret-9"
	fakeDatabase = "bench"
)

type fakeServer struct {
	dir  string
	sins string // its faults

	mu     sync.Mutex
	lines  []string
	seen   map[string]bool // lines, if it dedupes
	unsafe []string        // not in the file yet
}

func newFakeServer(dir, sins string) http.Handler {
	signal.Ignore(syscall.SIGXFSZ) // so that a file that may not grow is an error of its own
	s := &fakeServer{dir: dir, sins: sins, seen: make(map[string]bool)}
	if text, err := os.ReadFile(s.rows()); err == nil {
		for line := range strings.Lines(string(text)) {
			s.lines = append(s.lines, line)
			s.seen[line] = true
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("DELETE /bench/rows", s.authenticate(s.clear))
	mux.HandleFunc("POST /bench/rows", s.authenticate(s.write))
	mux.HandleFunc("GET /bench/rows", s.authenticate(s.read))
	mux.HandleFunc("POST /bench/settle", s.authenticate(s.settle))
	mux.HandleFunc("PUT /bench/mark", s.authenticate(func(_ http.ResponseWriter, r *http.Request) error {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(s.dir, "mark"), text, 0o600)
	}))
	mux.HandleFunc("GET /bench/mark", s.authenticate(func(w http.ResponseWriter, _ *http.Request) error {
		text, err := os.ReadFile(filepath.Join(s.dir, "mark"))
		if errors.Is(err, os.ErrNotExist) {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		_, _ = w.Write(text)
		return err
	}))
	return mux
}

func (s *fakeServer) rows() string { return filepath.Join(s.dir, "rows") }

func (s *fakeServer) authenticate(do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != fakeUser || password != fakePassword && !strings.Contains(s.sins, "any password") {
			http.Error(w, "wrong user or password", http.StatusUnauthorized)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := do(w, r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

func (s *fakeServer) clear(http.ResponseWriter, *http.Request) error {
	s.lines, s.unsafe, s.seen = nil, nil, make(map[string]bool)
	return os.WriteFile(s.rows(), nil, 0o600)
}

func (s *fakeServer) write(_ http.ResponseWriter, r *http.Request) error {
	in := bufio.NewReader(r.Body)
	var fresh []string
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if r.URL.Query().Get("dedupe") == "on" && s.seen[line] {
			continue
		}
		s.seen[line] = true
		fresh = append(fresh, line)
	}
	s.lines, s.unsafe = append(s.lines, fresh...), append(s.unsafe, fresh...)
	if r.URL.Query().Get("sync") == "on" {
		if err := s.store(); err != nil {
			if strings.Contains(s.sins, "full unnoticed") {
				s.lines, s.unsafe = slices.Delete(s.lines, len(s.lines)-len(fresh), len(s.lines)), nil
				return nil
			}
			return err
		}
	}
	return nil
}

// store appends the lines to the file that are not there yet.
func (s *fakeServer) store() error {
	f, err := os.OpenFile(s.rows(), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(s.unsafe, "")); err != nil {
		return fmt.Errorf("no space: %w", err)
	}
	s.unsafe = nil
	return nil
}

func (s *fakeServer) settle(http.ResponseWriter, *http.Request) error { return s.store() }

func (s *fakeServer) read(w http.ResponseWriter, _ *http.Request) error {
	out := bufio.NewWriter(w)
	for _, line := range s.lines {
		_, _ = out.WriteString(line)
	}
	return out.Flush()
}
