package experiment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTarget(t *testing.T) {
	tests := []struct {
		text string
		want Target
	}{
		{"duckdb", Target{Name: "duckdb", Driver: "duckdb"}},
		{"duckdb,threads=2", Target{Name: "duckdb", Driver: "duckdb", Options: Options{"threads": "2"}}},
		{"small=duckdb,threads=1,memory_limit=512MB", Target{Name: "small", Driver: "duckdb", Options: Options{"threads": "1", "memory_limit": "512MB"}}},
		{"pg=postgres,dsn=host=a port=1,ssl=", Target{Name: "pg", Driver: "postgres", Options: Options{"dsn": "host=a port=1", "ssl": ""}}},
	}
	for _, tt := range tests {
		got, err := ParseTarget(tt.text)
		if err != nil {
			t.Errorf("ParseTarget(%q): %v", tt.text, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("ParseTarget(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestParseTargetErrors(t *testing.T) {
	const form = "; write [NAME=]DRIVER[,OPTION=VALUE]…"
	for text, want := range map[string]string{
		"":               `target "" names no driver` + form,
		"small=":         `target "small=" names no driver` + form,
		"=duckdb":        `target "=duckdb" has an empty name` + form,
		"duckdb,":        `target "duckdb,": option "" is not of the form OPTION=VALUE` + form,
		"duckdb,threads": `target "duckdb,threads": option "threads" is not of the form OPTION=VALUE` + form,
		"duckdb,=2":      `target "duckdb,=2": option "=2" is not of the form OPTION=VALUE` + form,
		"duckdb,a=1,a=2": `target "duckdb,a=1,a=2" sets option "a" twice`,
	} {
		if got, err := ParseTarget(text); err == nil {
			t.Errorf("ParseTarget(%q) took it: %+v", text, got)
		} else if err.Error() != want {
			t.Errorf("ParseTarget(%q)\n got %s\nwant %s", text, err, want)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	f.Add("small=duckdb,threads=1,memory_limit=512MB")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseTarget(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error on several lines: %q", err)
			}
			return
		}
		if got.Name == "" || got.Driver == "" {
			t.Errorf("ParseTarget(%q) = %+v", text, got)
		}
	})
}
