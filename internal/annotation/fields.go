package annotation

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Fields count the members of annotations that are not kept, by name. Empty ones do not count.
type Fields map[string]int64

// maxFields is the maximum number of names that are counted separately; all others are "...".
const maxFields = 64

// Add adds a member with its value, as JSON.
func (f Fields) Add(name, value []byte) {
	switch string(bytes.TrimSpace(value)) {
	case "", "null", `""`, "[]", "{}", "0", "false":
		return
	}
	if _, known := f[string(name)]; known {
		f[string(name)]++
	} else if len(f) < maxFields && len(name) <= MaxName {
		f[string(name)] = 1
	} else {
		f["..."]++
	}
}

// In returns the fields as fields of the elements of a list.
func (f Fields) In(list string) Fields {
	in := Fields{}
	for name, n := range f {
		in[list+"[]."+name] = n
	}
	return in
}

// Names returns the names in order: first the fields of annotations, then the fields of elements of
// lists.
func (f Fields) Names() []string {
	return slices.SortedFunc(maps.Keys(f), func(a, b string) int {
		return cmp.Or(strings.Compare(list(a), list(b)), strings.Compare(a, b))
	})
}

// list returns the list of a name that In has made, "" for others.
func list(name string) string {
	of, _, ok := strings.Cut(name, "[].")
	if !ok {
		return ""
	}
	return of
}

// OutsideKeypoints is the name for labelled keypoints that are outside of their image.
const OutsideKeypoints = "keypoints outside of the image"

// Count adds n members of a name, which is known to be short.
func (f Fields) Count(name string, n int64) {
	if n > 0 {
		f[name] += n
	}
}

// Merge adds other fields.
func (f Fields) Merge(other Fields) {
	for name, n := range other {
		f[name] += n
	}
}

// FieldsOfFiles adds up the fields of files that are read concurrently. The zero value has none.
type FieldsOfFiles struct {
	mu  sync.Mutex
	all Fields
}

// Merge adds the fields of a file.
func (f *FieldsOfFiles) Merge(fields Fields) {
	if len(fields) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = Fields{}
	}
	f.all.Merge(fields)
}

// All returns the fields of all files, nil without any, once they are read.
func (f *FieldsOfFiles) All() Fields { return f.all }
