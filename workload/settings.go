package workload

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/option"
)

// Settings holds a workload's own settings as users wrote them, by WORKLOAD.NAME, such as
// iotdb.sensors.
type Settings map[string]string

// Set gives a setting a value in a copy, which takes the place of s; an empty value
// leaves it out.
func (s *Settings) Set(key, value string) {
	set := make(Settings, len(*s)+1)
	maps.Copy(set, *s)
	set[key] = value
	if value == "" {
		delete(set, key)
	}
	*s = set
}

// MarshalYAML implements yaml.InterfaceMarshaler: a section a workload.
func (s Settings) MarshalYAML() (any, error) {
	sections := make(map[string]map[string]any)
	for key, value := range s {
		name, setting, _ := strings.Cut(key, ".")
		if sections[name] == nil {
			sections[name] = make(map[string]any)
		}
		sections[name][setting] = value
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && fmt.Sprint(n) == value {
			sections[name][setting] = n // so that it is written without quotes
		}
	}
	return sections, nil
}

// Resolve returns the values of the workload's own settings, defaults included.
// Its error is a *SpecError.
func (s Spec) Resolve(options []option.Option) (option.Values, error) {
	return resolve(s.Name, options, s.Settings, false)
}

// ResolveQueries is Resolve of the parameters of queries.
func (s Spec) ResolveQueries(options []option.Option) (option.Values, error) {
	return resolve(s.Name, options, s.QuerySettings, true)
}

func resolve(workload string, options []option.Option, settings Settings, ofQueries bool) (option.Values, error) {
	values := make(map[string]string)
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		whose, name, _ := strings.Cut(key, ".")
		if whose != workload {
			return nil, &SpecError{whose, fmt.Sprintf("is for --use-case %s, not for %s; leave it out", whose, workload), ofQueries, false}
		}
		values[name] = settings[key]
	}
	values, err := option.Resolve(workload, options, values)
	var bad *option.Error
	if errors.As(err, &bad) {
		return nil, &SpecError{workload + "." + bad.Name, bad.Error(), ofQueries, false}
	}
	return values, err
}

// SpecError is the error of an invalid setting of a specification.
type SpecError struct {
	Setting   string // flag name without dashes, such as timestamp-end, or as iotdb.late
	Problem   string // the problem and how to fix it
	OfQueries bool   // it is one of QuerySettings
	// Absent means that the dataset lacks what a query type is about: this type cannot be drawn, and others can.
	Absent bool
}

// Bad returns the *SpecError of a setting.
func Bad(setting, format string, args ...any) error {
	return &SpecError{Setting: setting, Problem: fmt.Sprintf(format, args...)}
}

// CheckSpan checks the times and groups that every dataset needs. Its error is a *SpecError.
func (s Spec) CheckSpan() error {
	switch {
	case !s.End.After(s.Start):
		return Bad("timestamp-end", "%s is not after --timestamp-start %s", s.End.Format(time.RFC3339), s.Start.Format(time.RFC3339))
	case s.Interval <= 0:
		return Bad("log-interval", "must be longer than 0, such as 10s")
	case s.End.Sub(s.Start) < s.Interval:
		return Bad("log-interval", "%s is longer than the whole span of %s, so there are no rows; shorten it, or move --timestamp-end", s.Interval, s.End.Sub(s.Start))
	case s.Groups > 0 && s.Group >= s.Groups:
		return Bad("interleaved-generation-group-id", "%d must be less than --interleaved-generation-groups %d", s.Group, s.Groups)
	case s.Groups == 0 && s.Group > 0:
		return Bad("interleaved-generation-group-id", "%d needs --interleaved-generation-groups greater than it", s.Group)
	}
	return nil
}

// Error names the flag.
func (e *SpecError) Error() string {
	flag, key, own := strings.Cut(e.Setting, ".")
	if e.OfQueries {
		flag += "-queries"
	}
	if own {
		flag += " " + key
	}
	return "--" + flag + ": " + e.Problem
}
