package driver

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Object is a named object in a place: a table, an index, a view, a measurement.
type Object struct {
	// Kind is the system's term for it: table. Empty: the name says it.
	Kind string
	// Name distinguishes it from all other objects in the place that tsmark could have created.
	Name string
	// Key is equal for objects that cannot exist in one place at once: the name in lower case, if names
	// are case-insensitive. Empty: the name.
	Key string
	// Identity distinguishes it from other objects that have or had the name. It is a value that the
	// system never uses twice, or, in a system without such values, the columns. Empty: the system has
	// neither.
	Identity string
	// Columns are the columns of an object, in a system that creates columns as rows arrive: an object
	// of tsmark's has only the columns that Plan names. Nil: the columns prove nothing.
	Columns []string
	// Of is the name of the object that it is created and dropped with: an index's table.
	Of string
	// Schema is the schema that contains it, if that is not the one in which tsmark creates its
	// objects. tsmark then ignores the object.
	Schema string
	// Data means that it may hold data: a place with such an object, and without a note, is not
	// tsmark's.
	Data bool
	// Note means that the object holds the note.
	Note bool
	// InTheWay means that nothing may be created next to it, whatever its name, unless tsmark created
	// it.
	InTheWay bool
}

// String names the object for a user, in one line.
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

// Clashes reports whether two objects cannot exist in the place at once.
func (o Object) Clashes(other Object) bool {
	return o.Schema == other.Schema && o.key() == other.key()
}

func (o Object) key() string {
	if o.Key == "" {
		return o.Name
	}
	return o.Key
}

// IdentityOf is an object's identity derived from a description, such as its columns, for systems that
// do not assign identities.
func IdentityOf(by ...string) string {
	hash := sha256.New()
	for _, part := range by {
		fmt.Fprintf(hash, "%q", part) // quoted, so that adjacent parts stay distinct
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}

// Token is a unique text, for systems in which a description is an object's identity: tsmark stores it
// as a comment of the object to mark it as its own.
func Token() string {
	var random [8]byte
	rand.Read(random[:])
	return fmt.Sprintf("made by tsmark, %x", random)
}
