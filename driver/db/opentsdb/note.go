package opentsdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tsmark/tsmark/driver/kit/metric"
)

// The note is a global annotation: the server holds one at a time, as a whole.
const (
	kindNote = "annotation"
	noteTime = "1" // in seconds since 1970
)

// annotation is one as the server has it.
type annotation struct {
	Start       int64  `json:"startTime"`
	Description string `json:"description"`
	Notes       string `json:"notes"`
}

// annotation returns the note; nil: there is no note.
func (d *database) annotation(ctx context.Context) (*annotation, error) {
	answer, err := d.own.Get(ctx, http.MethodGet, pathAnnotation, url.Values{"start_time": {noteTime}})
	if err != nil {
		if strings.Contains(err.Error(), "Unable to locate annotation") {
			return nil, nil
		}
		return nil, err
	}
	a := &annotation{}
	if err := json.Unmarshal(answer, a); err != nil {
		return nil, err
	}
	if a.Description != metric.NoteTable {
		return nil, fmt.Errorf("the global annotation of 1970-01-01T00:00:01Z is %q and not tsmark's: tsmark needs that place for its note", a.Description)
	}
	return a, nil
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	a, err := d.annotation(ctx)
	if a == nil {
		return "", err
	}
	return a.Notes, err
}

// SetNote implements driver.DB.
func (d *database) SetNote(ctx context.Context, text string) error {
	before, err := d.annotation(ctx)
	if err != nil || before != nil && before.Notes == text { // which the server would call an error
		return err
	}
	body, err := json.Marshal(annotation{Start: 1, Description: metric.NoteTable, Notes: text})
	if err != nil {
		return err
	}
	if _, err := d.own.Send(ctx, http.MethodPut, pathAnnotation, nil, body); err != nil {
		return err
	}
	after, err := d.annotation(ctx)
	if err == nil && (after == nil || after.Notes != text) {
		err = errors.New("the note was written, and is not there")
	}
	return err
}
