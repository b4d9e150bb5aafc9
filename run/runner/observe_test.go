package runner

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
)

func TestBoundBy(t *testing.T) {
	client := func(cpu, scheduling float64) *result.Client {
		return &result.Client{Wall: 10, Procs: 4, CPU: result.Value(cpu), SchedulingP99: result.Value(scheduling)}
	}
	unread := client(0, 0)
	unread.CPU, unread.SchedulingP99 = result.Absent(), result.Absent()
	for _, c := range []struct {
		client                 *result.Client
		rate, ceiling, typical float64
		want                   string
	}{
		{nil, 100, 100, 1, ""}, // shares the process: nobody can tell
		{client(20, 0), 10, 100, 1, ""},
		{client(36, 0), 10, 100, 1, "the client used 90 % of its processors"},
		{client(20, 0), 60, 100, 1, "60 % of the rate that the client reaches where nothing answers"},
		{client(20, 0.002), 10, 100, 0.001, "one in a hundred goroutines waited 2ms and longer"},
		{client(20, 0.002), 10, 0, 0, ""},
		{unread, 10, 100, 1, ""},
	} {
		if got := boundBy(&result.Cell{Client: c.client}, c.rate, c.ceiling, c.typical); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
	// Others kept the processors busy: waiting for one is not the client's doing.
	noise := result.NewNoise(10, 4)
	noise.Others, noise.OthersMin, noise.OthersMax = 20, 20, 20
	noise.Judge(result.QuietShare)
	for _, c := range []struct {
		client *result.Client
		want   string
	}{
		{client(20, 0.002), ""},
		{client(36, 0.002), "the client used 90 % of its processors"},
	} {
		if got := boundBy(&result.Cell{Client: c.client, Noise: &noise}, 10, 100, 0.001); got != c.want {
			t.Errorf("beside other processes: %q, want %q", got, c.want)
		}
	}
}
