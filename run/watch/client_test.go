package watch

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
		{nil, 100, 100, 1, ""}, // shares the process: cannot be distinguished
		{client(20, 0), 10, 100, 1, ""},
		{client(36, 0), 10, 100, 1, "the client used 90 % of its processors"},
		{client(20, 0), 60, 100, 1, "60 % of the rate that the client reaches where nothing answers"},
		{client(20, 0.002), 10, 100, 0.001, "one in a hundred goroutines waited 2ms and longer"},
		{client(20, 0.002), 10, 0, 0, ""},
		{unread, 10, 100, 1, ""},
	} {
		if got := ClientBound(&result.Cell{Client: c.client}, c.rate, c.ceiling, c.typical); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
	// With one worker no processor is ever saturated: the time of its queries counts.
	queries := func(client float64, executed, paused int64) *result.Queries {
		q := &result.Queries{Executed: executed, Paused: paused, ClientTime: client}
		q.Service.Count, q.Service.Mean = executed, 0.01
		return q
	}
	for _, c := range []struct {
		q    *result.Queries
		want string
	}{
		{queries(0.4, 100, 0), ""},
		{queries(0.64, 100, 0), "tsmark itself computed during 64 % of the service time of the queries"},
		{queries(0, 100, 0), ""},
		{queries(0, 99, 1), ""},
		{queries(0, 89, 11), "tsmark was paused during 11 of 100 queries, which are excluded"},
	} {
		if got := ClientBoundByOwnTime(c.q); got != c.want {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}
	// Other programs kept the processors busy: waiting for one is not caused by the client.
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
		if got := ClientBound(&result.Cell{Client: c.client, Noise: &noise}, 10, 100, 0.001); got != c.want {
			t.Errorf("beside other processes: %q, want %q", got, c.want)
		}
	}
}
