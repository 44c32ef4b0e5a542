package reshape

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// grouper is a chooser that assigns each record to the group of its value.
type grouper struct {
	key    string
	splits int
	ids    map[digest.Hash]int // by value, once all groups are known

	mu     sync.Mutex
	values map[digest.Hash]string // directory by hash of the value
}

// maxGroups is the maximum number of sets made by GroupBy, and maxGroup the maximum length of their
// directory names.
const (
	maxGroups = 10_000
	maxGroup  = 200
)

// prepare finds all values.
func (g *grouper) prepare(ctx context.Context, in *source.Inputs, v *rearrange.Verb) error {
	g.splits = len(in.Splits)
	g.values = map[digest.Hash]string{}
	err := in.EachRecord(ctx, in.Workers, g.Look, func(int64, int, digest.Hash) error { return nil })
	if err != nil {
		return err
	}
	for _, directory := range g.values {
		v.Groups = append(v.Groups, directory)
	}
	slices.Sort(v.Groups)
	if len(v.Groups)*g.splits > assign.MostTargets {
		return &UnfitError{Err: fmt.Errorf("%s: %d values in %d splits are too many", optname.ReshardOptionsGroupBy, len(v.Groups), g.splits)}
	}
	g.ids = map[digest.Hash]int{}
	for m, directory := range g.values {
		g.ids[m], _ = slices.BinarySearch(v.Groups, directory)
	}
	return nil
}

func (g *grouper) Look(r *source.Record) (digest.Hash, error) {
	e, err := r.Example()
	if err != nil {
		return digest.Hash{}, err
	}
	f, _ := e.Get(g.key)
	if f.Len() != 1 || f.Kind() == tfrecord.KindFloat {
		return digest.Hash{}, unfitGroup(r, fmt.Errorf("feature %q has %s of kind %v: want one integer, or text, in each record (%s leaves others out)", g.key, plural.Of(f.Len(), "value"), f.Kind(), optname.ReshapeFilter))
	}
	m := digest.OfValue(f)
	if g.ids != nil {
		return m, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.values[m]; known {
		return m, nil
	}
	if len(g.values) == maxGroups {
		return m, unfitGroup(r, fmt.Errorf("feature %q has more than %d values: too many to make a set of each", g.key, maxGroups))
	}
	directory := ""
	if id, ok := f.Int64(); ok {
		directory = strconv.FormatInt(id, 10)
	} else {
		text, _ := f.Bytes()
		directory = directoryName(string(text))
	}
	if len(directory) > maxGroup {
		return m, unfitGroup(r, fmt.Errorf("the value of %q is too long for a directory name; it begins with %.40q", g.key, directory))
	}
	g.values[m] = directory
	return m, nil
}

// unfitGroup returns the error for a record that does not belong to any group.
func unfitGroup(r *source.Record, err error) error {
	return &UnfitError{Err: fmt.Errorf("%s: %w", optname.ReshardOptionsGroupBy, r.Locate(err))}
}

func (g *grouper) Choose(_ int64, split int, m digest.Hash) (int, error) {
	return g.ids[m]*g.splits + split, nil
}

// directoryName returns the directory name for a value: letters, digits and some punctuation are
// kept, everything else becomes %XX as in URLs. Different values have different names.
func directoryName(value string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-.", c) >= 0
		if i == 0 && (c == '.' || value == manifest.IndexDir || value == manifest.File) {
			plain = false // neither hidden nor one of our own names
		}
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() == 0 {
		return "%" // for an empty value
	}
	return b.String()
}
