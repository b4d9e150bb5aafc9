package servers

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/internal/version"
)

// Offer lists the versions of a server.
type Offer struct {
	// Default is the version that the script starts by default. It may name another source, as in
	// "2.42.0 (Debian)"; All does not have it then.
	Default string
	All     []string // that the registry offers, ascending
}

// Stable lists the versions without pre-releases, unless one is the default.
func (o *Offer) Stable() []string {
	return slices.DeleteFunc(slices.Clone(o.All), func(v string) bool { return !version.IsStable(v) && v != o.Default })
}

// offerAge is the maximum age of a list of versions in the user's cache.
const offerAge = 24 * time.Hour

// ReadOffer lists the versions of a server that has a script. The script queries the package registry,
// at most once a day.
func ReadOffer(ctx context.Context, name string) (Offer, error) {
	if err := Find(name); err != nil {
		return Offer{}, err
	}
	scripts, err := Unpack()
	if err != nil {
		return Offer{}, err
	}
	return scripts.readOffer(ctx, name, offerAge)
}

// readOffer lists the versions of a server by a cached list that is not older than age, if there is one.
// If the registry cannot be reached, it takes an older list.
func (s Scripts) readOffer(ctx context.Context, name string, age time.Duration) (Offer, error) {
	file := filepath.Join(s.folder, "versions", name)
	about, err := os.Stat(file)
	if cached := err == nil; !cached || time.Since(about.ModTime()) > age {
		text, err := s.queryRegistry(ctx, "versions", name)
		switch {
		case err != nil && !cached:
			return Offer{}, err
		case err == nil:
			if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
				err = outfile.WriteBytes(file, text)
			}
			if err != nil {
				return Offer{}, fmt.Errorf("caching the versions of %s: %w", name, err)
			}
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return Offer{}, fmt.Errorf("reading the cached versions of %s: %w", name, err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	offer := Offer{Default: lines[0], All: lines[1:]}
	slices.SortFunc(offer.All, version.Compare)
	offer.All = slices.Compact(offer.All)
	return offer, nil
}

// queryRegistry returns the output of a verb of a script that queries a package registry about a server, NAME
// or NAME@VERSION: versions prints the default and then the others, a line each; offers fails for a
// version that cannot be had.
func (s Scripts) queryRegistry(ctx context.Context, verb, name string) ([]byte, error) {
	script, chosen := s.script(name)
	cmd := exec.CommandContext(ctx, script, verb)
	cmd.Env = append(os.Environ(), chosen...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(problem.String()), "\n")
		return nil, fmt.Errorf("querying the package registry about %s: %s", name, cmp.Or(lines[len(lines)-1], err.Error()))
	}
	return out.Bytes(), nil
}

// Versions lists the versions of a server that its package registry offers, ascending, without
// pre-releases unless one is the default.
func Versions(ctx context.Context, name string) ([]string, error) {
	offer, err := ReadOffer(ctx, name)
	return offer.Stable(), err
}

// Resolve returns the version that the registry offers for a wanted one: itself, or the newest of the
// series, so that 9.2 is 9.2.3. The error for an unknown version names the nearest ones. If the
// registry cannot be reached, it returns the wanted version, which may be installed.
func Resolve(ctx context.Context, name, wanted string) (string, error) {
	if err := Find(name); err != nil {
		return "", err
	}
	scripts, err := Unpack()
	if err != nil {
		return "", err
	}
	return scripts.resolve(ctx, name, wanted)
}

func (s Scripts) resolve(ctx context.Context, name, wanted string) (string, error) {
	var offer Offer
	for _, age := range []time.Duration{offerAge, 0} { // the version may be newer than the cached list
		var err error
		if offer, err = s.readOffer(ctx, name, age); err != nil {
			return wanted, ctx.Err()
		}
		if slices.Contains(offer.All, wanted) {
			return wanted, nil
		}
		for _, among := range [][]string{offer.Stable(), offer.All} {
			for _, v := range slices.Backward(among) {
				if version.IsWithin(v, wanted) {
					return v, nil
				}
			}
		}
	}
	if _, err := s.queryRegistry(ctx, "offers", version.Join(name, wanted)); err != nil {
		return "", cmp.Or(ctx.Err(), offer.unknown(name, wanted))
	}
	return wanted, nil
}

// unknown is the error for a version that is not offered.
func (o *Offer) unknown(name, wanted string) error {
	known := o.Stable()
	if len(known) < 2 {
		return fmt.Errorf("tsmark installs %s in one version, %s, and not in version %s", name, o.Default, wanted)
	}
	at, _ := slices.BinarySearchFunc(known, wanted, version.Compare)
	near := known[max(0, at-2):min(len(known), at+2)]
	return fmt.Errorf("the registry has no version %s of %s; the nearest are %s; tsmark server versions %s lists all", wanted, name, strings.Join(near, ", "), name)
}

// Range lists versions of a server as targets, NAME@VERSION, ascending. spec is NAME@FIRST..LAST, whose
// bounds are included with their series and can be left out, or NAME@VERSION,VERSION,… as Resolve
// reads them. every is empty, or minor or major: then only the newest of each is listed.
func Range(ctx context.Context, spec, every string) ([]string, error) {
	if err := Find(spec); err != nil {
		return nil, err
	}
	scripts, err := Unpack()
	if err != nil {
		return nil, err
	}
	return scripts.listRange(ctx, spec, every)
}

func (s Scripts) listRange(ctx context.Context, spec, every string) ([]string, error) {
	name, text := version.Split(spec)
	if text == "" {
		return nil, fmt.Errorf("%q names no versions; write %s@FIRST..LAST, whose ends can be left out, or %[2]s@VERSION,VERSION", spec, name)
	}
	offer, err := s.readOffer(ctx, name, offerAge)
	if err != nil {
		return nil, err
	}
	var chosen []string
	if first, last, between := strings.Cut(text, ".."); between {
		for _, bound := range []string{first, last} {
			if !version.IsStable(bound) && !slices.Contains(offer.All, bound) { // such as 9.x
				return nil, offer.unknown(name, bound)
			}
		}
		for _, v := range offer.Stable() {
			if (first == "" || version.Compare(v, first) >= 0) && (last == "" || version.Compare(v, last) <= 0 || version.IsWithin(v, last)) {
				chosen = append(chosen, v)
			}
		}
		switch {
		case len(chosen) > 0:
		case first != "" && last != "" && version.Compare(first, last) > 0:
			return nil, fmt.Errorf("%s: the range ends before it begins; write %s", spec, version.Join(name, last+".."+first))
		default:
			return nil, offer.unknown(name, text)
		}
	} else {
		for _, wanted := range strings.Split(text, ",") {
			v, err := s.resolve(ctx, name, wanted)
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, v)
		}
		slices.SortFunc(chosen, version.Compare)
	}
	parts, known := map[string]int{"": 0, "minor": 2, "major": 1}[every]
	if !known {
		return nil, fmt.Errorf("--every %q: must be patch, minor or major", every)
	}
	var targets []string
	for i, v := range chosen {
		if parts > 0 && i+1 < len(chosen) && series(v, parts) == series(chosen[i+1], parts) {
			continue
		}
		targets = append(targets, version.Join(name, v))
	}
	return slices.Compact(targets), nil
}

// series returns the first parts of a version.
func series(v string, parts int) string {
	all := strings.Split(v, ".")
	return strings.Join(all[:min(parts, len(all))], ".")
}
