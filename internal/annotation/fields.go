package annotation

import "bytes"

// Fields count the members of annotations that are not kept, by name. Empty ones do not count.
type Fields map[string]int64

// maxFields is how many names are told apart; all others are "...".
const maxFields = 64

// Add adds a member with its value, as JSON.
func (f Fields) Add(name, value []byte) {
	switch string(bytes.TrimSpace(value)) {
	case "", "null", `""`, "[]", "{}", "0", "false":
		return
	}
	if n, known := f[string(name)]; known {
		f[string(name)] = n + 1
	} else if len(f) < maxFields && len(name) <= MaxName {
		f[string(name)] = 1
	} else {
		f["..."]++
	}
}

// Merge adds other fields.
func (f Fields) Merge(other Fields) {
	for name, n := range other {
		f[name] += n
	}
}
