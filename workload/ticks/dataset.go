package ticks

import (
	"fmt"
	"math"
	"time"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// The tables and the columns that queries name.
const (
	Trades, Quotes = "trades", "quotes"

	symbolTag      = "symbol"
	priceField     = "price"
	sizeField      = "size"
	conditionField = "condition"
	bidField       = "bid"
	askField       = "ask"
)

// Decimals is the number of decimal places of prices: they are multiples of 0.0001.
const Decimals = 4

// The conditions of trades.
const (
	regular   = "REG"
	oddLot    = "ODD" // fewer than 100 shares
	opening   = "OPN" // the first trade of a session
	closing   = "CLS" // the last one
	cancelled = "CXL" // cancels the trade before it, with the same price and size
	corrected = "COR" // corrects the price of the trade before it
)

// Dataset is the trades and quotes of all symbols. A symbol is a series of both tables, and the first
// one is the most active.
type Dataset struct {
	schema   *series.Schema
	seed     uint64
	sessions []session
	// The bounds of times, and their unit, in nanoseconds.
	start, end, unit int64

	weights   []float64 // of symbols: 1 for the most active
	weightSum float64
	perSymbol float64 // mean rows of a symbol in a nanosecond of a session
	rows      int64   // of all symbols in all sessions

	skew, late            float64
	perTrade              uint64 // quotes
	leastDelay, mostDelay int64
	quote, trade          *series.Table

	// For a share: the first symbol, and the distance to the next one.
	first, step uint32
}

// newDataset makes the dataset of a specification. Its error is a *workload.SpecError.
func newDataset(s workload.Spec) (*Dataset, error) {
	v, err := s.Resolve(useCase{}.Settings())
	if err != nil {
		return nil, err
	}
	if err := checkSpec(s); err != nil {
		return nil, err
	}
	unit := map[string]time.Duration{"1ns": 1, "1us": time.Microsecond, "1ms": time.Millisecond}[v["precision"]]
	least, most := v.Range("delay")
	d := &Dataset{
		seed: splitmix.Mix(uint64(s.Seed) + splitmix.Golden), sessions: sessionsBetween(s.Start, s.End), start: s.Start.UnixNano(), end: s.End.UnixNano(), unit: int64(unit),
		perSymbol: 1 / float64(s.Interval), skew: v.Number("skew"), late: v.Number("late"), perTrade: uint64(v.Int("quotes")),
		leastDelay: int64(least), mostDelay: int64(most), step: 1,
	}
	if len(d.sessions) == 0 {
		monday := sessionsBetween(s.End, s.End.AddDate(0, 0, 14))[0].day()
		return nil, workload.Bad("timestamp-start", "the stock exchange in New York is closed from %s to %s; choose trading days, such as %s to %s",
			s.Start.Format(time.RFC3339), s.End.Format(time.RFC3339), monday.Format(time.RFC3339), monday.AddDate(0, 0, 1).Format(time.RFC3339))
	}
	d.weights = make([]float64, s.Scale)
	for i := range d.weights {
		d.weights[i] = math.Pow(float64(i+1), -d.skew)
		d.weightSum += d.weights[i]
	}
	byLength := map[int64]int64{} // rows of a session
	for _, s := range d.sessions {
		length := s.close - s.open
		if byLength[length] == 0 {
			byLength[length] = d.rowsOf(s)
		}
		d.rows += byLength[length]
	}
	// In bursts there are ten times as many rows as on average, and each has a time of its own.
	if at := d.sessions[0]; d.symbolRows(0, at) > min((at.close-at.open)/d.unit/16, maxEvents) {
		return nil, workload.Bad("log-interval", "%s gives the most active symbol more rows in a session than times that are multiples of %v can tell apart; lengthen it, or lower %s.skew or %[3]s.precision", s.Interval, unit, Name)
	}
	d.schema = d.newSchema(s.Scale)
	d.schema.First, d.schema.Last, d.schema.Step = s.Start, s.End, unit
	for _, s := range d.sessions {
		d.schema.Sessions = append(d.schema.Sessions, series.Session{Open: max(s.open, d.start), Close: min(s.close, d.end)})
	}
	d.trade, d.quote = d.schema.Tables[0], d.schema.Tables[1]
	return d, nil
}

// day returns the midnight (UTC) before the session.
func (s session) day() time.Time { return time.Unix(0, s.open).UTC().Truncate(24 * time.Hour) }

// leastRows is the number of rows that each symbol has in a session: the first quote, the opening and
// the closing trade.
const leastRows = 3

// maxEvents bounds the rows of a symbol in a session.
const maxEvents = 1 << 30

// symbolRows returns the number of rows of a symbol in a session.
func (d *Dataset) symbolRows(symbol uint32, s session) int64 {
	mean := d.perSymbol * float64(s.close-s.open) * float64(len(d.weights))
	return max(leastRows, int64(mean*d.weights[symbol]/d.weightSum+0.5))
}

// rowsOf returns the number of rows of all symbols in a session.
func (d *Dataset) rowsOf(s session) int64 {
	rows := int64(0)
	for i := range d.weights {
		rows += d.symbolRows(uint32(i), s)
	}
	return rows
}

// newSchema makes the tables.
func (d *Dataset) newSchema(symbols uint32) *series.Schema {
	tags := []series.Tag{{Key: symbolTag, Values: symbolNames(symbols)}, {Key: "exchange", Values: exchanges(d.seed)}}
	price := func(name string) series.Field {
		return series.Field{Name: name, Type: series.Float, Decimals: Decimals}
	}
	number := func(name string) series.Field { return series.Field{Name: name, Type: series.Int} }
	return &series.Schema{Series: symbols, Tables: []*series.Table{
		{Name: Trades, Tags: tags, Dense: true, Fields: []series.Field{
			price(priceField), number(sizeField), {Name: conditionField, Type: series.Text, Length: len(regular)}}},
		{Name: Quotes, Tags: tags, Dense: true, Fields: []series.Field{
			price(bidField), price(askField), number("bid_size"), number("ask_size")}},
	}}
}

// symbolNames are the names of a number of symbols: consonants, so that no name reads as a word that a
// system takes for something else, such as NULL, TRUE or NAN.
type symbolNames uint32

// Append implements series.TagValues.
func (n symbolNames) Append(dst []byte, symbol uint32) ([]byte, bool) {
	const letters = "BCDFGHJKLMNPQRSTVWXZ"
	length, count := 4, uint64(len(letters)*len(letters)*len(letters)*len(letters))
	if uint64(n) > count {
		length, count = 5, count*uint64(len(letters))
	}
	// The factor has no divisor in common with the number of names, so that names differ.
	place := (uint64(symbol)*7919 + 12_345) % count
	for range length {
		dst = append(dst, letters[place%uint64(len(letters))])
		place /= uint64(len(letters))
	}
	return dst, true
}

// exchanges gives each symbol the market where it is listed, by its code of ISO 10383, from a seed.
type exchanges uint64

// Append implements series.TagValues.
func (seed exchanges) Append(dst []byte, symbol uint32) ([]byte, bool) {
	codes := [...]string{"XNYS", "XNYS", "XNYS", "XNAS", "XNAS", "XNAS", "ARCX", "BATS"}
	return append(dst, codes[splitmix.Mix(uint64(seed)+uint64(symbol)*splitmix.Golden)%uint64(len(codes))]...), true
}

// Schema implements workload.Dataset.
func (d *Dataset) Schema() *series.Schema { return d.schema }

// Open implements workload.Dataset.
func (d *Dataset) Open() workload.Reader { return newReader(d) }

// Share implements workload.Divided.
func (d *Dataset) Share(s workload.Share) workload.Dataset {
	if s.Single() {
		return d
	}
	share := *d
	share.first, share.step = d.first+d.step*uint32(s.Index), d.step*uint32(s.Count)
	return &share
}

// conditionNumber returns the number by which columns hold a condition.
func conditionNumber(condition string) int32 {
	n, ok := series.ParseText([]byte(condition))
	if !ok {
		panic(fmt.Sprintf("%q is not a text of digits and letters", condition))
	}
	return int32(n)
}
