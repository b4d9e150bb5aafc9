package secret

import (
	"regexp"
	"strings"
)

// everybodys are common names of secrets, as a regular expression, and withoutTokens those among
// them that no parser uses for a part of a text.
const (
	withoutTokens = `[a-z0-9_.-]*(?:password|passwd|passphrase|pwd|secret|credentials?|(?:secret|api|access|private)[_-]?key)`
	everybodys    = withoutTokens + `|[a-z0-9_.-]*token`
)

// anyName is each name of a secret, as an alternative of a regular expression.
func anyName(names []string) string {
	all := everybodys
	for _, name := range names {
		all += "|" + regexp.QuoteMeta(name)
	}
	return all
}

// namedValues returns an expression for values that follow a name in prose and in YAML: password:
// x, password "x", password (x).
func namedValues(names []string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + anyName(names) + `)(?:['")\]]*\s*[:=]\s*['"(]*|\s+(?:is\s+)?['"(]+)([^\s,;&'")]+)`)
}

// place is an expression for a place of secrets in texts, which is its last group.
type place struct {
	*regexp.Regexp
	chars string // each match contains all of them
}

// mayMatch looks for the characters, which takes far less time than matching.
func (p place) mayMatch(text string) bool {
	for i := range len(p.chars) {
		if strings.IndexByte(text, p.chars[i]) < 0 {
			return false
		}
	}
	return true
}

// places returns the places of secrets. The first one is NAME=VALUE.
func places(names []string) []place {
	all := anyName(names)
	const value = `('[^']*'|"[^"]*"|`
	list := []struct{ chars, text string }{
		{"=", `\b(?:` + all + `)=` + value + `[^,;&\s'"]+)`},
		// --password X. What begins with - is the next flag.
		{"-", `(?:^|[\s'"])--?(?:` + all + `|pass|pw|auth)\s+` + value + `[^\s'"-][^\s'"]*)`},
		// PASSWORD 'x' in SQL. A token before a quote is a parser's.
		{"'", `\b(?:` + withoutTokens + `|identified by)\s+('[^']*')`},
		// "password": "x" in JSON.
		{":", `["'](?:` + all + `)["']\s*:\s*("(?:[^"\\]|\\.)*"|'[^']*')`},
		// ?auth=x in URLs.
		{"=", `[?&](?:` + all + `|auth|authorization|apikey|key|sig|signature|p|pass|pw|code|session|sid|jwt|bearer)=([^&\s#'"]+)`},
		{"", `\bauthorization['"]?\s*[:=]\s*['"]?(?:[a-z]+\s+)?([^\s'",]+)`},
		// curl -u user:x. Two numbers are a user and a group.
		{"-:", `(?:^|\s)(?:-u|-U|--user|--proxy-user)(?:\s+|=)['"]?[^\s:'"]+:([^\s'"]*[^\s'"0-9][^\s'"]*)`},
		// The password of a URL extends to the last @ before the path, since users forget to escape
		// an @.
		{":/@", `[a-z][a-z0-9+.-]*://[^\s/:@?#'"]*:([^\s/'"]*)@`},
		// The tools whose -p is a password, not a port.
		{"-", `\b(?:sshpass|mongosh?|cqlsh|mysql|mariadb)\b[^|;&\n]*?\s-p\s+` + value + `[^\s'"-][^\s'"]*)`},
		// user:x@host. A container's image may have a tag and a digest.
		{":@", `(?:^|[\s=,'"(])[^\s/:@=,'"(]+:([^\s/@'",]+)@(?:[a-rt-z0-9\[]|s(?:[^h\s]|h[^a\s]))`},
	}
	compiled := make([]place, len(list))
	for i, l := range list {
		compiled[i] = place{regexp.MustCompile(`(?i)` + l.text), l.chars}
	}
	return compiled
}

// short matches -pX, the password of mysql and other tools.
var short = regexp.MustCompile(`(?:^|\s)-p('[^']+'|"[^"]+"|[^\s'"={/.-][^\s'"{]{2,})`)

// flags matches texts that begin like -pX without a password: ports, names of flags, and
// assignments.
var flags = regexp.MustCompile(`^(?:[0-9.:/]+(?:/tcp|/udp)?|[a-z-]+=.*|ort|ath|rint|id|idfile|roc|rofile|roject|roperties|roperty|rotocol|arallel|arallelism|refix|lugin|lugins|olicy|erm|ages|age|riority|rivileged|reset|arams?|artitions?|ipe|oll|ool|roduction|asswordfile|asswd|assword|ass|w|ool-size)$`)

// attachedValues returns the positions of -pX in a text.
func attachedValues(text string) [][]int {
	if !strings.Contains(text, "-p") {
		return nil
	}
	var found [][]int
	for _, m := range short.FindAllStringSubmatchIndex(text, -1) {
		if value := text[m[2]:m[3]]; !flags.MatchString(value) && value != Mark {
			found = append(found, m[2:4])
		}
	}
	return found
}
