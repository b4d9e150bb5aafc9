package driver

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Object is something in a place that has a name: a table, an index, a view, a
// measurement.
type Object struct {
	// Kind is what users of the system call it, in their words: table. Empty: the
	// name says it.
	Kind string
	// Name tells it from all others in the place that tsmark could have made.
	Name string
	// Key is alike in objects that cannot be in one place at once: the name in
	// lower case, where case tells no names apart. Empty: the name.
	Key string
	// Identity tells it from another one that has or had the name: what the
	// system gives to an object once and never again, or where it has no such
	// thing, the columns. Empty: nothing does.
	Identity string
	// Columns is what an object consists of that the system makes only as rows
	// come, and as they are: one of tsmark's has no others than Plan names. Nil:
	// that tells nothing.
	Columns []string
	// Of is the name of the object that it comes and goes with: an index's table.
	Of string
	// Schema is where it is, if that is not where tsmark makes its own, which it
	// then has nothing to do with.
	Schema string
	// Data says that it may hold data: a place that has such a one, and no note,
	// is not tsmark's.
	Data bool
	// Note means that the object holds the note.
	Note bool
	// InTheWay says that nothing may be created beside it, whatever its name,
	// unless tsmark made it.
	InTheWay bool
}

// String names the object to a user, in one line.
func (o Object) String() string {
	name := o.Name
	if o.Schema != "" {
		name = o.Schema + "." + name
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.-$ ", r)
	}) {
		name = strconv.Quote(name)
	}
	return strings.TrimPrefix(o.Kind+" "+name, " ")
}

// Clashes reports whether two objects cannot be in the place at once.
func (o Object) Clashes(other Object) bool {
	return o.Schema == other.Schema && o.key() == other.key()
}

func (o Object) key() string {
	if o.Key == "" {
		return o.Name
	}
	return o.Key
}

// Described is the identity of an object by what describes it, such as its
// columns, where the system gives it none.
func Described(by ...string) string {
	hash := sha256.New()
	for _, part := range by {
		fmt.Fprintf(hash, "%q", part) // so that parts cannot run into each other
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}

// Token is a text that nobody else has, for systems in which a description is
// an object's identity: as a comment of the object it makes that its own.
func Token() string {
	var random [8]byte
	rand.Read(random[:])
	return fmt.Sprintf("made by tsmark, %x", random)
}
