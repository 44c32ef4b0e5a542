// Package spelling compares words, to suggest the one that was meant.
package spelling

// Longest is how many bytes a word may have to be compared: longer ones are not typing errors.
const Longest = 64

// Distance is how many bytes must be inserted, removed or changed to turn a into b (V. I.
// Levenshtein, 1965). It is Longest for words that are longer.
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
