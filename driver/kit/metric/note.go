package metric

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NoteTable is the table in the metric name of the note.
const NoteTable = Own + "mark"

// NoteField is its field. Note is the metric of the field; its series are the parts of the note.
const (
	NoteField = "text"
	Note      = NoteTable + "_" + NoteField
)

// ErrNote means that the metric Note was not written by tsmark.
var ErrNote = fmt.Errorf("the metric %s is not as tsmark leaves it", Note)

// Notes holds the notes of a server by the times at which they were set. A new note is written next to
// the previous one, which stays valid until all parts of the new one are visible, and is then deleted.
type Notes map[int64]*version

// version is a note as it was set at one time: its parts, and their number.
type version struct {
	parts map[int]string
	all   int
}

// NoteParts splits a note into base64 parts of at most length characters.
func NoteParts(text string, length int) []string {
	var parts []string
	for part := range slices.Chunk([]byte(base64.RawURLEncoding.EncodeToString([]byte(text))), length) {
		parts = append(parts, string(part))
	}
	return parts
}

// Add adds one part of a note with the given number of parts.
func (n Notes) Add(at int64, part, all int, content string) {
	if n[at] == nil {
		n[at] = &version{parts: map[int]string{}, all: all}
	}
	n[at].parts[part] = content
}

// Newest returns the time at which the newest complete note was set; 0: there is no complete note.
func (n Notes) Newest() (int64, error) {
	newest := int64(0)
	for at, v := range n {
		if len(v.parts) == v.all {
			newest = max(newest, at)
		}
	}
	if len(n) > 0 && newest == 0 {
		return 0, errors.New("the metric " + Note + " has only a part of a note")
	}
	return newest, nil
}

// Text returns the newest complete note.
func (n Notes) Text() (string, error) {
	newest, err := n.Newest()
	if err != nil || newest == 0 {
		return "", err
	}
	var text strings.Builder
	for i := range n[newest].all {
		text.WriteString(n[newest].parts[i])
	}
	plain, err := base64.RawURLEncoding.DecodeString(text.String())
	return string(plain), err
}
