package plan

import (
	"testing"

	"github.com/tsmark/tsmark/run/experiment"
)

func TestFurtherPorts(t *testing.T) {
	given := experiment.Target{Start: "run {port}", Options: experiment.Options{"a": "{port+2}", "b": "{port+10}", "c": "7"}}
	if ports := takePorts(given); len(ports) != 1 || ports["a"] != 2 || len(given.Options) != 2 {
		t.Errorf("%v, left %v", ports, given.Options)
	}
}
