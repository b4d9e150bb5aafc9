package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"modernc.org/libc"
	_ "modernc.org/sqlite" // its initialization mends the library on some platforms
	lib "modernc.org/sqlite/lib"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/target"
)

// session is one connection, used by one goroutine at a time. It calls the
// library itself: database/sql would allocate for every value on its way.
type session struct {
	tls *libc.TLS
	db  uintptr       // 0: closed
	row []query.Value // handed to the sink
}

var errClosed = errors.New("the connection is closed")

// connect opens the file, which it makes where there is none.
func connect(path string) (*session, error) {
	s := &session{tls: libc.NewTLS()}
	name, err := libc.CString(path)
	if err != nil {
		s.tls.Close()
		return nil, err
	}
	defer libc.Xfree(s.tls, name)
	out := libc.Xmalloc(s.tls, libc.Tsize_t(unsafe.Sizeof(s.db)))
	defer libc.Xfree(s.tls, out)
	// A connection has one user at a time and needs no lock of its own.
	rc := lib.Xsqlite3_open_v2(s.tls, name, out, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_CREATE|lib.SQLITE_OPEN_NOMUTEX, 0)
	s.db = *(*uintptr)(memory(out))
	if rc == lib.SQLITE_OK {
		lib.Xsqlite3_extended_result_codes(s.tls, s.db, 1)
		rc = s.refuseTextAsName()
	}
	if rc != lib.SQLITE_OK {
		err := s.failure(rc)
		s.close()
		return nil, err
	}
	return s, nil
}

// refuseTextAsName makes a quoted name that nothing bears an error. By default
// SQLite would take it for a text.
func (s *session) refuseTextAsName() int32 {
	const argument = 8 // bytes that the library gives to each
	arguments := libc.Xmalloc(s.tls, 2*argument)
	defer libc.Xfree(s.tls, arguments)
	for _, setting := range []int32{lib.SQLITE_DBCONFIG_DQS_DML, lib.SQLITE_DBCONFIG_DQS_DDL} {
		if rc := lib.Xsqlite3_db_config(s.tls, s.db, setting, libc.VaList(arguments, int32(0), uintptr(0))); rc != lib.SQLITE_OK {
			return rc
		}
	}
	return lib.SQLITE_OK
}

// memory makes a pointer of an address outside Go's heap.
func memory(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// close releases the connection; a second call does nothing.
func (s *session) close() {
	if s.db != 0 {
		lib.Xsqlite3_close_v2(s.tls, s.db)
		s.db = 0
	}
	if s.tls != nil {
		s.tls.Close()
		s.tls = nil
	}
}

// exec runs statements one after the other and drops their answers.
func (s *session) exec(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if _, err := s.query(ctx, text, nil); err != nil {
			return err
		}
	}
	return nil
}

// query runs a statement and hands the rows of its answer to the sink, if
// there is one. Without a sink every value is read all the same. It wraps
// ctx's error where that ends it.
func (s *session) query(ctx context.Context, text string, sink query.Sink) (target.Cost, error) {
	if ctx.Err() != nil {
		return target.Cost{}, interrupted(ctx)
	}
	statement, err := s.prepare(text)
	if err != nil {
		return target.Cost{}, err
	}
	settle := s.interruptWhenDone(ctx)
	cost, err := s.read(statement, sink)
	settle()
	statement.finalize()
	if err != nil && ctx.Err() != nil {
		return cost, interrupted(ctx)
	}
	return cost, err
}

// rollback undoes the open transaction, if SQLite has not done so already.
func (s *session) rollback() {
	if lib.Xsqlite3_get_autocommit(s.tls, s.db) == 0 {
		_ = s.exec(context.Background(), "ROLLBACK")
	}
}

func interrupted(ctx context.Context) error {
	return fmt.Errorf("SQLite's statement was interrupted: %w", ctx.Err())
}

// interruptWhenDone interrupts the connection's statement when ctx is done.
// The function it returns ends that, and must be called when the statement
// has ended.
func (s *session) interruptWhenDone(ctx context.Context) (settle func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(gone)
		tls := libc.NewTLS() // the session's own is in use
		defer tls.Close()
		// Again and again: SQLite forgets an interrupt that comes before the
		// statement has begun.
		for again := time.NewTicker(time.Millisecond); ; {
			lib.Xsqlite3_interrupt(tls, s.db)
			select {
			case <-ended:
				again.Stop()
				return
			case <-again.C:
			}
		}
	})
	return func() {
		close(ended)
		if !stop() {
			<-gone
		}
	}
}

// read runs the statement and hands its rows to the sink.
func (s *session) read(statement *statement, sink query.Sink) (target.Cost, error) {
	tls, p := s.tls, statement.p
	columns := int(lib.Xsqlite3_column_count(tls, p))
	s.row = s.row[:0]
	for range columns {
		s.row = append(s.row, query.Value{})
	}
	var cost target.Cost
	for {
		switch rc := lib.Xsqlite3_step(tls, p); rc {
		case lib.SQLITE_ROW:
		case lib.SQLITE_DONE:
			return cost, nil
		default:
			return cost, s.failure(rc)
		}
		for c := range columns {
			cost.Bytes += int64(statement.value(int32(c), &s.row[c]))
		}
		cost.Rows++
		if sink != nil {
			if err := sink.Row(s.row); err != nil {
				return cost, err
			}
		}
	}
}

// statement is a compiled statement of a session.
type statement struct {
	s *session
	p uintptr
}

// prepare compiles the only statement of the text.
func (s *session) prepare(text string) (*statement, error) {
	if s.db == 0 {
		return nil, errClosed
	}
	if strings.Contains(text, "\x00") {
		return nil, errors.New("SQLite would cut the statement off at its NUL character")
	}
	sql, err := libc.CString(text)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(s.tls, sql)
	const pointer = libc.Tsize_t(unsafe.Sizeof(uintptr(0)))
	out := libc.Xmalloc(s.tls, 2*pointer)
	defer libc.Xfree(s.tls, out)
	if rc := lib.Xsqlite3_prepare_v2(s.tls, s.db, sql, int32(len(text)+1), out, out+uintptr(pointer)); rc != lib.SQLITE_OK {
		return nil, s.failure(rc)
	}
	found := *(*[2]uintptr)(memory(out))
	statement := &statement{s: s, p: found[0]}
	if rest := strings.TrimSpace(text[found[1]-sql:]); statement.p == 0 || rest != "" {
		statement.finalize()
		return nil, fmt.Errorf("not one statement: %q", text)
	}
	return statement, nil
}

// finalize releases the statement; a second call does nothing.
func (st *statement) finalize() {
	lib.Xsqlite3_finalize(st.s.tls, st.p)
	st.p = 0
}

// run executes a statement that has no answer and keeps what is bound to it.
func (st *statement) run() error {
	rc := lib.Xsqlite3_step(st.s.tls, st.p)
	if rc != lib.SQLITE_DONE {
		err := st.s.failure(rc)
		lib.Xsqlite3_reset(st.s.tls, st.p)
		return err
	}
	lib.Xsqlite3_reset(st.s.tls, st.p)
	return nil
}

// The parameters of a statement are numbered from 1. Binding one fails only
// where the number is wrong or memory is at its end, and is not checked: run
// reports the latter.

func (st *statement) bindInt(i int32, v int64) { lib.Xsqlite3_bind_int64(st.s.tls, st.p, i, v) }

func (st *statement) bindFloat(i int32, v float64) { lib.Xsqlite3_bind_double(st.s.tls, st.p, i, v) }

func (st *statement) bindNull(i int32) { lib.Xsqlite3_bind_null(st.s.tls, st.p, i) }

// bindText binds a copy of the text.
func (st *statement) bindText(i int32, v []byte) {
	copied := libc.Xmalloc(st.s.tls, libc.Tsize_t(len(v)+1))
	copy(unsafe.Slice((*byte)(memory(copied)), len(v)), v)
	lib.Xsqlite3_bind_text(st.s.tls, st.p, i, copied, int32(len(v)), lib.SQLITE_TRANSIENT)
	libc.Xfree(st.s.tls, copied)
}

// bindBlob binds a copy of the bytes.
func (st *statement) bindBlob(i int32, v []byte) {
	copied := libc.Xmalloc(st.s.tls, libc.Tsize_t(len(v)+1))
	copy(unsafe.Slice((*byte)(memory(copied)), len(v)), v)
	lib.Xsqlite3_bind_blob(st.s.tls, st.p, i, copied, int32(len(v)), lib.SQLITE_TRANSIENT)
	libc.Xfree(st.s.tls, copied)
}

// value puts a column of the current row into dst and returns its size in
// bytes: 8 for numbers, 0 for NULL. A text is SQLite's own memory until the
// next row. Times are integers: SQLite has no type for them.
func (st *statement) value(c int32, dst *query.Value) int {
	tls, p := st.s.tls, st.p
	switch lib.Xsqlite3_column_type(tls, p, c) {
	case lib.SQLITE_INTEGER:
		*dst = query.Value{Kind: query.Int, Int: lib.Xsqlite3_column_int64(tls, p, c)}
	case lib.SQLITE_FLOAT:
		*dst = query.Value{Kind: query.Float, Float: lib.Xsqlite3_column_double(tls, p, c)}
	case lib.SQLITE_NULL:
		*dst = query.Value{}
		return 0
	default:
		text := lib.Xsqlite3_column_text(tls, p, c)
		n := int(lib.Xsqlite3_column_bytes(tls, p, c))
		*dst = query.Value{Kind: query.Text}
		if n > 0 {
			dst.Text = unsafe.Slice((*byte)(memory(text)), n)
		}
		return n
	}
	return 8
}
