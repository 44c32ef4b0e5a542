package columns

import (
	"fmt"

	"github.com/tfrec/tfrec/tfrecord"
)

// Vocabulary numbers strings, such as the label names of a set or the tokens of a model. It does
// not change, and is safe for concurrent use.
type Vocabulary struct {
	words []string
	ids   map[string]int64
}

// NewVocabulary returns the vocabulary in which the id of a word is its index in the list. A word
// that is listed twice is an error. The list is copied.
func NewVocabulary(words []string) (*Vocabulary, error) {
	v := &Vocabulary{words: append([]string(nil), words...), ids: make(map[string]int64, len(words))}
	for i, word := range words {
		if first, twice := v.ids[word]; twice {
			return nil, fmt.Errorf("columns: vocabulary: words %d and %d are both %q", first, i, word)
		}
		v.ids[word] = int64(i)
	}
	return v, nil
}

// Len returns the number of words.
func (v *Vocabulary) Len() int { return len(v.words) }

// Word returns the word with an id from 0 to Len-1.
func (v *Vocabulary) Word(id int64) string { return v.words[id] }

// ID returns the id of a word; ok is false if it is unknown.
func (v *Vocabulary) ID(word []byte) (id int64, ok bool) {
	id, ok = v.ids[string(word)]
	return id, ok
}

// Lookup appends the ids of the values of a bytes column to dst, and returns the extended slice. A
// ragged column's Splits delimit the records in it. An unknown word is an error that names its row;
// then dst is returned as it was. Padding that is not a word has the id -1; for another one, let
// [Field.Default] be a word.
func (v *Vocabulary) Lookup(dst []int64, c *Column) ([]int64, error) {
	return v.lookup(dst, c, func(row, i int) (int64, error) {
		if _, end := c.real(row); i >= end {
			return -1, nil
		}
		return 0, fmt.Errorf("columns: row %d of column %q has %.100q, which is not in the vocabulary of %d words", row, c.Key, c.Value(i), v.Len())
	})
}

// LookupOr is Lookup with an id for all unknown words, and for padding that is not a word.
func (v *Vocabulary) LookupOr(dst []int64, c *Column, unknown int64) ([]int64, error) {
	return v.lookup(dst, c, func(int, int) (int64, error) { return unknown, nil })
}

func (v *Vocabulary) lookup(dst []int64, c *Column, unknown func(row, i int) (int64, error)) ([]int64, error) {
	if c.Kind != tfrecord.KindBytes {
		return dst, fmt.Errorf("columns: the values of column %q are %v: only bytes are in a vocabulary", c.Key, c.Kind)
	}
	before := len(dst)
	for row := range c.rows() {
		from, to := c.Row(row)
		for i := from; i < to; i++ {
			id, known := v.ID(c.Value(i))
			if !known {
				var err error
				if id, err = unknown(row, i); err != nil {
					return dst[:before], err
				}
			}
			dst = append(dst, id)
		}
	}
	return dst, nil
}
