package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// ordered compares record by record.
func (d *difference) ordered(ctx context.Context) error {
	splits := []string{""}
	if d.sameSplits() {
		splits = d.sides[0].Splits
	}
	var pair [2]*walk
	for i := range pair {
		pair[i] = &walk{ctx: ctx, r: tfrecord.NewReader(nil, tfrecord.ReaderOptions{MaxRecord: d.o.MaxRecord}), progress: d.o.Progress}
		defer pair[i].close()
	}
	for _, split := range splits {
		for i, w := range pair {
			w.files = nil
			for _, f := range d.sides[i].Files {
				if split == "" || d.sides[i].Splits[f.SplitIndex] == split {
					w.files = append(w.files, f.Path)
				}
			}
		}
		if err := d.split(split, pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// split compares the records of two walks.
func (d *difference) split(name string, a, b *walk) error {
	r := d.report
	var examples [2]tfrecord.Example
	for {
		x, err1 := a.next()
		y, err2 := b.next()
		for _, err := range []error{err1, err2} {
			if err != nil && err != io.EOF {
				return err
			}
		}
		switch {
		case err1 == io.EOF && err2 == io.EOF:
			return nil
		case err2 == io.EOF:
			r.RecordsA++
			r.OnlyA++
			d.list(Difference{Split: name, A: a.position(), Reason: "b does not have this record"})
		case err1 == io.EOF:
			r.RecordsB++
			r.OnlyB++
			d.list(Difference{Split: name, B: b.position(), Reason: "a does not have this record"})
		default:
			r.RecordsA++
			r.RecordsB++
			if bytes.Equal(x, y) {
				continue
			}
			r.Differing++
			one := Difference{Split: name, A: a.position(), B: b.position()}
			if examples[0].Parse(x) != nil || examples[1].Parse(y) != nil {
				one.Reason = fmt.Sprintf("%d and %s, not both of an Example", len(x), plural.Of(len(y), "byte"))
			} else {
				one.Features = d.features(&examples[0], &examples[1])
				if len(one.Features) == 0 {
					one.Reason = "the same features, encoded differently"
				} else if len(r.Differences) < d.o.MaxListed {
					one.Objects, one.Reason = compareObjects(&examples[0], &examples[1])
				}
			}
			d.list(one)
		}
	}
}

// maxDiffering is the maximum number of keys counted: data with more has no schema.
const maxDiffering = 10_000

// features compares two Examples and counts the features that differ.
func (d *difference) features(a, b *tfrecord.Example) (list []FeatureDifference) {
	add := func(key []byte, x, y string) {
		k := jsontext.Readable(string(key))
		if _, known := d.report.Features[k]; known || len(d.report.Features) < maxDiffering {
			d.report.Features[k]++
		}
		if len(d.report.Differences) < d.o.MaxListed {
			list = append(list, FeatureDifference{k, x, y})
		} else if list == nil {
			list = []FeatureDifference{{Key: k}} // not listed, but the result must not be empty
		}
	}
	for i, j := 0, 0; i < a.Len() || j < b.Len(); {
		order := 0
		var key, other []byte
		var x, y tfrecord.Feature
		if i < a.Len() {
			key, x = a.At(i)
		}
		if j < b.Len() {
			other, y = b.At(j)
		}
		switch {
		case i == a.Len():
			order = 1
		case j == b.Len():
			order = -1
		default:
			order = bytes.Compare(key, other)
		}
		switch {
		case order < 0:
			add(key, inShort(x, 0), "")
			i++
		case order > 0:
			add(other, "", inShort(y, 0))
			j++
		default:
			if at := firstOther(x, y); at >= 0 {
				add(key, inShort(x, at), inShort(y, at))
			}
			i++
			j++
		}
	}
	return list
}

// firstOther returns the index of the first value that differs; -1 if none does.
func firstOther(a, b tfrecord.Feature) int {
	if a.Kind() != b.Kind() {
		return 0
	}
	switch a.Kind() {
	case tfrecord.KindInt64:
		return mismatchAt(a.Int64List(), b.Int64List(), func(x, y int64) bool { return x == y })
	case tfrecord.KindFloat:
		// NaNs count as equal.
		return mismatchAt(a.FloatList(), b.FloatList(), func(x, y float32) bool { return x == y || x != x && y != y })
	case tfrecord.KindBytes:
		return mismatchAt(a.BytesList(), b.BytesList(), bytes.Equal)
	}
	return -1
}

func mismatchAt[T any](a, b iter.Seq[T], equal func(x, y T) bool) int {
	next, stop := iter.Pull(b)
	defer stop()
	at := 0
	for x := range a {
		if y, ok := next(); !ok || !equal(x, y) {
			return at
		}
		at++
	}
	if _, more := next(); more {
		return at
	}
	return -1
}

// valueAt returns the value at an index, if there is one.
func valueAt[T any](values iter.Seq[T], at int) (v T, ok bool) {
	for v := range values {
		if at == 0 {
			return v, true
		}
		at--
	}
	return v, false
}

// inShort summarizes a feature's values: the value if there is only one, otherwise their number and
// the value at index at.
func inShort(f tfrecord.Feature, at int) string {
	var value string
	switch f.Kind() {
	case tfrecord.KindNone:
		return "not set"
	case tfrecord.KindInt64:
		if v, ok := valueAt(f.Int64List(), at); ok {
			value = strconv.FormatInt(v, 10)
		}
	case tfrecord.KindFloat:
		if v, ok := valueAt(f.FloatList(), at); ok {
			value = strconv.FormatFloat(float64(v), 'g', -1, 32)
		}
	case tfrecord.KindBytes:
		if v, ok := valueAt(f.BytesList(), at); ok {
			value = bytesInShort(v)
		}
	}
	switch {
	case f.Len() == 1 && at == 0:
		return value
	case value == "":
		return plural.Of(f.Len(), "value")
	}
	return fmt.Sprintf("%s, [%d] is %s", plural.Of(f.Len(), "value"), at, value)
}

// bytesInShort quotes short text, and summarizes other bytes by length and hash.
func bytesInShort(b []byte) string {
	const short = 60
	if len(b) <= short && utf8.Valid(b) && !bytes.ContainsFunc(b, unicode.IsControl) {
		return strconv.Quote(string(b))
	}
	return fmt.Sprintf("%s (XXH3 %016x)", plural.Of(len(b), "byte"), digest.Of(b).Lo)
}

// walk iterates over the records of several files.
type walk struct {
	ctx   context.Context
	files []string // not yet started
	r     *tfrecord.Reader
	in    *recordscan.Meter // nil between files
	path  string

	progress *shard.ReadProgress
}

// next returns the next record, valid until the next call, or io.EOF at the end. Damage is a
// DamagedError.
func (w *walk) next() ([]byte, error) {
	for {
		if w.in == nil {
			if len(w.files) == 0 {
				return nil, io.EOF
			}
			w.path, w.files = w.files[0], w.files[1:]
			f, err := recordscan.Open(w.ctx, w.path)
			if err != nil {
				return nil, err
			}
			w.in = &recordscan.Meter{Context: w.ctx, File: f, Done: w.progress.Counter()}
			w.r.Reset(w.in, w.path)
		}
		record, err := w.r.Next()
		if err == nil {
			return record, nil
		}
		cause := w.in.Err
		w.close()
		if err != io.EOF {
			return nil, errors.Join(cause, damagedUnless(cause, err))
		}
	}
}

// damagedUnless returns err as a DamagedError, or nil if cause, the error of reading the file, is
// set.
func damagedUnless(cause, err error) error {
	if cause != nil {
		return nil
	}
	return &shard.DamagedError{Err: err}
}

// place returns the position of the record that next returned last.
func (w *walk) position() *Position {
	return &Position{Path: w.path, Record: w.r.Record()}
}

// close closes the current file.
func (w *walk) close() {
	if w.in != nil {
		w.in.File.Close()
		w.in = nil
	}
}
