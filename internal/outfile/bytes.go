package outfile

import (
	"errors"
	"os"
)

// WriteBytes writes data to a file unchanged, whatever its extension, completely or not at all.
// Errors are one line that says how to fix it.
func WriteBytes(name string, data []byte) error {
	f, held, err := createTemp(name, 0o666)
	if err != nil {
		return explain(name, err)
	}
	defer unlock(held)
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error says what matters
	}
	return explain(name, err)
}
