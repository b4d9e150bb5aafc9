package reproduction

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/servers"
)

// SystemText describes the printed and the measured version of a system, the
// options that match it with the document's, as they were in the runs, and the differences.
func SystemText(d *document.Document, s *document.System, runs []*result.Run) string {
	text := "printed: " + s.Version + "; here: " + systemVersion(runs, s.Driver)
	if !slices.ContainsFunc(runs, func(r *result.Run) bool {
		return slices.ContainsFunc(r.Targets, func(t result.Target) bool { return t.Driver == s.Driver })
	}) {
		text += fmt.Sprintf(" (--target %s,host=HOST measures your server", s.Driver)
		if _, ok := servers.FindImage(s.Driver); ok {
			text += fmt.Sprintf("; tsmark server start %s --container starts one", s.Driver)
		}
		text += ")"
	}
	var options []string
	for _, name := range d.OptionNames(s) {
		var values []string
		for _, r := range runs {
			for i := range r.Targets {
				if t := &r.Targets[i]; t.Driver == s.Driver {
					value, ok := t.Options[name]
					if value = cmp.Or(value, "the server's own"); ok && !slices.Contains(values, value) {
						values = append(values, value)
					}
				}
			}
		}
		if len(values) == 0 {
			continue
		}
		option := name + "=" + strings.Join(values, " or ")
		if len(values) > 3 { // one that goes with the points
			option = fmt.Sprintf("%s of %d values, by experiment and point", name, len(values))
		}
		if want, ok := s.Options[name]; ok && !slices.Equal(values, []string{want}) {
			option += fmt.Sprintf(" (the document: %s)", want)
		}
		options = append(options, option)
	}
	if len(options) > 0 {
		text += "; with " + strings.Join(options, ", ")
	}
	if s.Unlike != "" {
		text += ". " + s.Unlike
	}
	return text
}

// correctness describes the answers of a stand-in that took the place of a system, in words that
// follow SystemText. It is empty if none did.
func (p *Report) correctness(system string) string {
	var queries, loads, verified, contents int
	what := ""
	for _, r := range p.correctnessRuns() {
		for i := range r.Targets {
			t := &r.Targets[i]
			if t.Driver != system {
				continue
			}
			what = cmp.Or(what, t.Description.StandIn)
			for _, repeat := range t.MeasuredRepeats() {
				if l := repeat.Load; l != nil {
					loads++
					if l.Withheld == "" && l.Unverified == "" {
						contents++
					}
				}
				for j := range repeat.Queries {
					queries++
					if repeat.Queries[j].Verdict.OK() {
						verified++
					}
				}
			}
		}
	}
	if what == "" {
		return ""
	}
	return fmt.Sprintf(" For correctness only, %s ran the experiments in size smoke: the contents of %d of %s and the answers of %d of %s are verified; its figures are not compared.",
		what, contents, format.Plural(loads, "load"), verified, format.Plural(queries, "query type"))
}

// correctnessRuns returns the runs of stand-ins, in the document's order.
func (p *Report) correctnessRuns() []*result.Run {
	var all []*result.Run
	for _, e := range p.Document.Experiments {
		all = append(all, p.Measured.Correctness[e.Name]...)
	}
	return all
}

// repetition returns the commands with which a reader repeats a document: the servers of its systems
// in containers, as far as they have official images, and tsmark's own command.
func repetition(d *document.Document) doc.Section {
	t := &doc.Table{Title: "Servers in containers", Terminal: doc.OnRequest, Columns: []doc.Column{{Head: "system"}, {Head: "command", Words: true}}}
	command := "tsmark reproduce " + d.Name
	for _, s := range d.Systems {
		image, ok := servers.FindImage(s.Driver)
		if !ok {
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Span{doc.Plain(s.Driver), doc.Plain("no official image; tsmark server start " + s.Driver + " installs it from packages")}})
			continue
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Span{doc.Plain(s.Driver), doc.Plain(image.Command())}})
		command += " --target " + image.Target(0, servers.Password())
	}
	t.Notes = []doc.Span{
		doc.Plain(command + " --start measures them, and starts systems without an image from packages."),
		doc.Plain("tsmark server start SYSTEM --container runs the same images on free ports. The password is public: the ports are those of 127.0.0.1 alone."),
	}
	return doc.Section{ID: "repeat", Name: "Repeat it", Tables: []*doc.Table{t}}
}
