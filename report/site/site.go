// Package site makes a static site of runs. Its rows are systems and versions, and its
// columns are measurements: loads and query types.
//
// A table, a group, holds only comparable runs: one dataset, one machine, one
// level of durability. Each cell is of the newest run of its row that measured it, and
// links to the page of that run, to its experiment and to its verification.
//
// The site needs no server: it works from a folder, and loads nothing from elsewhere.
package site

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// Options are the texts and settings of a site.
type Options struct {
	Title string // empty: "Results"
	Note  string // shown first, such as the owner of the machine; may be empty
	Tool  result.Tool
	// Levels returns the levels of durability of a driver, which show the effect of an option
	// on durability. It may be nil.
	Levels func(driver string) []driver.Profile
}

// Output takes the files of a site, by names with slashes.
type Output interface {
	WriteBytes(name string, data []byte) error
}

// Site is a site being made. It is used by one goroutine.
type Site struct {
	opts   Options
	out    Output
	files  []string
	sums   map[string][sha256.Size]byte // of the documents of runs, by ID
	groups map[string]*group
}

// New returns a site without runs, whose files go to the output as they are made.
func New(out Output, opts Options) *Site {
	opts.Title, opts.Note = printable.OneLine(opts.Title), printable.OneLine(opts.Note)
	if opts.Levels == nil {
		opts.Levels = func(string) []driver.Profile { return nil }
	}
	if opts.Title == "" {
		opts.Title = "Results"
	}
	return &Site{opts: opts, out: out, sums: make(map[string][sha256.Size]byte), groups: make(map[string]*group)}
}

// ErrAnother is wrapped by the error about two runs of one ID that differ.
var ErrAnother = errors.New("another run of the same id")

// Add adds a run as recorded, and writes its pages. A run that was already added is
// ignored.
func (s *Site) Add(recorded *result.Run) error {
	document, err := result.Encode(recorded)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(document)
	if known, ok := s.sums[recorded.ID]; ok {
		if known != sum {
			return fmt.Errorf("run %s: %w was read before; name one of them", recorded.ID, ErrAnother)
		}
		return nil
	}
	s.sums[recorded.ID] = sum
	run, err := public(document)
	if err != nil {
		return fmt.Errorf("run %s: %w", recorded.ID, err)
	}
	run.Imported, run.Unchecked = recorded.Imported, recorded.Unchecked // these are not part of the document
	if err := s.writeRun(run); err != nil {
		return err
	}
	s.sort(withoutDetails(run))
	return nil
}

// Runs returns the number of runs that were added.
func (s *Site) Runs() int { return len(s.sums) }

// Groups returns the number of tables of the site.
func (s *Site) Groups() int { return len(s.groups) }

// The files of a run's folder.
const (
	runPage          = "index.html"
	verificationPage = "verification.html"
	experimentFile   = "experiment.yaml"
)

func runFile(id, name string) string { return path.Join("runs", id, name) }

// writeRun writes the pages of a run.
func (s *Site) writeRun(r *result.Run) error {
	links := func(own string) []write.Link {
		list := []write.Link{{Text: "All results", Address: "../../" + indexFile}}
		for _, l := range []write.Link{{Text: "Run", Address: runPage}, {Text: "Verification", Address: verificationPage}, {Text: "Experiment", Address: experimentFile}} {
			if l.Address != own && (l.Address != experimentFile || r.Experiment != "") {
				list = append(list, l)
			}
		}
		return list
	}
	var page bytes.Buffer
	if err := report.New(r).Write(&page, write.HTML, write.Options{Links: links(runPage)}); err != nil {
		return fmt.Errorf("run %s: %w", r.ID, err)
	}
	if err := s.write(runFile(r.ID, runPage), page.Bytes()); err != nil {
		return err
	}
	page.Reset()
	if err := report.WriteVerification(&page, r, write.Options{Links: links(verificationPage)}); err != nil {
		return fmt.Errorf("run %s: %w", r.ID, err)
	}
	if err := s.write(runFile(r.ID, verificationPage), page.Bytes()); err != nil {
		return err
	}
	if r.Experiment == "" {
		return nil
	}
	return s.write(runFile(r.ID, experimentFile), []byte(printable.Text(r.Experiment)))
}

func (s *Site) write(name string, data []byte) error {
	s.files = append(s.files, name)
	return s.out.WriteBytes(name, data)
}

// Finish writes the page of all results, and the mark that tsmark made the folder.
// It returns an error if there are no tables to show.
func (s *Site) Finish() error {
	if len(s.groups) == 0 {
		return errors.New("no target of these runs has stored anything yet; wait for a run to finish, or name another folder")
	}
	if err := s.writeTables(); err != nil {
		return err
	}
	return s.writeMark()
}
