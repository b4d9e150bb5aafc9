// Package secret keeps passwords, tokens and keys out of stored and displayed texts.
package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Mark replaces a secret.
const Mark = "***"

// placeholder is the file of a secret in help texts and hints, as in --token @FILE. It reveals
// nothing.
const placeholder = "@FILE"

// Redactor removes secrets from texts: the known values, plain and as URLs, JSON, HTML, SQL, Go,
// hex and Base64 encode them, and values in the places of secrets, such as the password of a URL or
// the text after password= or --password. A value that is an ordinary word or number is hidden only
// in such places. Once it knows all secrets it may be used by several goroutines.
type Redactor struct {
	places []place
	named  *regexp.Regexp  // matches a value, its only group, after the name of a secret in prose
	values []string        // longest first: one may be part of another
	common map[string]bool // the values that are ordinary
	plain  []string        // as provided, to be found in encoded texts
	public map[string]bool
	clean  sync.Map // texts of records that hold no secret: a record is checked again whenever it is stored
}

// New returns a Redactor that knows these names of secrets, in addition to the common ones.
func New(names ...string) *Redactor {
	return &Redactor{places: places(names), named: namedValues(names), common: make(map[string]bool), public: make(map[string]bool)}
}

// Public declares values that are not secrets on their own: a value that is also the name of a
// database does not reveal a password, and a report without it could not be read. It must be called
// before the secrets are added.
func (r *Redactor) Public(values ...string) {
	for _, v := range values {
		r.public[v] = true
	}
}

// Add adds secret values.
func (r *Redactor) Add(values ...string) {
	for _, v := range values {
		if v == "" || v == Mark || v == placeholder || r.public[v] {
			continue
		}
		r.clean.Clear()
		r.plain = append(r.plain, v)
		if ordinary(v) {
			r.common[v] = true
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
	all := []string{
		v, strings.Join(strings.Fields(v), " "), html.EscapeString(v),
		string(quoted[1 : len(quoted)-1]), goQuoted[1 : len(goQuoted)-1], strconv.QuoteToASCII(v)[1 : len(strconv.QuoteToASCII(v))-1],
		strings.ReplaceAll(v, "'", "''"), strings.ReplaceAll(v, "'", `'\''`), strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(v),
	}
	for _, escaped := range []string{url.QueryEscape(v), url.PathEscape(v), strings.TrimPrefix(url.UserPassword("", v).String(), ":")} {
		all = append(all, escaped, percents.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	if len(v) >= shortest {
		all = append(all, hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))))
	}
	return all
}

var percents = regexp.MustCompile("%[0-9A-F]{2}")

// Learn adds the secrets of a text that are in the places of secrets. In a list with commas, an
// element without a name continues the previous value.
func (r *Redactor) Learn(text string) {
	for _, place := range r.places {
		for _, found := range place.FindAllStringSubmatch(text, -1) {
			r.learn(found[1])
		}
	}
	for _, found := range attachedValues(text) {
		r.learn(text[found[0]:found[1]])
	}
	whole := "" // the value including its parts after commas
	for part := range strings.SplitSeq(text, ",") {
		if found := r.places[0].FindStringSubmatch(part); found != nil {
			whole = found[1]
		} else if whole != "" && !strings.Contains(part, "=") {
			whole += "," + part
			r.Add(part, whole)
		} else {
			whole = ""
		}
	}
}

func (r *Redactor) learn(value string) {
	value = unquote(value)
	r.Add(value)
	if plain, err := url.PathUnescape(value); err == nil {
		r.Add(plain)
	}
}

func unquote(value string) string {
	if n := len(value); n >= 2 && (value[0] == '\'' || value[0] == '"') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}

// Text returns the text without secrets.
func (r *Redactor) Text(text string) string {
	// Whole values come first: a value may contain text that looks like the place of another.
	for _, v := range r.values {
		text = replace(text, v)
	}
	text = r.redactBase64(text)
	text = blot(text, r.commonPlaces(text))
	for _, place := range r.places {
		if place.mayMatch(text) {
			text = blot(text, place.FindAllStringSubmatchIndex(text, -1))
		}
	}
	return blot(text, attachedValues(text))
}

// commonPlaces returns where ordinary values follow the names of secrets.
func (r *Redactor) commonPlaces(text string) [][]int {
	if len(r.common) == 0 {
		return nil
	}
	var found [][]int
	for _, m := range r.named.FindAllStringSubmatchIndex(text, -1) {
		value := text[m[2]:m[3]]
		if sentence := strings.TrimRight(value, marks); !r.common[value] && r.common[sentence] {
			m[3] = m[2] + len(sentence)
		}
		if r.common[text[m[2]:m[3]]] {
			found = append(found, m)
		}
	}
	return found
}

// marks may follow a value in a sentence.
const marks = ".:!?"

// Args returns a command line without secrets: unlike in a text the name of one
// may be the argument before it.
func (r *Redactor) Args(args []string) []string {
	shown := make([]string, len(args))
	for i, arg := range args {
		r.Learn(arg)
		if i > 0 && strings.HasPrefix(args[i-1], "-") {
			r.Learn(args[i-1] + " '" + arg + "'")
		}
	}
	for i, arg := range args {
		shown[i] = r.Text(arg)
	}
	return shown
}

// blot puts Mark in the place of the last group of each match, unless it is a
// placeholder, or Mark already.
func blot(text string, matches [][]int) string {
	var b strings.Builder
	at := 0
	for _, m := range matches {
		from, to := m[len(m)-2], m[len(m)-1]
		if value := text[from:to]; value == placeholder || strings.TrimRight(value, marks) == Mark {
			continue
		}
		b.WriteString(text[at:from])
		b.WriteString(Mark)
		at = to
	}
	return b.String() + text[at:]
}

// encoded matches possible Base64 of either alphabet.
var encoded = regexp.MustCompile(`[A-Za-z0-9+/_-]{6,}={0,2}`)

// redactBase64 removes Base64 that contains a secret, as echoed by gateways that received
// user:password.
func (r *Redactor) redactBase64(text string) string {
	if len(r.plain) == 0 {
		return text
	}
	return encoded.ReplaceAllStringFunc(text, func(token string) string {
		digits := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(token, "="))
		for skipped := range 4 { // the text before it may look like part of it
			if skipped >= len(digits) {
				break
			}
			rest := digits[skipped:]
			if len(rest)%4 == 1 {
				rest = rest[:len(rest)-1]
			}
			if plain, err := base64.RawStdEncoding.DecodeString(rest); err == nil && r.containsSecret(string(plain)) {
				return Mark
			}
		}
		return token
	})
}

func (r *Redactor) containsSecret(plain string) bool {
	return slices.ContainsFunc(r.plain, func(v string) bool {
		return plain == v || strings.HasSuffix(plain, ":"+v) || len(v) >= shortest && strings.Contains(plain, v)
	})
}

// shortest is the length from which a value may be a secret also within a word.
const shortest = 4

// replace puts Mark in the place of a value.
func replace(text, value string) string {
	if anywhere(value) {
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

// Error returns err with the secrets removed from its text; errors.Is and errors.As still find the
// errors that err wraps. It returns nil for nil.
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
		if _, value, _ := strings.Cut(entry, "="); len(value) > shortest && IsSecretVariable(entry) {
			found = append(found, value)
		}
	}
	return found
}

// IsSecretVariable reports whether the name of a variable, as os.Environ lists it, says that it is a
// secret.
func IsSecretVariable(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	return secretVariable.MatchString(name)
}

// secretVariable leaves out PWD, the working folder.
var secretVariable = regexp.MustCompile(`(?i)(PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?|_KEY|APIKEY)$`)
