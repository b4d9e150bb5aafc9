package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
)

// OperationLog is the log of a run's single operations. It begins with the first measurement.
type OperationLog struct {
	Dir      string // of the run
	Header   oplog.Header
	Observer Observer // nil: none
	file     *os.File
	log      *oplog.Writer
}

// Section returns the destination for the operations of a measurement.
func (o *OperationLog) Section(c oplog.Cell) (*oplog.Section, error) {
	if o.log == nil {
		if err := o.begin(); err != nil {
			return nil, fmt.Errorf("%w: beginning the operation log: %w", ErrStore, err)
		}
	}
	return o.log.Section(c), nil
}

// Flush writes the recorded operations, so that the recorded ones never exceed the log's buffer.
func (o *OperationLog) Flush() error {
	if o.log == nil {
		return nil
	}
	if err := o.log.Flush(); err != nil {
		return fmt.Errorf("%w: writing the operation log: %w", ErrStore, err)
	}
	return nil
}

// begin opens the run's log; a resumed run begins another one.
func (o *OperationLog) begin() error {
	for n := 1; ; n++ {
		name := "operations" + logSuffix
		if n > 1 {
			name = fmt.Sprintf("operations-%d%s", n, logSuffix)
		}
		file, err := os.OpenFile(filepath.Join(o.Dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		o.Header.Start = time.Now()
		log, err := oplog.NewWriter(file, o.Header)
		if err != nil {
			return errors.Join(err, file.Close())
		}
		if o.Observer != nil {
			start := o.Header.Start
			log.Observe(func(c oplog.Cell, ops []oplog.Op) { o.Observer.Operations(start, c, ops) })
		}
		o.file, o.log = file, log
		return nil
	}
}

// logSuffix is the suffix of operation logs.
const logSuffix = ".oplog"

// Close ends the log, if it was begun, and returns the number of lost operations.
func (o *OperationLog) Close() (lost int64, err error) {
	if o.log == nil {
		return 0, nil
	}
	err = errors.Join(o.log.Close(), o.file.Close())
	lost, o.log = o.log.LostOps(), nil
	if err != nil {
		err = fmt.Errorf("%w: writing the operation log: %w", ErrStore, err)
	}
	return lost, err
}

// Discard removes the log of a run that is not stored.
func (o *OperationLog) Discard() {
	if o.file == nil {
		return
	}
	_, _ = o.Close() // the log is no longer needed
	_ = os.Remove(o.file.Name())
}
