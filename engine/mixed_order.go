package engine

// interleave returns in which order types of these weights are run, as their
// positions: each as often as its weight says in a round, and spread over it as
// evenly as can be (smooth weighted round robin, as nginx chooses its servers).
func interleave(weights []int) []int {
	total := 0
	for _, w := range weights {
		total += w
	}
	credit := make([]int, len(weights))
	var order []int
	for range total {
		most := 0
		for i, w := range weights {
			if credit[i] += w; credit[i] > credit[most] {
				most = i
			}
		}
		credit[most] -= total
		order = append(order, most)
	}
	return order
}
