package features

import (
	"iter"
	"strings"
)

// Pairs returns the features of two lists sorted by key, in that order: those with the same key
// together, the others with nil.
func Pairs[F any](a, b []F, key func(*F) string) iter.Seq2[*F, *F] {
	return func(yield func(a, b *F) bool) {
		a, b := a, b
		for len(a) > 0 || len(b) > 0 {
			var order int
			switch {
			case len(a) == 0:
				order = 1
			case len(b) == 0:
				order = -1
			default:
				order = strings.Compare(key(&a[0]), key(&b[0]))
			}
			var p, q *F
			if order <= 0 {
				p, a = &a[0], a[1:]
			}
			if order >= 0 {
				q, b = &b[0], b[1:]
			}
			if !yield(p, q) {
				return
			}
		}
	}
}
