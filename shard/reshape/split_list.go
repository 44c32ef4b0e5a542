package reshape

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// maxSplitList is the maximum size of a list of keys in bytes: it is held in memory.
const maxSplitList = 1 << 30

// ReadSplitList reads a list of keys and their splits for ResplitOptions.List: a key, a tab and a
// split per line. Empty lines and a leading byte order mark are ignored. Errors include the line
// number.
func ReadSplitList(r io.Reader) (map[string]string, error) {
	list := map[string]string{}
	in := bufio.NewScanner(io.LimitReader(r, maxSplitList))
	in.Buffer(nil, 1<<20)
	read, line := 0, 0
	for in.Scan() {
		line++
		text := in.Text()
		read += len(text) + 1
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if text = strings.TrimSuffix(text, "\r"); text == "" {
			continue
		}
		tab := strings.LastIndexByte(text, '\t')
		if tab < 0 {
			return nil, fmt.Errorf("line %d: %.80q: want a key, a tab and a split", line, text)
		}
		key, split := text[:tab], text[tab+1:]
		if err := shard.CheckSplit(split); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if other, twice := list[key]; twice && other != split {
			return nil, fmt.Errorf("line %d: key %q is in split %s here, and in %s before", line, key, split, other)
		}
		list[key] = split
	}
	switch err := in.Err(); {
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", line+1, err)
	case read >= maxSplitList:
		return nil, fmt.Errorf("a list of more than %d bytes does not fit in memory: use %s, or lists of parts", maxSplitList, optname.ResplitOptionsByHash)
	case len(list) == 0:
		return nil, errors.New("the list is empty")
	}
	return list, nil
}

// checkList validates a list.
func checkList(list map[string]string) error {
	splits := map[string]bool{}
	for key, split := range list {
		if err := shard.CheckSplit(split); err != nil {
			return source.OptionError(optname.ResplitOptionsList, "key %q: %v", key, err)
		}
		splits[split] = true
	}
	switch {
	case len(list) == 0:
		return source.OptionError(optname.ResplitOptionsList, "it is empty")
	case len(splits) > maxTargets:
		return source.OptionError(optname.ResplitOptionsList, "%d splits are too many: want %d at most", len(splits), maxTargets)
	}
	return nil
}

// hashOfList returns a hash of a list, which represents it in the manifest.
func hashOfList(list map[string]string) string {
	h := xxh3.New()
	for _, key := range slices.Sorted(maps.Keys(list)) {
		fmt.Fprintf(h, "%d %s\t%s\n", len(key), key, list[key])
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
}

// listSplit splits by a list of keys.
type listSplit struct {
	*byFeature
	places map[string]int // index of each key in the slices below
	keys   []string
	splits []int
	seen   []bool
}

func newListSplit(by *byFeature, splits []string, list map[string]string) *listSplit {
	s := &listSplit{byFeature: by, places: make(map[string]int, len(list)), seen: make([]bool, len(list))}
	for key, split := range list {
		s.places[key] = len(s.keys)
		s.keys = append(s.keys, key)
		s.splits = append(s.splits, slices.Index(splits, split))
	}
	return s
}

func (s *listSplit) Look(r *source.Record) (digest.Hash, error) {
	e, err := r.Example()
	if err != nil {
		return digest.Hash{}, err
	}
	value, _ := e.Get(s.key)
	if value.Len() != 1 {
		return digest.Hash{}, r.Locate(fmt.Errorf("the feature %q, which the list goes by, has %s; want one", s.key, plural.Of(value.Len(), "value")))
	}
	place, ok := 0, false
	switch value.Kind() {
	case tfrecord.KindBytes:
		key, _ := value.Bytes()
		place, ok = s.places[string(key)]
	case tfrecord.KindInt64:
		key, _ := value.Int64()
		place, ok = s.places[strconv.FormatInt(key, 10)]
	default:
		return digest.Hash{}, r.Locate(fmt.Errorf("the feature %q is of kind %v, which a list cannot match; want bytes or int64", s.key, value.Kind()))
	}
	if !ok {
		return digest.Hash{}, r.Locate(fmt.Errorf("its key %s is not in the list", shown(value)))
	}
	return digest.Hash{Lo: uint64(place)}, nil
}

// shown formats a key for error messages.
func shown(value tfrecord.Feature) string {
	if key, ok := value.Int64(); ok {
		return strconv.FormatInt(key, 10)
	}
	key, _ := value.Bytes()
	return fmt.Sprintf("%.200q", key)
}

// maxKeysNamed is the maximum number of keys in an error.
const maxKeysNamed = 5

func (s *listSplit) Choose(n int64, _ int, m digest.Hash) (int, error) {
	s.seen[m.Lo] = true
	if n == s.total-1 {
		var unseen []string
		for i, seen := range s.seen {
			if !seen {
				unseen = append(unseen, s.keys[i])
			}
		}
		if len(unseen) > 0 {
			slices.Sort(unseen)
			return source.Drop, fmt.Errorf("the list has %s that no record has in %q, the first of them %s", plural.Of(len(unseen), "key"), s.key, plural.Quoted(unseen[:min(len(unseen), maxKeysNamed)], maxKeysNamed))
		}
	}
	return s.splits[m.Lo], nil
}
