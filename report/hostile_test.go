package report_test

import (
	"encoding/csv"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// taint replaces every text that a server, an export or another person may
// have written.
func taint(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			taint(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("redact") != "-" {
				taint(v.Field(i), text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			taint(v.Index(i), text)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]string]() && !v.IsNil() {
			v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf(text))
		}
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() {
			v.SetString(text)
		}
	}
}

// Texts from servers and exports reach no terminal, no Markdown and no CSV
// with control characters or directions of writing in it, and no spreadsheet as
// a formula.
func TestHostileTexts(t *testing.T) {
	const hostile = "=HYPERLINK(\"x\")\x1b[2J\x1b]0;title\a\u202egnp.exe\u2066\u009b31m\r\nforged | line\x00\xff\ufeff"
	run, killed := fixture(t)
	for _, r := range []*result.Run{run, killed} {
		dataset := r.Dataset
		taint(reflect.ValueOf(r), hostile)
		r.Dataset.Source = dataset.Source
		r.Name, r.Experiment = hostile, "name: x\n# "+hostile
		for i := range r.Targets {
			r.Targets[i].Driver = hostile
		}
	}
	outputs := make(map[string]string)
	for _, format := range []write.Format{write.Text, write.Markdown, write.CSV} {
		var b strings.Builder
		if err := report.Write(&b, format, []*result.Run{run, killed}, write.Options{}); err != nil {
			t.Fatal(err)
		}
		outputs[string(format)] = b.String()
		b.Reset()
		if err := report.WriteMatrices(&b, format, []*result.Run{run}, write.Options{}); err != nil {
			t.Fatal(err)
		}
		outputs["matrices as "+string(format)] = b.String()
		b.Reset()
		other := *run
		other.ID = "20260131-154500-ffff"
		c, err := compare.Runs(compare.Side{Runs: []*result.Run{run}}, compare.Side{Runs: []*result.Run{&other}}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := comparison.Write(&b, format, c, write.Options{}); err != nil {
			t.Fatal(err)
		}
		outputs["comparison as "+string(format)] = b.String()
	}
	tainted := 0
	for name, text := range outputs {
		if strings.Contains(text, "HYPERLINK") {
			tainted++
		}
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\ufeff') {
				t.Errorf("%s has %U", name, r)
				break
			}
		}
		if strings.HasSuffix(name, "csv") {
			in := csv.NewReader(strings.NewReader(text))
			in.FieldsPerRecord = -1
			lines, err := in.ReadAll()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, line := range lines {
				for _, cell := range line {
					if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
						t.Errorf("%s has the formula %q", name, cell)
					}
				}
			}
		}
	}
	if tainted < 3 {
		t.Errorf("only %d outputs show anything of it", tainted)
	}
}
