package process

import (
	"io"
	"os"
	"slices"
	"strings"
)

// What an error shows of a log at the most.
const (
	tailLines = 20
	tailBytes = 4 << 10
)

// tail returns the end of the server's log since begin, as lines of an error; empty: the server
// wrote nothing or has no log.
func tail(c Command, begin int64) string {
	if c.Log == "" {
		return ""
	}
	log, err := os.Open(c.Log)
	if err != nil {
		return ""
	}
	defer log.Close()
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil || end <= begin {
		return "; it wrote nothing to " + c.Log
	}
	// A secret that the cut goes through would not be recognised: read more
	// than is shown, and cut afterwards.
	secrets := secretsOf(c.Env)
	longest := 0
	for _, s := range secrets {
		longest = max(longest, len(s))
	}
	from := max(begin, end-tailBytes-int64(longest))
	text := make([]byte, end-from)
	n, _ := log.ReadAt(text, from)
	shown := strings.TrimRight(redact(string(text[:n]), secrets), "\n")
	cut := len(shown) > tailBytes
	if cut {
		shown = shown[len(shown)-tailBytes:]
	}
	lines := strings.Split(shown, "\n")
	if cut && len(lines) > 1 {
		lines = lines[1:] // which the cut goes through
	}
	lines = lines[max(0, len(lines)-tailLines):]
	return "; the end of " + c.Log + ":\n  " + strings.Join(lines, "\n  ")
}

// redact replaces secrets by stars, the longest first: one may be part of
// another.
func redact(text string, secrets []string) string {
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

// secretsOf returns the values of variables whose names say that they are
// secret.
func secretsOf(env []string) []string {
	var secrets []string
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if value != "" && isSecret(name) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

func isSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"PASS", "PWD", "SECRET", "TOKEN", "KEY", "CREDENTIAL", "AUTH"},
		func(word string) bool { return strings.Contains(name, word) })
}

// baseEnvironment returns the environment that programs need to run.
func baseEnvironment() []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "JAVA_HOME",
		"SystemRoot", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", // Windows
	} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
