package site

import (
	"maps"
	"regexp"
	"strings"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
)

// public returns the run of a document for publication, pooled: without paths
// of the machine, and without texts that look like secrets. Runs are recorded without
// secrets, but a document may come from anybody.
func public(document []byte) (*result.Run, error) {
	recorded, err := result.Decode(document)
	if err != nil {
		return nil, err
	}
	hidden := secret.New()
	for i := range recorded.Targets {
		hidden.Public(recorded.Targets[i].Name, recorded.Targets[i].Driver)
	}
	for i := range recorded.Targets {
		t := &recorded.Targets[i]
		t.Options = maps.Clone(t.Options)
		for name, value := range t.Options {
			if secretName.MatchString(name) && value != "" {
				hidden.Add(value)
				t.Options[name] = secret.Mark
			}
		}
		for j := range t.Changes {
			if c := &t.Changes[j]; secretName.MatchString(c.Name) && c.Value != "" {
				hidden.Add(c.Value)
				c.Value = secret.Mark
			}
		}
	}
	for _, found := range secretLine.FindAllStringSubmatch(recorded.Experiment, -1) {
		hidden.Add(strings.Trim(found[2], `'"`))
	}
	recorded.Args = hidden.Args(recorded.Args)
	text := func(s string) string { return withoutPaths(hidden.Text(s)) }
	secret.Rewrite(recorded, text)
	if len(recorded.Args) > 0 {
		recorded.Args[0] = "tsmark" // wherever it is installed
	}
	recorded.Experiment = quote(text(secretLine.ReplaceAllString(recorded.Experiment, "${1}'"+secret.Mark+"'")))
	settings := maps.Clone(recorded.Dataset.Spec.Settings)
	for name, value := range settings {
		settings[name] = text(value)
	}
	recorded.Dataset.Spec.Settings = settings
	return recorded.Pool()
}

// secretName matches the names of secret options of any driver.
var secretName = regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|token|credentials?|(api|access|private)[_-]?key)$`)

// secretLine matches a key of an experiment whose value is a secret, and the value.
var secretLine = regexp.MustCompile(`(?im)((?:^[ \t]*(?:- *)?|[{,][ \t]*)["']?[a-z0-9_.-]*(?:password|passwd|passphrase|secret|token|credentials?|(?:api|access|private)[_-]?key)["']?[ \t]*:[ \t]+)('[^'\n]*'|"[^"\n]*"|[^\s,}#][^\n,}]*)`)

// localPath matches a path from the root of a file system, or from a home, as the
// second group; the first is the character before it. Paths of URLs follow a host's name,
// so they do not match. Without groups it matches two parts of query texts that look like paths:
// requests of HTTP and regular expressions of InfluxQL.
var localPath = regexp.MustCompile(`\b(?:GET|HEAD|POST|PUT|DELETE) /` + endOfPath + `|[=!]~ ?/[^/\n]*/|` +
	"(^|[\\s\"'`=:,;|(\\[{>@])" +
	`((?:file:/{1,3}|~[A-Za-z0-9_-]*/|/|\\\\|[A-Za-z]:[\\/])[A-Za-z0-9._~$%+-]` + endOfPath + `)`)

// knownPath matches a path below folders that every system has, whatever precedes
// it: -I/usr/include.
var knownPath = regexp.MustCompile(`/(?:home|root|Users|tmp|var|usr|opt|etc|mnt|media|srv|private|Volumes)/` + endOfPath)

const endOfPath = "[^\\s\"'`,;:|)\\]}<>]*"

// withoutPaths puts the mark of secrets in the place of paths.
func withoutPaths(text string) string {
	if !strings.ContainsAny(text, `/\`) {
		return text
	}
	text = localPath.ReplaceAllStringFunc(text, func(found string) string {
		if parts := localPath.FindStringSubmatch(found); parts[2] != "" {
			return parts[1] + secret.Mark
		}
		return found
	})
	return knownPath.ReplaceAllString(text, secret.Mark)
}

// marked matches values of YAML that begin with the mark: of a line, and within braces.
var marked = regexp.MustCompile(`(?m)(^[ \t]*(?:- +)?(?:[A-Za-z0-9_.-]+:[ \t]+)?|[{,][ \t]*[A-Za-z0-9_.-]+:[ \t]+)(\*\*\*(?:[^\n,}]*[^\s,}])?)`)

// quote puts quotes around values of YAML that begin with the mark, which would be
// aliases.
func quote(experiment string) string {
	return marked.ReplaceAllStringFunc(experiment, func(found string) string {
		parts := marked.FindStringSubmatch(found)
		return parts[1] + "'" + strings.ReplaceAll(parts[2], "'", "''") + "'"
	})
}

// withoutDetails returns the run with only the data for tables, so that a thousand runs fit
// into memory: single times and summaries, no histograms, resources and progress.
func withoutDetails(r *result.Run) *result.Run {
	out := *r
	out.Resources, out.Args = nil, nil
	queries := func(list []result.Queries) {
		for i := range list {
			list[i].Service.Histogram, list[i].Accumulated, list[i].Open = "", nil, openOnly(list[i].Open)
		}
	}
	load := func(l *result.Load) {
		if l != nil {
			l.Batches.Histogram, l.Rates, l.Accumulated, l.Retries = "", nil, nil, nil
		}
	}
	for i := range out.Targets {
		t := &out.Targets[i]
		queries(t.Queries)
		load(t.Load)
		for j := range t.Repeats {
			queries(t.Repeats[j].Queries)
			load(t.Repeats[j].Load)
		}
	}
	return &out
}

// openOnly returns the data of an open loop for tables.
func openOnly(o *result.OpenLoop) *result.OpenLoop {
	if o == nil {
		return nil
	}
	out := *o
	out.Response.Histogram, out.Lag = "", result.Latency{}
	return &out
}
