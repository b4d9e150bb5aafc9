package httpwire

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// largestProfile limits the bytes read from a CPU profile.
const largestProfile = 64 << 20

// CPUProfile is the ProfileCPU of a database with the paths of Go's net/http/pprof, which follow the
// prefix.
func CPUProfile(c *Config, prefix string) func(context.Context, time.Duration) ([]byte, error) {
	return func(ctx context.Context, next time.Duration) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, next+c.Timeout)
		defer cancel()
		client := New(c)
		defer client.Close()
		request, err := client.Request(ctx, http.MethodGet, prefix+"/debug/pprof/profile", url.Values{"seconds": {strconv.Itoa(int(next.Seconds()))}}, nil)
		if err != nil {
			return nil, err
		}
		response, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s offers no CPU profile: %s", c.Address(), response.Status)
		}
		text, err := io.ReadAll(io.LimitReader(response.Body, largestProfile+1))
		switch {
		case err != nil:
			return nil, client.RequestError(ctx, err)
		case len(text) > largestProfile:
			return nil, fmt.Errorf("the CPU profile of %s is larger than %d MiB", c.Address(), largestProfile>>20)
		}
		return text, nil
	}
}
