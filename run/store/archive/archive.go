// Package archive carries runs from one results folder to another, as one file
// that describes itself: JSON with the format's name and version, and the
// SHA-256 of its content, so that damage is noticed.
package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tsmark/tsmark/result"
)

// ErrBad is wrapped by the errors about what is no archive, or not one that
// this program can read. They are one line.
var ErrBad = errors.New("no runs can be read from it")

// Entry is a run with the small files of its folder.
type Entry struct {
	Run *result.Run
	// Document is the run as it is stored, which an archive carries to the last
	// byte; nil: as result.Encode makes it. Read leaves it empty.
	Document []byte
	Files    []File
}

// File is a file of a run's folder.
type File struct {
	Name string `json:"name"` // relative to the folder, with slashes
	Data []byte `json:"data"`
}

// The head of every archive. A new version is one that older programs would
// misread.
const (
	format  = "tsmark runs"
	version = 1 // what a run is, its document says
)

// envelope is what an archive is to all versions: its fields stand in this
// order, and nothing follows the content.
type envelope struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	SHA256  string          `json:"sha256"` // of the bytes of Content
	Content json.RawMessage `json:"content"`
}

type content struct {
	Tool result.Tool `json:"tool"` // that wrote it
	Runs []carried   `json:"runs"`
}

type carried struct {
	Run   json.RawMessage `json:"run"` // its document
	Files []File          `json:"files,omitempty"`
}

// Write writes an archive, not compressed.
func Write(w io.Writer, tool result.Tool, entries []Entry) error {
	c := content{Tool: tool, Runs: make([]carried, len(entries))}
	for i, e := range entries {
		document := e.Document
		if document == nil {
			var err error
			if document, err = result.Encode(e.Run); err != nil {
				return err
			}
		}
		c.Runs[i] = carried{document, e.Files}
	}
	text, err := json.Marshal(&c)
	if err != nil {
		return fmt.Errorf("writing runs as JSON: %w", err)
	}
	text, err = json.Marshal(&envelope{format, version, sum(text), text})
	if err != nil {
		return fmt.Errorf("writing runs as JSON: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// Same reports whether two runs are recorded alike to the last digit.
func Same(a, b *result.Run) (bool, error) {
	first, err := result.Encode(a)
	if err != nil {
		return false, err
	}
	second, err := result.Encode(b)
	return bytes.Equal(first, second), err
}
