package ownqueries

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// referenceWord is part of the name of a file with a reference text.
const referenceWord = "reference"

// ReadTexts reads the texts of a declaration from files in a folder, and returns the files' names
// by the keys they represent. NAME.sql is the text for all SQL drivers, NAME.questdb.sql the text
// for QuestDB, NAME.reference.sql the reference; other languages have their own extensions. It
// ignores other files.
func (q *Query) ReadTexts(folder fs.FS) (map[string]string, error) {
	files, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, fmt.Errorf("looking for the texts of %s: %w", q.Name, err)
	}
	read := make(map[string]string)
	for _, file := range files {
		rest, ours := strings.CutPrefix(file.Name(), q.Name+".")
		of, language, both := strings.Cut(rest, ".")
		if !both {
			of, language = "", rest
		}
		if !ours || file.IsDir() || !slices.Contains(Languages(), language) {
			continue
		}
		data, err := fs.ReadFile(folder, file.Name())
		if err != nil {
			return nil, fmt.Errorf("reading a text of %s: %w", q.Name, err)
		}
		if of == referenceWord {
			q.Reference, read[referenceWord] = string(data), file.Name()
			continue
		}
		if q.Texts == nil {
			q.Texts = make(Texts)
		}
		if of == "" {
			of = language
		}
		q.Texts[of], read["texts."+of] = string(data), file.Name()
	}
	if len(q.Texts) == 0 {
		return nil, errors.New("has neither a shape nor texts, and there is no file " + q.Name + ".sql beside it")
	}
	return read, nil
}
