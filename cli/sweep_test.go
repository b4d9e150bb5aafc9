package cli

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/report/write"
)

// A sweep does not store or print secrets either, and does not take them for parameters,
// which all reports show.
func TestSecretsInSweeps(t *testing.T) {
	t.Setenv("TSMARK_LEAK_TOKEN", plantedToken)
	dir, kind := t.TempDir(), leaky(new(string))
	code, said := try(t, kind, leakyArgs(dir, "--sweep", "load.workers=1,2", "--load-repeats", "1")...)
	if code != app.ExitDone {
		t.Fatalf("exit status %d\n%s", code, said)
	}
	clean(t, "the sweep", said)
	for _, format := range write.Formats() {
		code, said := try(t, kind, "tsmark", "report", "--results", dir, "--format", format)
		if format == string(write.SVG) || format == string(write.PNG) {
			if code != app.ExitUsage || !strings.Contains(said, "sweeps are not drawn as "+format) {
				t.Errorf("exit status %d, said %s", code, said)
			}
			continue
		}
		if !strings.Contains(said, "load.workers") {
			t.Errorf("%s does not show the parameter", format)
		}
		clean(t, format, said)
	}
	_, said = try(t, kind, "tsmark", "report", "--results", dir, "--experiment")
	if !strings.Contains(said, "***") || !strings.Contains(said, "load.workers: [1, 2]") {
		t.Errorf("the experiment has no stars or no matrix:\n%s", said)
	}
	clean(t, "the experiment", said)
	checkFiles(t, dir)

	for name, sweep := range map[string]string{
		"a secret option":   "targets.leak.password=one,two",
		"a secret's value":  "targets.leak.user=ann," + plantedPassword,
		"a password in URL": "targets.leak.url=http://ann:" + plantedInURL + "@a,http://b",
	} {
		t.Run(name, func(t *testing.T) {
			code, said := try(t, kind, leakyArgs(t.TempDir(), "--sweep", sweep)...)
			if code != app.ExitUsage || strings.Count(said, "\n") != 1 || !strings.Contains(said, "is secret, and a sweep shows its parameters") {
				t.Errorf("exit status %d, said %s", code, said)
			}
			clean(t, "the error", said)
		})
	}
}

// The value of an unknown option may be a secret, although a parameter of the same
// value is not one: the error reports only that the option is unknown.
func TestSweepOfAMistypedOption(t *testing.T) {
	code, said := try(t, leaky(new(string)), "tsmark", "run", "--results", t.TempDir(), "--target", "leak=leaky,pasword=4", "--sweep", "load.workers=1,4")
	if code != app.ExitUsage || strings.Count(said, "\n") != 1 || !strings.Contains(said, `has no option "pasword"; did you mean "password"?`) || strings.Contains(said, "is secret") {
		t.Errorf("exit status %d, said %s", code, said)
	}
}
