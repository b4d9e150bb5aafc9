package experiment

import (
	"fmt"
	"strings"
)

// ParseTarget reads the value of a --target flag:
//
//	[NAME=]DRIVER[,OPTION=VALUE]…
//
// The default name is the driver's. A value cannot contain a comma here; in a file it can. profile
// and durability are not options, but name sets of them; start, idle and start-for are fields of
// Target. Driver and options are not looked up.
func ParseTarget(text string) (Target, error) {
	const form = "write [NAME=]DRIVER[,OPTION=VALUE]…"
	parts := strings.Split(text, ",")
	name, kind, named := strings.Cut(parts[0], "=")
	if !named {
		kind = name
	}
	switch {
	case kind == "":
		return Target{}, fmt.Errorf("target %q names no driver; %s", text, form)
	case name == "":
		return Target{}, fmt.Errorf("target %q has an empty name; %s", text, form)
	}
	t := Target{Name: name, Driver: kind}
	for _, part := range parts[1:] {
		option, value, ok := strings.Cut(part, "=")
		switch _, twice := t.Options[option]; {
		case !ok || option == "":
			return Target{}, fmt.Errorf("target %q: option %q is not of the form OPTION=VALUE; %s", text, part, form)
		case twice:
			return Target{}, fmt.Errorf("target %q sets option %q twice", text, option)
		}
		switch option {
		case "profile":
			t.Profile = value
			continue
		case "durability":
			t.Durability = value
			continue
		case "start":
			t.Start = value
			continue
		case "idle":
			t.Idle = value
			continue
		case "start-for":
			t.StartFor = value
			continue
		}
		if t.Options == nil {
			t.Options = make(Options)
		}
		t.Options[option] = value
	}
	return t, nil
}
