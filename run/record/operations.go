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

// OperationLog is the log of a run's single operations, which begins with the
// first measurement.
type OperationLog struct {
	Dir      string // of the run
	Header   oplog.Header
	Observer Observer // nil: nobody looks
	file     *os.File
	log      *oplog.Writer
}

// Section returns where the operations of a measurement go.
func (o *OperationLog) Section(c oplog.Cell) (*oplog.Section, error) {
	if o.log == nil {
		if err := o.begin(); err != nil {
			return nil, fmt.Errorf("%w: beginning the operation log: %w", ErrStore, err)
		}
	}
	return o.log.Section(c), nil
}

// Flush writes what was recorded, so that no more than a log has room for is recorded at
// once.
func (o *OperationLog) Flush() error {
	if o.log == nil {
		return nil
	}
	if err := o.log.Flush(); err != nil {
		return fmt.Errorf("%w: writing the operation log: %w", ErrStore, err)
	}
	return nil
}

// begin opens the run's log; one that is resumed begins a further one.
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

// logSuffix ends the names of operation logs.
const logSuffix = ".oplog"

// Close ends the log, if one was begun, and returns how many operations it
// lost.
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

// Discard removes the log of a run that is not kept.
func (o *OperationLog) Discard() {
	if o.file == nil {
		return
	}
	_, _ = o.Close() // nobody reads it
	_ = os.Remove(o.file.Name())
}
