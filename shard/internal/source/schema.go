package source

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// schema is the features of an input: of a set, or of the first records of a file without a
// manifest.
type schema struct {
	place    string // for messages
	dir      string
	declared bool            // by a manifest
	examples bool            // all records are Examples
	always   map[string]bool // by key: whether each record has the feature
	// kinds of the values, by key. Features without values, and with values of several kinds, are in none.
	kinds map[string]string
}

// CheckSchemas returns an error if the inputs have no common schema, unless union is set: if a feature
// is in each record of an input, and in no record of another, or is of different kinds. A file without a manifest says little of the features that others in its directory have: these must
// only have one in common. It notes the features that some inputs do not have.
func (in *Inputs) CheckSchemas(ctx context.Context, union bool, note func(format string, args ...any)) error {
	schemas, err := in.schemas(ctx)
	if err != nil || len(schemas) < 2 {
		return err
	}
	if !union {
		if err := unlike(schemas); err != nil {
			return err
		}
	}
	if missing := missingSomewhere(schemas, union); len(missing) > 0 {
		note("some inputs do not have %s %s: these are optional in the new set",
			plural.Noun(len(missing), "feature"), plural.Quoted(missing, mostListed))
	}
	return nil
}

// unlike returns the error for schemas that have too little in common.
func unlike(schemas []*schema) error {
	for _, s := range schemas {
		if s.examples != schemas[0].examples {
			one, other := schemas[0], s
			if other.examples {
				one, other = other, one
			}
			return errUnlike("the records of %s are tf.train.Examples, and not all of those of %s", one.place, other.place)
		}
	}
	in := map[string]int{} // the number of schemas with a feature
	for _, key := range keysOf(schemas) {
		with, without := divide(schemas, key)
		in[key] = len(with)
		var first *schema // with a kind
		for _, s := range with {
			switch kind := s.kinds[key]; {
			case kind == "":
			case first == nil:
				first = s
			case first.kinds[key] != kind:
				return errUnlike("the feature %q is %s in %s, and %s in %s", key, first.kinds[key], first.place, kind, s.place)
			}
		}
		for _, t := range without {
			for _, s := range with {
				if s.always[key] && s.comparable(t) {
					return errUnlike("the records of %s have a feature %q, those of %s do not", s.place, key, t.place)
				}
			}
		}
	}
	for _, s := range schemas {
		common := len(s.always) == 0
		for key := range s.always {
			common = common || in[key] > 1
		}
		if !common {
			return errUnlike("the records of %s have no feature in common with those of other inputs", s.place)
		}
	}
	return nil
}

// divide returns the schemas with and without a feature.
func divide(schemas []*schema, key string) (with, without []*schema) {
	for _, s := range schemas {
		if _, has := s.always[key]; has {
			with = append(with, s)
		} else {
			without = append(without, s)
		}
	}
	return with, without
}

func errUnlike(format string, args ...any) error {
	args = append(args, optname.ReshapeDropFeatures, optname.ReshapeRenameFeatures, optname.OptionsUnion)
	return fmt.Errorf(format+": drop or rename features first (%s, %s), or give %s for a set of both", args...)
}

// comparable reports whether an absent feature is a difference of two schemas. Of files of one
// directory, and of their first records, it is not.
func (s *schema) comparable(t *schema) bool { return s.declared || t.declared || s.dir != t.dir }

// missingSomewhere returns the features that some schema does not have: of all, or only of those that
// are comparable.
func missingSomewhere(schemas []*schema, all bool) (keys []string) {
	for _, key := range keysOf(schemas) {
		with, without := divide(schemas, key)
		if all && len(with) > 0 && len(without) > 0 || slices.ContainsFunc(without, func(t *schema) bool { return slices.ContainsFunc(with, t.comparable) }) {
			keys = append(keys, key)
		}
	}
	return keys
}

// keysOf returns the keys of all features, sorted.
func keysOf(schemas []*schema) []string {
	all := map[string]bool{}
	for _, s := range schemas {
		for key := range s.always {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// The part of files without a manifest that schemas reads: some files of each directory, and of each
// the first records.
const (
	schemaFiles   = 8
	schemaRecords = 32
	schemaBytes   = 1 << 20
)

// schemas returns the schemas of the inputs: of sets, and of some of the files without a manifest.
func (in *Inputs) schemas(ctx context.Context) ([]*schema, error) {
	var all []*schema
	sets := map[*shard.Set]bool{}
	bare := map[string][]*Input{}
	var dirs []string
	for _, f := range in.Files {
		switch {
		case f.Records == 0:
		case f.Set == nil:
			dir := storage.Dir(f.Path)
			if bare[dir] == nil {
				dirs = append(dirs, dir)
			}
			bare[dir] = append(bare[dir], f)
		case !sets[f.Set]:
			sets[f.Set] = true
			all = append(all, schemaOf(f.Set))
		}
	}
	var files []*Input
	for _, dir := range dirs {
		list := bare[dir]
		n := min(len(list), schemaFiles)
		for i := range n {
			files = append(files, list[i*(len(list)-1)/max(n-1, 1)])
		}
	}
	if len(all)+len(files) < 2 {
		return nil, nil
	}
	seen := make([]*schema, len(files))
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(in.Workers)
	for i, f := range files {
		g.Go(func() (err error) {
			seen[i], err = seenSchema(reading, f, in.MaxRecord)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return append(all, seen...), nil
}

func schemaOf(set *shard.Set) *schema {
	s := &schema{place: set.Dir, dir: set.Dir, declared: true, examples: set.Records == manifest.RecordExample, always: map[string]bool{}, kinds: map[string]string{}}
	for _, f := range set.Features {
		s.always[f.Key], s.kinds[f.Key] = !f.Optional, f.Kind
	}
	return s
}

// seenSchema reads the first records of a file. Damage is reported when all records are read.
func seenSchema(ctx context.Context, f *Input, maxRecord int64) (*schema, error) {
	s := &schema{place: f.Path, dir: storage.Dir(f.Path), examples: true, always: map[string]bool{}, kinds: map[string]string{}}
	r, err := shard.Open(ctx, f.Path, tfrecord.ReaderOptions{MaxRecord: maxRecord})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var e tfrecord.Example
	counts := map[string]int{}
	records := 0
	for size := 0; records < schemaRecords && size < schemaBytes; records++ {
		record, err := r.Next()
		if err != nil {
			break
		}
		size += len(record)
		if e.Parse(record) != nil || message.Of(record) != message.Example {
			s.examples = false
			break
		}
		for i := range e.Len() {
			if key, value := e.At(i); value.Kind() != tfrecord.KindNone {
				counts[string(key)]++
				switch kind := value.Kind().String(); {
				case counts[string(key)] == 1:
					s.kinds[string(key)] = kind
				case s.kinds[string(key)] != kind:
					s.kinds[string(key)] = ""
				}
			}
		}
	}
	for key, n := range counts {
		s.always[key] = n == records
	}
	return s, nil
}

// mostListed is the maximum number of keys that an error lists.
const mostListed = 20
