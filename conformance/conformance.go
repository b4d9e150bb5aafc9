// Package conformance runs the conformance suite in tests of drivers: the requirements that every
// target must meet before its figures mean anything. It also has targets that only tests need.
package conformance

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/conformance/suite"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/slowtest"
)

// Run runs the suite against a kind of target with the given options. Each
// test has a folder of its own; a target that lives elsewhere than in it must
// be given options that lead to a place which the suite may fill and replace. With -short
// it leaves out, but in tsmark's own process, the parts that add least to the others.
func Run(t *testing.T, d driver.Driver, options map[string]string) {
	s := newSuite(t, d, options)
	s.All(t)
	if !s.Brief() {
		t.Run("many series", func(t *testing.T) { s.ManySeries(t) })
	}
}

// RunFewSeries is Run for servers which, as the tests start them, have not the memory to
// count thousands of series.
func RunFewSeries(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).All(t)
}

// RunLayout is Run for another layout or dialect of a driver. It runs the workloads, queries and
// random datasets that Run runs with -short, and no test of many series.
func RunLayout(t *testing.T, d driver.Driver, options map[string]string) {
	Long(t)
	brief(t, d, options).All(t)
}

// Fault is a known fault of the server: the error with which it responds to correct
// queries. The suite logs these, and fails once none of them occurs any more.
type Fault = suite.Fault

// RunDespite is Run for a server with known faults. Its answers must still be correct. With
// -short it leaves out the workloads that only differ in their tables.
func RunDespite(t *testing.T, d driver.Driver, options map[string]string, faults ...*Fault) {
	c := config(t, d, options)
	c.Faults = faults
	s := suite.New(c)
	s.RunMost(t)
	s.CheckFaults(t)
}

// RunSparse is Run for servers that take few rows a second: with fewer of them, of few
// series, and without the workloads that are others on other tables.
func RunSparse(t *testing.T, d driver.Driver, options map[string]string) {
	c := config(t, d, options)
	c.Interval = Sparse * RegularInterval
	suite.New(c).RunMost(t)
}

// Sparse divides the number of rows of a series for servers that take few rows a second.
const Sparse = suite.Sparse

// RegularInterval is the interval at whose multiples all rows of RunRegular are.
const RegularInterval = suite.RegularInterval

// RunRegular runs the part of the suite with rows at multiples of an interval,
// for options that promise so.
func RunRegular(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).Regular(t)
}

// RunVariant is RunWrites, and without -short a few random queries, for options that change how
// answers arrive, such as a protocol, in a dialect and a layout that Run tests.
func RunVariant(t *testing.T, d driver.Driver, options map[string]string) {
	RunWrites(t, d, options)
	if !slowtest.Short() {
		t.Run("random queries", func(t *testing.T) { brief(t, d, options).Random(t) })
	}
}

// RunWrites runs the part of the suite that tests whether rows arrive unchanged, for
// options that change only the way there.
func RunWrites(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).Writes(t)
}

// RunTexts runs the part of the suite that is about free texts, which Run has too.
func RunTexts(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).Texts(t)
}

// RunNative loads native histograms with staleness markers, and compares the target's contents and the
// rows that are read back.
func RunNative(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).Native(t)
}

// RunClassic is RunNative with classic histograms.
func RunClassic(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).Classic(t)
}

// RunProtocols is RunWrites, RunNative and RunClassic for each way to write metrics, a value of the option, but the default one.
func RunProtocols(t *testing.T, d driver.Driver, options map[string]string, option string) {
	Long(t)
	i := slices.IndexFunc(d.Options, func(o driver.Option) bool { return o.Name == option })
	for _, protocol := range d.Options[i].Type.Words() {
		if protocol == d.Options[i].Default {
			continue
		}
		t.Run(protocol, func(t *testing.T) {
			options := maps.Clone(options)
			options[option] = protocol
			RunWrites(t, d, options)
			RunNative(t, d, options)
			RunClassic(t, d, options)
		})
	}
}

// Grows runs the part of the suite that is about columns that appear, which Run has too.
func Grows(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).Grows(t)
}

// Changes runs the part of the suite that corrects, deletes and drops rows, which Run has too.
func Changes(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).Changes(t)
}

// Joins runs the part of the suite that is about several processes which load beside each
// other, which Run has too.
func Joins(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).Joins(t)
}

// Check tests a user-provided server in the way that the suite tests others: their
// recordings have no conversation of tsmark check, whose settings and times are a server's
// own.
func Check(t *testing.T, d driver.Driver, options map[string]string) {
	newSuite(t, d, options).Check(t)
}

// Long leaves a test to .ci/nightly that takes minutes beside others that test nearly
// the same: the flag -short, which .ci/run gives, skips it, and so does a plain go test.
func Long(t testing.TB) {
	t.Helper()
	if slowtest.Short() {
		t.Skip("-short, or a plain go test: .ci/nightly runs it, and so does -run .")
	}
}

func newSuite(t *testing.T, d driver.Driver, options map[string]string) *suite.Suite {
	t.Helper()
	return suite.New(config(t, d, options))
}

// brief returns the suite with the checks of -short.
func brief(t *testing.T, d driver.Driver, options map[string]string) *suite.Suite {
	t.Helper()
	c := config(t, d, options)
	c.Brief = true
	return suite.New(c)
}

// config returns what go test and the environment say about the suite.
func config(t *testing.T, d driver.Driver, options map[string]string) suite.Config {
	t.Helper()
	resolved, err := d.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	return suite.Config{
		Driver: d, Options: resolved, Sub: sub, Short: slowtest.Short(),
		Recorded: d.UserServer != nil && d.StandIn == "" && (!HasAddress(d.Name) || os.Getenv("TSMARK_RECORD") != ""),
	}
}

// sub runs a part of a check as a subtest.
func sub(t suite.T, name string, check func(suite.T)) {
	t.(*testing.T).Run(name, func(t *testing.T) { check(t) })
}
