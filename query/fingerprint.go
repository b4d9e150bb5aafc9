package query

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Fingerprint identifies questions and their order: the first 16 hexadecimal
// digits of the SHA-256 of their JSON, one a line.
func Fingerprint(queries []Query) (string, error) {
	sum := sha256.New()
	lines := json.NewEncoder(sum)
	for i := range queries {
		if err := lines.Encode(&queries[i]); err != nil {
			return "", fmt.Errorf("fingerprint of query %d of %s: %w", queries[i].ID, queries[i].Type, err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
