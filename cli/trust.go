package cli

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/run/experiment"
)

// trust decides whether what an imported run was to do is done here.
type trust struct {
	yes bool      // --yes
	in  io.Reader // where somebody answers; nil: nobody is there
	out io.Writer
}

func (a *app) trusted(yes bool) trust {
	t := trust{yes: yes, out: a.stderr}
	if f, ok := isFile(a.stderr); ok && progress.IsTerminal(f) && progress.IsTerminal(os.Stdin) {
		t.in = os.Stdin
	}
	return t
}

// decide shows what the experiment does beyond tsmark itself, and returns an
// error unless somebody agrees.
func (t trust) decide(runID string, e *experiment.Experiment) error {
	if !t.yes && t.in == nil {
		return fmt.Errorf("run %s was imported, and there is no terminal to ask for confirmation; read what tsmark report %s --experiment shows, its commands above all, and add --yes", runID, runID)
	}
	fmt.Fprintf(t.out, "Run %s was imported. With your rights it\n", runID)
	for _, line := range reaches(e) {
		fmt.Fprintln(t.out, "  "+line)
	}
	if t.yes {
		return nil
	}
	fmt.Fprint(t.out, "Do it? Type yes: ")
	answer, _ := bufio.NewReader(t.in).ReadString('\n') // nothing is no yes
	if strings.TrimSpace(answer) != "yes" {
		return fmt.Errorf("run %s was imported, and is not repeated", runID)
	}
	return nil
}

// reaches lists what an experiment does beyond the process and the results
// folder: commands for the shell, files, and servers that it connects to and
// gives secrets to. Of options only the kind knows which are which, so all are
// shown.
func reaches(e *experiment.Experiment) []string {
	var list []string
	add := func(what, value string) {
		if value != "" {
			list = append(list, fmt.Sprintf("%s %+q", what, value)) // nothing in it moves a cursor
		}
	}
	for _, t := range e.Targets {
		of := fmt.Sprintf("for target %+q", t.Name)
		add("runs "+of+" the command", t.Start)
		add("runs "+of+" the command", t.Restart)
		for _, name := range slices.Sorted(maps.Keys(t.Options)) {
			add(fmt.Sprintf("opens target %+q, %s, with %+q", t.Name, t.Kind, name), t.Options[name])
		}
		if len(t.Options) == 0 {
			list = append(list, fmt.Sprintf("opens target %+q, %s, as by default", t.Name, t.Kind))
		}
		add("reads metrics "+of, t.Exporter)
		add("reads metrics "+of, t.Metrics)
	}
	add("reads", e.Load.File)
	if e.Load.Replace {
		list = append(list, "replaces datasets that tsmark loaded there")
	}
	return list
}
