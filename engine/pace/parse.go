package pace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	rampPrefix    = "ramp:"
	stepsPrefix   = "steps:"
	poissonPrefix = "poisson:"
)

// Limits of Parse.
const (
	MinRate = 1e-6               // arrivals a second that are not 0: one in eleven days
	MaxRate = 1e9                // arrivals a second: one a nanosecond
	MaxTime = 10_000 * time.Hour // of a ramp, or of all steps together
)

// Parse reads a schedule as users write it:
//
//	1000/s                     Constant
//	ramp:100..5000/s:60s       Ramp, from 100/s to 5000/s in 60s
//	steps:100/s:10s,200/s:10s  Steps; a step of 0/s is a pause
//	poisson:1000/s             Poisson with seed 0
//	poisson:1000/s:7           Poisson with seed 7
//
// An error is one line that quotes the mistake and describes the expected form.
func Parse(text string) (Schedule, error) {
	s, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", text, err)
	}
	return s, nil
}

func parse(text string) (Schedule, error) {
	if rest, ok := strings.CutPrefix(text, rampPrefix); ok {
		return parseRamp(rest)
	}
	if rest, ok := strings.CutPrefix(text, stepsPrefix); ok {
		return parseSteps(rest)
	}
	if rest, ok := strings.CutPrefix(text, poissonPrefix); ok {
		return parsePoisson(rest)
	}
	if !strings.HasSuffix(text, "/s") {
		return nil, errors.New("want 1000/s, ramp:100..5000/s:60s, steps:100/s:10s,200/s:10s or poisson:1000/s")
	}
	rate, err := parseRate(text, false)
	return Constant(rate), err
}

func parseRamp(text string) (Schedule, error) {
	rates, over, timed := strings.Cut(text, ":")
	from, to, ranged := strings.Cut(rates, "..")
	if !timed || !ranged {
		return nil, errors.New("want two rates and a time, such as ramp:100..5000/s:60s")
	}
	var r Ramp
	var err error
	if r.From, err = parseRate(strings.TrimSuffix(from, "/s")+"/s", true); err != nil {
		return nil, err
	}
	if r.To, err = parseRate(to, true); err != nil {
		return nil, err
	}
	if r.From == 0 && r.To == 0 {
		return nil, errors.New("both rates are 0: nothing would arrive")
	}
	r.Over, err = parseTime(over)
	return r, err
}

func parseSteps(text string) (Schedule, error) {
	var steps Steps
	var total time.Duration
	var top float64
	for part := range strings.SplitSeq(text, ",") {
		rate, held, timed := strings.Cut(part, ":")
		if !timed {
			return nil, fmt.Errorf("step %q: want a rate and a time, such as 100/s:10s", part)
		}
		var s Step
		var err error
		if s.Rate, err = parseRate(rate, true); err != nil {
			return nil, err
		}
		if s.For, err = parseTime(held); err != nil {
			return nil, err
		}
		if total += s.For; total > MaxTime {
			return nil, fmt.Errorf("the steps take longer than %v", MaxTime)
		}
		top = max(top, s.Rate)
		steps = append(steps, s)
	}
	if top == 0 {
		return nil, errors.New("all rates are 0: nothing would arrive")
	}
	return steps, nil
}

func parsePoisson(text string) (Schedule, error) {
	rate, seed, seeded := strings.Cut(text, ":")
	var p Poisson
	var err error
	if p.Rate, err = parseRate(rate, false); err != nil {
		return nil, err
	}
	if seeded {
		if p.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return nil, fmt.Errorf("seed %q: want a whole number from 0 to %d", seed, ^uint64(0))
		}
	}
	return p, nil
}

func poissonText(p Poisson) string {
	text := poissonPrefix + rateText(p.Rate)
	if p.Seed != 0 {
		text += ":" + strconv.FormatUint(p.Seed, 10)
	}
	return text
}

// parseRate parses a number followed by /s. It accepts only digits and a point: the other forms
// that strconv accepts (0x1p4, 1e3, Inf, 1_000) are likely mistakes.
func parseRate(text string, zero bool) (float64, error) {
	number, ok := strings.CutSuffix(text, "/s")
	rate, err := strconv.ParseFloat(number, 64)
	inBounds := rate >= MinRate && rate <= MaxRate || rate == 0 && zero
	if !ok || err != nil || !inBounds || strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("rate %q: want a number from 0.000001 to 1000000000 and /s, such as 1000/s", text)
	}
	return rate, nil
}

func rateText(rate float64) string { return numberText(rate) + "/s" }

func numberText(rate float64) string { return strconv.FormatFloat(rate, 'f', -1, 64) }

func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > MaxTime {
		return 0, fmt.Errorf("time %q: want one above 0 and up to %v, with its unit, such as 10s or 1h30m", text, MaxTime)
	}
	return d, nil
}
