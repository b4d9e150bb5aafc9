package outfile

import (
	"errors"
	"os"
)

// WriteBytes writes a file as it is to be, whatever its name ends in: whole or
// not at all. Errors are one line that says how to fix it.
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
