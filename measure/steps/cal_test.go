package steps
import ("testing";"math/rand/v2";"os";"strconv")
func TestCal(t *testing.T) {
	years, _ := strconv.Atoi(os.Getenv("YEARS"))
	if years == 0 { t.Skip() }
	for _, m := range []machine{{name:"indep",variation:shared},{name:"drift.2",variation:shared,common:.5,drift:.2},{name:"drift.4",variation:shared,common:.5,drift:.4}} {
		for _, alpha := range []float64{.05,.15} {
			r := rand.New(rand.NewPCG(7, 7)); n:=0
			for range years { if len(Find(m.nights(r, Nightly), Options{Looks: Nightly, Alpha: alpha}))>0 {n++} }
			t.Logf("%s alpha %v: %d of %d", m.name, alpha, n, years)
		}
	}
}
