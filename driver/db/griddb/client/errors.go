package client

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a server's error for a statement.
type Error struct {
	Code    int    // GridDB's number of the error
	Name    string // of the error, where the server gives one
	Message string
	// Denied means that the node cannot execute the statement, or cannot do so now: it does not own the
	// partition, or the cluster is not in service. Refreshing the owners may help.
	Denied bool
	// Broken says that the connection cannot be used any more.
	Broken bool
}

// Error implements error.
func (e *Error) Error() string {
	if e.Name != "" {
		return fmt.Sprintf("%s (error %d, %s)", e.Message, e.Code, e.Name)
	}
	return fmt.Sprintf("%s (error %d)", e.Message, e.Code)
}

// AsError returns the Error that an error wraps; nil: it wraps none.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// The codes of errors that clients distinguish.
const (
	CodeAuthentication    = 10005 // user or password is wrong
	CodeClusterRole       = 10008 // the cluster is not in service, or not yet
	CodePartitionRole     = 10009 // the node does not own the partition
	CodePartitionState    = 10010 // the partition is not available, or not yet
	CodeContainerNotFound = 10016
	CodeSchemaVersion     = 10017 // the container's columns were changed
	CodeClusterName       = 10053 // the cluster has another name
	CodeNoDatabase        = 10087
	CodeNoUserOrDatabase  = 10088
	CodeNotFound          = 60028  // a container, below the level of statements
	CodeRemoved           = 60157  // the container was dropped meanwhile
	CodeCheckpointWrite   = 30003  // the server could not write its files
	CodeLogWrite          = 30007  // the server could not write its log
	CodeNoTable           = 280005 // of a statement of SQL
)

// codeSecurity says that client and server do not agree about encryption.
const codeSecurity = 130003

// The results of statements.
const (
	resultSuccess = 0
	resultFailed  = 1
	resultBroken  = 2
	resultDenied  = 3
)

// failure reads the errors of a statement that failed. Each error is the cause of the one before it.
func (r *reader) failure(result byte) error {
	e := &Error{Denied: result == resultDenied, Broken: result == resultBroken}
	for i := range r.count(24) {
		code, message := int(r.int()), r.string()
		kind := r.string()
		r.string() // file
		r.string() // function
		r.int()    // line
		if i == 0 || code != 0 && !strings.HasSuffix(kind, "PlatformException") {
			e.Code = code
			if message != "" {
				e.Message = message
			}
		}
	}
	if r.err == nil && len(r.b) > 0 {
		e.Name = r.string()
	}
	if r.err != nil {
		return fmt.Errorf("a server's error: %w", r.err)
	}
	e.Message = strings.Join(strings.Fields(e.Message), " ")
	if e.Message == "" {
		e.Message = "the server says no more"
	}
	return e
}
