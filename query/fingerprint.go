package query

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
)

// Fingerprint identifies queries and their order: the first 16 hexadecimal
// digits of the SHA-256 of their JSON, one a line. It takes them one by one, and
// keeps none.
type Fingerprint struct {
	sum   hash.Hash
	lines *json.Encoder
}

// NewFingerprint returns the fingerprint of no query.
func NewFingerprint() *Fingerprint {
	sum := sha256.New()
	return &Fingerprint{sum, json.NewEncoder(sum)}
}

// Add takes the next query. Its error is for a value that JSON cannot hold.
func (f *Fingerprint) Add(q *Query) error {
	if err := f.lines.Encode(q.record()); err != nil {
		return fmt.Errorf("fingerprint of query %d of %s: %w", q.ID, q.Type, err)
	}
	return nil
}

// String is the fingerprint of everything added so far.
func (f *Fingerprint) String() string { return hex.EncodeToString(f.sum.Sum(nil)[:8]) }
