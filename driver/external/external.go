// Package external makes drivers of programs that speak the protocol of sdk/protocol.md, an Apache
// Arrow Flight server each. tsmark starts such a program, or connects to one that is running.
package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Name is the name of the driver that stands for all programs.
const Name = "external"

// The options by which a program is found. All others are the program's.
const (
	OptionCommand   = "command"
	OptionEndpoint  = "endpoint"
	OptionTokenFile = "token_file"
)

func ownOptions() []driver.Option {
	return []driver.Option{
		{Name: OptionCommand, Help: "program of the driver with its arguments; tsmark adds --listen", Empty: "endpoint names a running driver"},
		{Name: OptionEndpoint, Help: "address of a running driver: grpc://HOST:PORT", Empty: "command starts the driver"},
		{Name: OptionTokenFile, Help: "file with the token that the endpoint requires", Empty: "no token is sent"},
	}
}

// Limits of the wait for a program. Tests shorten them.
const (
	startPatience = 30 * time.Second // until it answers
	writePatience = 10 * time.Minute // for the receipt of a batch
)

// Programs are the programs that are in use. The zero value has none.
type Programs struct {
	// Waiting tells the user about a program that starts slowly; nil: it is silent.
	Waiting driver.Waiting
	// Start and Receipt replace startPatience and writePatience; 0: they do not.
	Start, Receipt time.Duration
	// Calls makes each query a call of its own, as it is with programs that do not exchange.
	Calls bool

	mu    sync.Mutex
	known map[string]*program // by options
	used  []*program          // in the order of their last use
}

// Driver returns the driver external. Its Program returns the driver of the program that the options
// name; nothing else of it works.
func (p *Programs) Driver() driver.Driver {
	why := fmt.Errorf("%w: give the option %s or %s", query.ErrUnsupported, OptionCommand, OptionEndpoint)
	return driver.Driver{
		Name:    Name,
		Help:    "any database, by a program of yours that speaks Arrow Flight",
		Options: ownOptions(),
		Caps:    func(driver.Options) driver.Caps { return driver.Caps{TimePrecision: time.Nanosecond} },
		Place:   func(driver.Options) string { return "" },
		Render: func(*query.Query, *series.Schema, driver.Options) (driver.Request, error) {
			return driver.Request{}, why
		},
		Open:    func(context.Context, driver.Env, driver.Options) (driver.DB, error) { return driver.DB{}, why },
		Program: p.find,
	}
}

// find returns the driver of the program that the options of a target name. Together with an error it
// returns a driver for which all values but its own are secret, because it is not known which are.
func (p *Programs) find(options map[string]string) (driver.Driver, error) {
	d, err := p.look(options)
	if err != nil {
		d = p.Driver()
		for name := range options {
			if !isOwn(name) {
				d.Options = append(d.Options, driver.Option{Name: name, Secret: true})
			}
		}
	}
	return d, err
}

func isOwn(name string) bool {
	return slices.ContainsFunc(ownOptions(), func(o driver.Option) bool { return o.Name == name })
}

// check returns an error unless the options name a program in one way.
func check(options map[string]string) error {
	command, endpoint := options[OptionCommand], options[OptionEndpoint]
	switch {
	case command == "" && endpoint == "":
		return errors.New("driver external: give command=PROGRAM, which tsmark starts, or endpoint=grpc://HOST:PORT of a running one")
	case command != "" && endpoint != "":
		return errors.New("driver external: command and endpoint exclude each other; give one of them")
	case endpoint == "" && options[OptionTokenFile] != "":
		return errors.New("driver external: token_file is for an endpoint; a program that tsmark starts listens in a private folder")
	}
	return nil
}

// Close ends all programs.
func (p *Programs) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all sync.WaitGroup
	for _, of := range p.known {
		all.Go(of.stop)
	}
	all.Wait()
	p.known, p.used = nil, nil
}

// key identifies the program of a target. Targets with other options have programs of their own, so
// that none has another's memory.
func key(options map[string]string) string {
	var b strings.Builder
	names := make([]string, 0, len(options))
	for name := range options {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%q=%q,", name, options[name])
	}
	return b.String()
}
