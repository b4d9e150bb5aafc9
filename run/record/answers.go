package record

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tsmark/tsmark/engine"
)

// Phase is the queries of one type on one target in a repeat.
type Phase struct {
	Target, QueryType string
	Repeat            int
}

// Answers is a folder with the answers recorded during measurements, a file per phase, until they
// are compared: there they need no memory, and a resumed run still has them.
type Answers string

// unfinishedAnswers matches files whose process was killed before they were complete.
const unfinishedAnswers = "*.tmp"

// RemoveUnfinished removes incomplete files of a killed process: these answers are recorded again.
// The run must be locked.
func (dir Answers) RemoveUnfinished() error {
	left, err := filepath.Glob(filepath.Join(string(dir), unfinishedAnswers))
	if err != nil {
		return err
	}
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	_ = os.Remove(string(dir)) // fails if answers remain, which is intended
	return err
}

func (dir Answers) path(p Phase) string {
	return filepath.Join(string(dir), fmt.Sprintf("%s.%s.%d.gob", p.Target, p.QueryType, p.Repeat))
}

// Put stores the answers of a phase and replaces earlier ones. The file is complete or does not
// exist.
func (dir Answers) Put(p Phase, answers []engine.Answered) error {
	if len(answers) == 0 {
		return nil
	}
	if err := os.MkdirAll(string(dir), 0o777); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(dir), unfinishedAnswers)
	if err != nil {
		return err
	}
	err = WriteAnswers(file, answers)
	if err == nil {
		err = file.Sync() // otherwise a machine crash could leave a truncated file
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), dir.path(p))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Get returns the answers of a phase; none if it has none.
func (dir Answers) Get(p Phase) (answers []engine.Answered, err error) {
	file, err := os.Open(dir.path(p))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close() // only used for reading
	if answers, err = ReadAnswers(file); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", file.Name(), err)
	}
	return answers, nil
}

// WriteAnswers encodes answers for ReadAnswers.
func WriteAnswers(out io.Writer, answers []engine.Answered) error {
	return gob.NewEncoder(out).Encode(answers)
}

// ReadAnswers decodes the output of WriteAnswers.
func ReadAnswers(in io.Reader) (answers []engine.Answered, err error) {
	err = gob.NewDecoder(in).Decode(&answers)
	return answers, err
}

// Drop removes the answers of a phase, once their verdict is stored.
func (dir Answers) Drop(p Phase) {
	_ = os.Remove(dir.path(p))
	_ = os.Remove(string(dir)) // fails if other answers remain, which is intended
}
