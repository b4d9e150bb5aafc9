package kairosdb

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver/kit/metric"
)

// A part of the note is a string of the metric metric.Note, at the time at which it was
// set. Its tags say which part it is, and how many there are.
const (
	tagPart  = "part"
	tagParts = "parts"
)

// partLength is how many characters a part of the note has: a string has at most 65,535.
const partLength = 32_000

// Note implements driver.DB: the newest complete note.
func (d *database) Note(ctx context.Context) (string, error) {
	notes, err := d.notes(ctx)
	if err != nil {
		return "", err
	}
	return notes.Text()
}

// notes returns the notes on the server.
func (d *database) notes(ctx context.Context) (metric.Notes, error) {
	answers, err := d.find(ctx, &request{Start: metric.Earliest, End: metric.Latest, Metrics: []subQuery{
		{Name: metric.Note, GroupBy: []groupBy{{"tag", []string{tagPart, tagParts}}}, ExcludeTags: true},
	}})
	if err != nil {
		return nil, err
	}
	notes := metric.Notes{}
	for _, s := range answers[0].Results {
		if len(s.Values) == 0 {
			continue
		}
		if len(s.GroupBy) == 0 {
			return nil, metric.ErrNote
		}
		part, err := strconv.Atoi(s.GroupBy[0].Group[tagPart])
		all, err1 := strconv.Atoi(s.GroupBy[0].Group[tagParts])
		for _, point := range s.Values {
			var at int64
			var content string
			if err != nil || err1 != nil || len(point) != 2 || json.Unmarshal(point[0], &at) != nil || json.Unmarshal(point[1], &content) != nil {
				return nil, metric.ErrNote
			}
			notes.Add(at, part, all, content)
		}
	}
	return notes, nil
}

// SetNote implements driver.DB.
func (d *database) SetNote(ctx context.Context, text string) error {
	before, err := d.notes(ctx)
	if err != nil {
		return err
	}
	newest, err := before.Newest()
	if err != nil {
		return err
	}
	at := max(time.Now().UnixMilli(), newest+1)
	parts := metric.NoteParts(text, partLength)
	body := []byte("[")
	for i, part := range parts {
		if i > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"name":%q,"type":"string","tags":{%q:"%d",%q:"%d"},"datapoints":[[%d,%q]]}`,
			metric.Note, tagPart, i, tagParts, len(parts), at, part)
	}
	if _, err := d.own.Send(ctx, http.MethodPost, pathPoints, nil, append(body, ']')); err != nil {
		return err
	}
	if err := d.visible(ctx, at); err != nil {
		return err
	}
	if newest == 0 {
		return nil
	}
	return remove(ctx, &d.own, &request{Start: firstTime, End: at - 1, Metrics: []subQuery{{Name: metric.Note}}})
}
