// Package language_test checks identifiers, JSON keys, comments and messages of all Go files
// against the project's vocabulary: plain technical English, one word for one concept.
//
// List the findings of a folder, with file and line:
//
//	LIST=engine go test ./internal/language -run Findings -v
//
// After fixing some, or after moving code between folders, write the new numbers:
//
//	go test ./internal/language -update
package language_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write testdata/findings.txt; refused if the total rises")

const (
	root  = "../.."
	known = "testdata/findings.txt"
)

// bannedWords maps words that must not be part of an identifier or a key to their replacements. An ask is a
// price, so the word itself is allowed.
var bannedWords = map[string]string{
	"asks": "query, run, request", "asked": "queried, requested, sent",
	"asking": "querying", "asker": "querier", "question": "query", "questions": "queries",
	"moment": "time, instant", "moments": "times, instants", "turn": "run, round, repeat", "turns": "runs, rounds, repeats",
	"standing": "phase, place, status", "standings": "phases, places", "stands": "is, exists", "stood": "was, existed",
	"lane": "worker, connection, queue", "lanes": "workers, connections, queues", "parcel": "batch", "parcels": "batches",
	"rival": "other process", "rivals": "other processes", "stranger": "other, existing", "strangers": "others, existing",
	"foreign": "existing, other", "mend": "fix", "mended": "fixed", "mends": "fixes", "anew": "again, from scratch",
	"untold": "unknown, missing, skipped", "brought": "user-provided", "given": "user-provided, or the role of the value",
	"thing": "its name", "things": "their name", "told": "known, reported", "tell": "report, say", "tells": "reports, says",
	"hearsay": "reported",
}

// bareNames are prepositions, pronouns, adverbs and irregular participles, which do not name a function.
// Regular participles are found by their ending.
var bareNames = strings.Fields(`
	about above after against alike alone among apart around as at back before below beside besides between beyond by
	down during each else elsewhere enough except for from here how in inside instead into least less like more most near of
	off on once only onto or other others out outside over past per plainly same since so some still such than then there
	through to together toward under until up upon via what when where whereas which while who whole whose with within
	without
	begun bought broken built done drawn due found given gone held hidden kept known laid left lent lost made meant met
	own paid rest said seen sent shown shut sold spent taken thought told torn understood worn written`)

// oldStyle are the patterns of sentences that read as if they were translated.
var oldStyle = []*regexp.Regexp{
	regexp.MustCompile(`\b(is|are|was|were) none\b`),
	regexp.MustCompile(`\b(is|are|was|were) no [a-z]`),
	regexp.MustCompile(`\bof (which|whom|whose|what|that which|those)\b`),
	regexp.MustCompile(`\b(those|that|these) (that|which|who)\b`),
	regexp.MustCompile(`\b[Ww]hat (is|are|was|were|has|have|had|it|they|does|did|goes|went|came|comes|makes)\b`),
	regexp.MustCompile(`\bsuch as (is|are|was|were|has|have)\b`),
	regexp.MustCompile(`\bthe same of\b`),
	regexp.MustCompile(`(?i)\b(anew|untold|strangers?|rivals?|mends?|mended|parcels?|hearsay)\b`),
	regexp.MustCompile(`(?i)\b(asks|asked|asking|questions?)\b`),
	regexp.MustCompile(`\b(stands|stood)\b`),
	regexp.MustCompile(`\b(is|are) right\b`),
	regexp.MustCompile(`\b(breaks|broke|broken) off\b`),
	regexp.MustCompile(`\b[Ss]o many\b`),
}

// unfamiliar are words that readers of the field do not search for. No document has them, and no
// help text: no string in the packages of commands and drivers.
var unfamiliar = regexp.MustCompile(`(?i)\b(questions?|(is|are|was|were|not|never) asked|kinds? of (database|target)s?|rivals?|strangers?|parcels?|lanes?|` +
	`(gave|gives) up|mend(s|ed|ing)?|anew|so often|for so long|any so many|nothing can be told|held to|rows that are none|where and as whom|wanted (was|were)|` +
	`(somebody else's|others'|foreign) (data|tables?))\b`)

// help matches the files with help texts, and their tests.
var help = regexp.MustCompile(`^(cli|driver/db)/`)

// natural are phrases that contain a pattern and are plain English.
var natural = regexp.MustCompile(`\b[Tt]here (is|are|was|were) no |\b(is|are|was|were) no (longer|more than|larger|smaller|earlier|later)\b|\bstands for\b|\bask (for|a) `)

// deliberate lists findings that remain, by file, as parts of the line or the identifier.
var deliberate = map[string][]string{
	"internal/language/language_test.go": {""},
	// heap.Interface requires the name.
	"engine/sample.go": {"function Less"}, "workload/iotdb/waiting.go": {"function Less"}, "workload/ticks/reader.go": {"function Less"},
	// The kind of an operation or of a warning, not a driver.
	"measure/oplog/oplog.go":   {"json key kind"},
	"measure/stats/warning.go": {"json key kind"},
	// The kind of an object, of a worker, of a value, and of a metric, in the protocol of external drivers.
	"driver/external/message/message.go": {"json key kind"},
	"driver/external/message/schema.go":  {"json key kind"},
	// PostgreSQL's term.
	"driver/db/postgres/database.go": {`"foreign table"`},
}

type finding struct {
	file string
	line int
	text string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.text) }

// TestFindings compares the number of findings in each folder with testdata/findings.txt.
// A folder that is not listed has none.
func TestFindings(t *testing.T) {
	listed := os.Getenv("LIST")
	counts, total := map[string]int{}, 0
	for _, f := range findAll(t) {
		folder := path.Dir(f.file)
		counts[folder]++
		total++
		if listed == "." || listed != "" && (folder == listed || strings.HasPrefix(folder, listed+"/")) {
			t.Log(f)
		}
	}
	allowed, allowedTotal := readKnown(t)
	if *update {
		if total > allowedTotal && allowedTotal > 0 {
			t.Fatalf("%d findings, %d were known; fix the new ones first", total, allowedTotal)
		}
		var text strings.Builder
		for _, folder := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintln(&text, folder, counts[folder])
		}
		if err := os.WriteFile(known, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for folder, count := range counts {
		if count > allowed[folder] {
			t.Errorf("%s has %d findings, %d are known; list them: LIST=%s go test ./internal/language -run Findings -v", folder, count, allowed[folder], folder)
		}
	}
	for folder, count := range allowed {
		if counts[folder] < count {
			t.Errorf("%s has only %d findings left, %d are known; lower the number: go test ./internal/language -update", folder, counts[folder], count)
		}
	}
}

func readKnown(t *testing.T) (counts map[string]int, total int) {
	t.Helper()
	text, err := os.ReadFile(known)
	if err != nil && !*update {
		t.Fatal(err)
	}
	counts = map[string]int{}
	for line := range strings.Lines(string(text)) {
		folder, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("%s: %q: want FOLDER NUMBER", known, line)
		}
		counts[folder] = n
		total += n
	}
	return counts, total
}

// findAll returns the findings of all Go files, sorted by file and line.
func findAll(t *testing.T) []finding {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && strings.HasPrefix(entry.Name(), "."), entry.IsDir() && entry.Name() == "testdata":
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go"):
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found := make([][]finding, len(files))
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, name := range files {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			var err error
			if found[i], err = findInFile(name); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	return slices.Concat(found...)
}

func findInFile(name string) ([]finding, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return nil, err
	}
	relative = filepath.ToSlash(relative)
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var found []finding
	report := func(pos token.Pos, offset int, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		for _, part := range deliberate[relative] {
			if strings.Contains(text, part) {
				return
			}
		}
		found = append(found, finding{relative, set.Position(pos).Line + offset, text})
	}
	prose := func(pos token.Pos, text string) {
		offset := 0
		for line := range strings.Lines(text) {
			rest := natural.ReplaceAllString(line, "")
			for _, pattern := range oldStyle {
				if match := pattern.FindString(rest); match != "" {
					report(pos, offset, "%q in %s", match, strings.TrimSpace(line))
				}
			}
			offset++
		}
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			prose(comment.Pos(), comment.Text)
		}
	}
	names := func(ids ...*ast.Ident) {
		for _, id := range ids {
			for _, word := range splitWords(id.Name) {
				if instead, banned := bannedWords[word]; banned {
					report(id.Pos(), 0, "identifier %s: not %q, but %s", id.Name, word, instead)
				}
			}
		}
	}
	function := func(id *ast.Ident, of *ast.FuncType) {
		words := splitWords(id.Name)
		if len(words) != 1 {
			return
		}
		if slices.Contains(bareNames, words[0]) || isParticiple(words[0]) && !returnsBool(of) {
			report(id.Pos(), 0, "function %s: name it by a verb or a noun", id.Name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names(n.Name)
			function(n.Name, n.Type)
		case *ast.InterfaceType:
			for _, method := range n.Methods.List {
				if of, ok := method.Type.(*ast.FuncType); ok {
					function(method.Names[0], of)
				}
			}
		case *ast.Field:
			names(n.Names...)
			if n.Tag != nil {
				keys(n.Tag, report)
			}
		case *ast.ValueSpec:
			names(n.Names...)
		case *ast.TypeSpec:
			names(n.Name)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					names(left.(*ast.Ident))
				}
			}
		case *ast.RangeStmt:
			for _, left := range []ast.Expr{n.Key, n.Value} {
				if id, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names(id)
				}
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				break
			}
			prose(n.Pos(), n.Value)
			if help.MatchString(relative) && !strings.HasSuffix(relative, "_test.go") {
				for _, word := range unfamiliar.FindAllString(n.Value, -1) {
					if !slices.ContainsFunc(oldStyle, func(r *regexp.Regexp) bool { return r.MatchString(word) }) {
						report(n.Pos(), 0, "%q in a text for users", word)
					}
				}
			}
		}
		return true
	})
	slices.SortStableFunc(found, func(a, b finding) int { return a.line - b.line })
	return found, nil
}

// keys reports banned words in the JSON and YAML keys of a struct tag.
func keys(tag *ast.BasicLit, report func(pos token.Pos, offset int, format string, args ...any)) {
	for _, format := range []string{"json", "yaml"} {
		value, _ := reflect.StructTag(strings.Trim(tag.Value, "`")).Lookup(format)
		key, _, _ := strings.Cut(value, ",")
		for _, word := range splitWords(key) {
			if instead, banned := bannedWords[word]; banned || word == "kind" {
				report(tag.Pos(), 0, "%s key %s: not %q, but %s", format, key, word, instead)
			}
		}
	}
}

// isParticiple reports whether a word is a regular participle; nouns and verbs that end like one are exempt.
func isParticiple(word string) bool {
	return strings.HasSuffix(word, "ed") && !strings.HasSuffix(word, "eed") && !slices.Contains([]string{"embed", "shed", "bed", "red"}, word)
}

// returnsBool reports whether a function returns one bool, so that a participle is its predicate, as in testing.T.Failed.
func returnsBool(of *ast.FuncType) bool {
	if of.Results == nil || of.Results.NumFields() != 1 {
		return false
	}
	id, ok := of.Results.List[0].Type.(*ast.Ident)
	return ok && id.Name == "bool"
}

// splitWords splits an identifier or a key into words in lower case: HTTPServer_id becomes http, server, id.
func splitWords(name string) []string {
	var words []string
	letters := []rune(name)
	start := 0
	for i := 1; i <= len(letters); i++ {
		end := i == len(letters)
		boundary := !end && unicode.IsUpper(letters[i]) &&
			(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		separator := !end && !unicode.IsLetter(letters[i]) && !unicode.IsDigit(letters[i])
		if end || boundary || separator {
			if word := strings.Trim(strings.ToLower(string(letters[start:i])), "_-. "); word != "" {
				words = append(words, word)
			}
			start = i
		}
	}
	return words
}

// TestDocuments checks the documents, except their code. Stored reports are not among them: they keep
// the words of the version that wrote them.
func TestDocuments(t *testing.T) {
	code := regexp.MustCompile("`[^`]*`")
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/design/*.md", "docs/drivers/*.md", "results/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(pages), err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			number := 0
			for line := range strings.Lines(string(text)) {
				number++
				for _, word := range unfamiliar.FindAllString(code.ReplaceAllString(line, ""), -1) {
					t.Errorf("%s:%d: %q; use a term of the field", page, number, word)
				}
			}
		}
	}
}

// TestLength limits the number of words of the documents, tables and code included, as wc -w counts them.
func TestLength(t *testing.T) {
	words := func(name string) int {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return len(strings.Fields(string(text)))
	}
	if n := words("CHANGELOG.md"); n > 500 {
		t.Errorf("CHANGELOG.md has %d words, more than 500", n)
	}
	total := 0
	err := fs.WalkDir(os.DirFS(root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".md") {
			total += words(name)
		}
		return err
	})
	if err != nil || total > 50_000 || total == 0 {
		t.Errorf("docs has %d words, more than 50,000 (%v): trim the page that grew", total, err)
	}
}

func TestSplitWords(t *testing.T) {
	for name, want := range map[string][]string{
		"HTTPServer": {"http", "server"}, "heldTo": {"held", "to"}, "not_asked": {"not", "asked"}, "at": {"at"}, "query-texts": {"query", "texts"},
	} {
		if got := splitWords(name); !slices.Equal(got, want) {
			t.Errorf("splitWords(%q) = %q, want %q", name, got, want)
		}
	}
}
