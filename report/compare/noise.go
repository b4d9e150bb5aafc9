package compare

import "github.com/tsmark/tsmark/result"

// noisy returns why other processes disturbed the phases that a figure of a subject comes
// from. It is empty if they did not, or were not watched.
func (s Subject) noisy(f *Figure) string {
	var phases []*result.Noise
	for _, t := range s.targets {
		for i := range t.Repeats {
			r := &t.Repeats[i]
			switch f.Metric {
			case MixedMedian, MixedP99, MixedLoad:
				if r.Load != nil && r.Load.Mixed != nil {
					phases = append(phases, r.Load.Mixed.Writes.Noise)
				}
			case Load, Acked, Sent, Disk:
				if r.Load != nil {
					phases = append(phases, r.Load.Noise)
				}
			default:
				for j := range r.Queries {
					if q := &r.Queries[j]; q.Executed > 0 && (f.Subject == q.Type || f.Subject == AllTypes) {
						phases = append(phases, q.Noise)
					}
				}
			}
		}
	}
	return result.Disturbance(phases...)
}
