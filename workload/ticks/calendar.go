package ticks

import (
	"time"
)

// session is a trading session, from open to before close, in nanoseconds since 1970.
type session struct{ open, close int64 }

// sessionsBetween lists the sessions with a part between two times, by the calendar of the New York
// Stock Exchange: 9:30 to 16:00 in New York, 13:00 before some holidays.
func sessionsBetween(from, to time.Time) []session {
	var list []session
	from = from.UTC()
	year, month, first := from.Date()
	day := time.Date(year, month, first, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1)
	for ; day.Before(to); day = day.AddDate(0, 0, 1) {
		if closedOn(day) {
			continue
		}
		open, hours := day.Add(14*time.Hour+30*time.Minute), 6*time.Hour+30*time.Minute
		if hasDaylightTime(day) {
			open = open.Add(-time.Hour)
		}
		if closesEarly(day) {
			hours = 3*time.Hour + 30*time.Minute
		}
		if end := open.Add(hours); end.After(from) && open.Before(to) {
			list = append(list, session{open.UnixNano(), end.UnixNano()})
		}
	}
	return list
}

// isWeekdayOf reports whether a day is the n-th of its weekday in a month.
func isWeekdayOf(day time.Time, n int, weekday time.Weekday, month time.Month) bool {
	return day.Month() == month && day.Weekday() == weekday && (day.Day()+6)/7 == n
}

// closedOn reports whether the exchange is closed on a day.
func closedOn(day time.Time) bool {
	if w := day.Weekday(); w == time.Saturday || w == time.Sunday {
		return true
	}
	year := day.Year()
	// A holiday on a weekend is observed on the nearest weekday, but not in the year before.
	observed := func(month time.Month, of int) bool {
		holiday := time.Date(year, month, of, 0, 0, 0, 0, time.UTC)
		switch holiday.Weekday() {
		case time.Saturday:
			holiday = holiday.AddDate(0, 0, -1)
		case time.Sunday:
			holiday = holiday.AddDate(0, 0, 1)
		}
		return day.Equal(holiday)
	}
	return observed(time.January, 1) ||
		isWeekdayOf(day, 3, time.Monday, time.January) ||
		isWeekdayOf(day, 3, time.Monday, time.February) ||
		day.Equal(easterSunday(year).AddDate(0, 0, -2)) ||
		day.Month() == time.May && day.Weekday() == time.Monday && day.Day() > 31-7 ||
		year >= 2022 && observed(time.June, 19) ||
		observed(time.July, 4) ||
		isWeekdayOf(day, 1, time.Monday, time.September) ||
		isWeekdayOf(day, 4, time.Thursday, time.November) ||
		observed(time.December, 25)
}

// closesEarly reports whether a session ends at 13:00: before Independence Day and Christmas, and
// after Thanksgiving.
func closesEarly(day time.Time) bool {
	return day.Month() == time.July && day.Day() == 3 ||
		day.Month() == time.December && day.Day() == 24 ||
		isWeekdayOf(day.AddDate(0, 0, -1), 4, time.Thursday, time.November)
}

// hasDaylightTime reports whether New York has daylight saving time on a day, at the time of a session:
// from the second Sunday in March to the first one in November.
func hasDaylightTime(day time.Time) bool {
	sunday := func(month time.Month, n int) time.Time {
		first := time.Date(day.Year(), month, 1, 0, 0, 0, 0, time.UTC)
		return first.AddDate(0, 0, (7-int(first.Weekday()))%7+7*(n-1))
	}
	return !day.Before(sunday(time.March, 2)) && day.Before(sunday(time.November, 1))
}

// easterSunday returns the Gregorian Easter Sunday of a year (the algorithm of Meeus, Jones and Butcher).
func easterSunday(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	n := h + l - 7*((a+11*h+22*l)/451) + 114
	return time.Date(year, time.Month(n/31), n%31+1, 0, 0, 0, 0, time.UTC)
}

// knots is the number of parts of a session with equal shares of its rows.
const knots = 1 << knotBits

const knotBits = 10

// curve has the times at which the parts of a session begin, and the end: the rows are frequent when
// the market opens and when it closes.
type curve [knots + 1]int64

// activity is the share of a session's rows, in thousandths, until a minute of 390.
var activity = [...]struct{ minute, share int64 }{
	{0, 0}, {1, 15}, {5, 45}, {15, 95}, {30, 150}, {60, 240}, {120, 375}, {210, 530},
	{300, 690}, {345, 790}, {375, 880}, {385, 930}, {389, 975}, {390, 1000},
}

// fill sets the times of a period.
func (c *curve) fill(from, to int64) {
	minute, part := (to-from)/390, 0
	for k := range c {
		share := int64(k) * 1000 // in units of a thousandth divided by knots
		for activity[part+1].share*knots < share {
			part++
		}
		before, after := activity[part], activity[part+1]
		c[k] = from + before.minute*minute + (after.minute-before.minute)*minute*(share-before.share*knots)/((after.share-before.share)*knots)
	}
}
