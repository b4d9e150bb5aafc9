// Package secret keeps passwords, tokens and keys out of what is stored and
// shown.
package secret

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark stands where a secret was.
const Mark = "***"

// Redactor blots secrets out of texts: the values that it was told, as they
// are and as URLs, JSON and Go write them; the passwords of all URLs; and what
// stands behind the names of secrets, as in password=x. Once it knows all it
// may be used by several goroutines.
type Redactor struct {
	pairs  *regexp.Regexp
	values []string // longest first: one may be part of another
	public map[string]bool
}

// New returns a Redactor that knows the names of these secrets, beside those
// that everybody uses.
func New(names ...string) *Redactor {
	all := []string{
		`(?:[a-z0-9]+[_.-])*(?:password|passwd|passphrase|pwd|secret|token|credentials?|(?:secret|api|access|private)[_-]?key)`,
	}
	for _, name := range names {
		all = append(all, regexp.QuoteMeta(name))
	}
	return &Redactor{
		pairs:  regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)=('[^']*'|"[^"]*"|[^,;&\s'"]+)`),
		public: make(map[string]bool),
	}
}

// Public says which values are no secrets where they stand alone: one that is
// the name of a database as well tells nobody a password, and a report without
// it could not be read. It must be called before the values become known.
func (r *Redactor) Public(values ...string) {
	for _, v := range values {
		r.public[v] = true
	}
}

// Add tells the Redactor secret values.
func (r *Redactor) Add(values ...string) {
	for _, v := range values {
		if v == "" || v == Mark || r.public[v] {
			continue
		}
		for _, form := range forms(v) {
			if form != "" && !slices.Contains(r.values, form) {
				r.values = append(r.values, form)
			}
		}
	}
	slices.SortFunc(r.values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
}

// forms returns the ways in which a value may be written.
func forms(v string) []string {
	quoted, _ := json.Marshal(v) // of a text this cannot fail
	goQuoted := strconv.Quote(v)
	return []string{
		v, strings.Join(strings.Fields(v), " "), url.QueryEscape(v), url.PathEscape(v),
		strings.TrimPrefix(url.UserPassword("", v).String(), ":"),
		string(quoted[1 : len(quoted)-1]), goQuoted[1 : len(goQuoted)-1],
	}
}

// userinfo finds user and password of a URL. The password goes on to the last @
// before the path, since people forget to escape one.
var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@?#'"]*):([^\s/'"]*)@`)

// Learn adds the secrets that stand in a text: passwords of URLs and values
// behind the names of secrets. Of a list with commas what has no name of its
// own goes on with the value before it.
func (r *Redactor) Learn(text string) {
	for _, found := range userinfo.FindAllStringSubmatch(text, -1) {
		r.learned(found[2])
	}
	within := false
	for part := range strings.SplitSeq(text, ",") {
		pairs := r.pairs.FindAllStringSubmatch(part, -1)
		for _, found := range pairs {
			r.learned(strings.Trim(found[2], `'"`))
		}
		if len(pairs) == 0 && within && !strings.Contains(part, "=") {
			r.Add(part)
			continue
		}
		within = len(pairs) > 0
	}
}

func (r *Redactor) learned(value string) {
	r.Add(value)
	if plain, err := url.PathUnescape(value); err == nil {
		r.Add(plain)
	}
}

// Text returns the text without secrets.
func (r *Redactor) Text(text string) string {
	// First whole values: one may hold what looks like a pair or a URL.
	for _, v := range r.values {
		text = replace(text, v)
	}
	text = userinfo.ReplaceAllString(text, "${1}:"+Mark+"@")
	return r.pairs.ReplaceAllString(text, "${1}="+Mark)
}

// shortest is the length from which a value is a secret also within a word.
// Shorter ones are part of many words.
const shortest = 4

// replace puts Mark in the place of a value.
func replace(text, value string) string {
	if len(value) >= shortest {
		return strings.ReplaceAll(text, value, Mark)
	}
	var b strings.Builder
	rest := text
	for {
		at := strings.Index(rest, value)
		if at < 0 {
			b.WriteString(rest)
			return b.String()
		}
		before, _ := utf8.DecodeLastRuneInString(text[:len(text)-len(rest)+at])
		after, _ := utf8.DecodeRuneInString(rest[at+len(value):])
		b.WriteString(rest[:at])
		if isWord(before) || isWord(after) {
			b.WriteString(value)
		} else {
			b.WriteString(Mark)
		}
		rest = rest[at+len(value):]
	}
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// Error returns err with a text without secrets; what it wraps stays to be
// found by errors.Is and errors.As. Of nil it is nil.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if shown := r.Text(text); shown != text {
		return &redacted{shown, err}
	}
	return err
}

type redacted struct {
	text string
	err  error
}

func (e *redacted) Error() string { return e.text }
func (e *redacted) Unwrap() error { return e.err }

// InEnvironment returns the values of variables, as os.Environ lists them,
// whose names say that they are secrets, as PGPASSWORD does.
func InEnvironment(environ []string) []string {
	var found []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if len(value) > shortest && secretVariable.MatchString(name) {
			found = append(found, value)
		}
	}
	return found
}

// secretVariable leaves out PWD, the working folder.
var secretVariable = regexp.MustCompile(`(?i)(PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?|_KEY|APIKEY)$`)
