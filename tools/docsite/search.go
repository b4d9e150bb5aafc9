package docsite

import (
	"encoding/json"
	"fmt"
)

// entry is a part of a page as the search in the browser has it.
type entry struct {
	Path    string `json:"p"` // with the heading's id
	Page    string `json:"t"` // title of the page
	Heading string `json:"h"`
	Text    string `json:"x"`
}

// index returns a script with all words of the pages. It is a script instead of JSON, which a
// page that was opened from a disk must not read.
func index(pages []*page) ([]byte, error) {
	entries := []entry{}
	for _, p := range pages {
		for _, part := range p.parts {
			if part.title == "" && part.text == "" {
				continue
			}
			e := entry{Path: p.Path, Page: p.Title, Heading: part.title, Text: part.text}
			if part.id != "" {
				e.Path += "#" + part.id
			}
			entries = append(entries, e)
		}
	}
	list, err := json.Marshal(entries)
	if err != nil {
		return nil, fmt.Errorf("writing the index of the search: %w", err)
	}
	return []byte("searchIndex = " + string(list) + ";\n"), nil
}
