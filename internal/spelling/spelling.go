// Package spelling compares words, to suggest the one that was meant.
package spelling

// Longest is the maximum length of a word that is compared, in bytes: longer ones are not typing
// errors.
const Longest = 64

// Distance returns the number of bytes that must be inserted, removed or changed to turn a into b
// (V. I. Levenshtein, 1965). It returns Longest for words that are longer.
func Distance(a, b string) int {
	if len(a) > Longest || len(b) > Longest {
		return Longest
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
