package sample

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/internal/boundtest"
	"github.com/tsmark/tsmark/workload/file/input"
)

// FuzzSources reads files of any bytes in bounded time and memory: samples that have all parts, or an
// error of one line.
func FuzzSources(f *testing.F) {
	for _, text := range []string{
		"# TYPE up gauge\nup{a=\"\\\"b\\n\",c=\"\"} NaN 1e3 # {x=\"y\"} 1\n{__name__=\"x\"} +Inf 1\n{\"a.b\",\"c\"=\"d\",} 1 2\n",
		`{"metric":{"__name__":"up","a":"\u00e9"},"values":[1,null,"Infinity"],"timestamps":[1,2,3]}` + "\n{\"metric\":{},\"values\":[],\"timestamps\":[]}\n",
		"#datatype,string,long,dateTime:RFC3339,double,string,string\r\n#group,false,false,false,false,true,true\r\n#default,_result,,,1,,\r\n,result,table,_time,_value,_field,_measurement\r\n,,0,2024-01-01T00:00:00Z,,\"a\nb\",m\r\n\r\n#group\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for i := range formats {
			boundtest.Hold(t, func() {
				source := Open(formats[i].name, bytes.NewReader(content))
				for {
					s, err := source.Next()
					if errors.Is(err, io.EOF) {
						return
					}
					if err != nil {
						if strings.ContainsAny(err.Error(), "\r\n") {
							t.Errorf("%s: not one line: %q", formats[i].name, err)
						}
						return
					}
					if len(s.Table) == 0 || len(s.Time) == 0 || source.Line() == 0 {
						t.Errorf("%s: %+v", formats[i].name, s)
					}
				}
			})
		}
	})
}

// A file of metrics whose last line is cut, in a sample or in its time, is not called one without
// times, and none of its samples is read with another time.
func TestCutMetrics(t *testing.T) {
	const whole = "# TYPE up gauge\nup{job=\"a\"} 1 1395066363.5\nup{job=\"b\"} 1 1395066364.5\n"
	last := func(text string) error {
		source := Open(input.FormatMetrics, strings.NewReader(text))
		for {
			if _, err := source.Next(); err != nil {
				return err
			}
		}
	}
	for _, text := range []string{whole, whole + "# EOF\n", strings.TrimSuffix(whole, "\n")} {
		if err := last(text); !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", text, err)
		}
	}
	second := strings.LastIndex(whole, "up{")
	for at := second + 1; at < len(whole)-1; at++ {
		if err := last(whole[:at]); !errors.Is(err, errCut) {
			t.Errorf("%q: %v", whole[second:at], err)
		}
	}
	if err := last("up{job=\"a\"} 1\nup{job=\"b\"} 1"); err == nil || !strings.Contains(err.Error(), "has no time") {
		t.Errorf("a scraped page: %v", err)
	}
}
