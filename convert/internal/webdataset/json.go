package webdataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/stated"
	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// jsonFeatures are the values that ImageOptions.Features name in the .json members of samples.
type jsonFeatures struct {
	specs   []options.FeatureSpec
	columns []table.Column
	seen    []bool
	bytes   int64                    // of the values in rows
	rows    map[int32][][]jsonScalar // values of each feature, by the item of the .json
	beside  map[int32]int32          // item of the .json, by item of the image
	unused  map[string]int64         // how many .json have a key that no spec names; up to maxUnusedKeys
	rounded []bool                   // features that are in the account, as some of their digits are lost
}

// jsonScalar is a value of a feature: a number as it is written, or a string.
type jsonScalar struct {
	text string
	kind table.Kind
}

// maxUnusedKeys is the number of keys that are counted separately; all others are "...".
const maxUnusedKeys = 64

// maxJSONValues bounds the memory for the values of all samples in bytes. Each takes jsonValueCost
// and its text.
const (
	maxJSONValues = 1 << 30
	jsonValueCost = 64
)

func newJSONFeatures(specs []options.FeatureSpec) *jsonFeatures {
	j := &jsonFeatures{specs: specs, rows: map[int32][][]jsonScalar{}, beside: map[int32]int32{}, unused: map[string]int64{}, seen: make([]bool, len(specs)), rounded: make([]bool, len(specs))}
	for _, s := range specs {
		j.columns = append(j.columns, table.Column{Name: s.Name, Kind: tables.KindOf(s.Type), Length: 1})
	}
	return j
}

// add parses a .json member.
func (j *jsonFeatures) add(item int32, text []byte) error {
	object, err := members(text)
	if err != nil {
		return err
	}
	row := make([][]jsonScalar, len(j.specs))
	for i, s := range j.specs {
		raw, ok := object[s.Name]
		if !ok {
			continue
		}
		delete(object, s.Name)
		j.seen[i] = true
		values, list, err := scalarsOf(raw)
		if err != nil {
			return fmt.Errorf("%q: %w", s.Name, err)
		}
		for _, v := range values {
			if err := v.fits(tables.KindOf(s.Type)); err != nil {
				return fmt.Errorf("%q: %w", s.Name, err)
			}
		}
		j.columns[i].List = j.columns[i].List || list
		if s.Type == "" {
			for _, v := range values {
				if err := widen(&j.columns[i].Kind, v.kind); err != nil {
					return fmt.Errorf("%q: %w: give the feature a type", s.Name, err)
				}
			}
		}
		row[i] = values
		for _, v := range values {
			j.bytes += jsonValueCost + int64(len(v.text))
		}
	}
	for name := range object {
		if _, known := j.unused[name]; !known && (len(j.unused) >= maxUnusedKeys || len(name) > origin.MaxName) {
			name = "..."
		}
		j.unused[name]++
	}
	if j.bytes <= maxJSONValues { // otherwise fill returns an error
		j.rows[item] = row
	}
	return nil
}

// members returns the members of a JSON object.
func members(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	notJSON := func(err error) error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends too early")
		}
		return fmt.Errorf("not a JSON object: at byte %d: %w", d.InputOffset(), err)
	}
	switch t, err := d.Token(); {
	case err != nil:
		return nil, notJSON(err)
	case t != json.Delim('{'):
		return nil, fmt.Errorf("not a JSON object, but %.40q: want one, such as {\"score\": 0.5}", bytes.TrimSpace(text))
	}
	object := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		name, _ := key.(string) // the decoder accepts no other keys
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("it has the key %.100q twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, notJSON(err)
		}
		object[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, notJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("not a JSON object: there is text after it, at byte %d", d.InputOffset())
	}
	return object, nil
}

// scalarsOf returns the values of a scalar or a list of them; nil for null.
func scalarsOf(raw json.RawMessage) (values []jsonScalar, list bool, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil && err != io.EOF {
		return nil, false, err
	}
	elements, list := v.([]any)
	switch {
	case v == nil:
		return nil, false, nil
	case !list:
		elements = []any{v}
	}
	values = make([]jsonScalar, 0, len(elements))
	for _, e := range elements {
		switch e := e.(type) {
		case bool:
			text := "0"
			if e {
				text = "1"
			}
			values = append(values, jsonScalar{text, table.Int64})
		case json.Number:
			kind := table.Float
			if _, err := strconv.ParseInt(e.String(), 10, 64); err == nil {
				kind = table.Int64
			}
			values = append(values, jsonScalar{e.String(), kind})
		case string:
			values = append(values, jsonScalar{e, table.Bytes})
		default:
			return nil, false, errors.New("want a number, a string, true, false, null or a list of one of them")
		}
	}
	return values, list, nil
}

// fits returns an error if a value is not of a kind, or is a number that no kind has. Integers are
// floats, too.
func (v jsonScalar) fits(kind table.Kind) error {
	if kind != table.Unknown && kind != v.kind && (kind != table.Float || v.kind != table.Int64) {
		return fmt.Errorf("%s is not %s", strconv.Quote(v.text), kind)
	}
	if v.kind == table.Float {
		if _, fits, _ := csvscan.ParseFloat32([]byte(v.text)); !fits {
			return fmt.Errorf("%s is outside of the range of a 32-bit float", v.text)
		}
	}
	return nil
}

// widen makes a kind one that also has values of another.
func widen(kind *table.Kind, other table.Kind) error {
	switch {
	case *kind == table.Unknown || *kind == table.Int64 && other == table.Float:
		*kind = other
	case *kind == other || *kind == table.Float && other == table.Int64:
	default:
		return fmt.Errorf("it is %s here and %s in another sample", other, *kind)
	}
	return nil
}

// fill gives the images their features, and describes them. It adds keys that are not stored to an
// account.
func (j *jsonFeatures) fill(images []origin.Image, a *account.Account) ([]manifest.Feature, error) {
	for _, name := range slices.Sorted(maps.Keys(j.unused)) {
		a.Add(account.Key, fmt.Sprintf("%s (%d)", name, j.unused[name]))
	}
	if j.bytes > maxJSONValues {
		return nil, fmt.Errorf("%s: the values in .json members take more than %d bytes of memory: name fewer, or store .json as it is", optname.ImageOptionsFeatures, int64(maxJSONValues))
	}
	described := make([]manifest.Feature, len(j.specs))
	for i, s := range j.specs {
		if !j.seen[i] {
			return nil, fmt.Errorf("%s: no .json member has the key %q", optname.ImageOptionsFeatures, s.Name)
		}
		described[i] = stated.DescribeColumn(j.columns[i])
		if j.columns[i].List {
			described[i].Class, described[i].Shape = manifest.ClassVector, []int{-1}
		}
	}
	var b tfrecord.Builder
	for i := range images {
		p := &images[i]
		if p.Bad() != nil {
			continue
		}
		b.Reset()
		var row [][]jsonScalar
		if item, ok := j.beside[p.Item]; ok {
			row = j.rows[item]
			delete(j.rows, item)
		}
		for k := range j.specs {
			if row == nil || row[k] == nil {
				described[k].Optional = true
				continue
			}
			j.encode(&b, k, row[k])
			j.account(a, k, row[k], p.Path)
		}
		p.AddExtra().Row = &origin.Row{Features: b.Append(nil)}
	}
	return described, nil
}

// account adds feature k to an account, once, if its values in a sample lose digits.
func (j *jsonFeatures) account(a *account.Account, k int, values []jsonScalar, path string) {
	if j.rounded[k] || j.columns[k].Kind != table.Float {
		return
	}
	for _, v := range values {
		if number := []byte(v.text); csvscan.Rounds(number) || csvscan.IsTiny(number) {
			j.rounded[k] = true
			a.Add(account.Rounded, fmt.Sprintf("%s (the first with %s: %q)", j.specs[k].Name, path, v.text))
			return
		}
	}
}

// encode adds the values of a feature, which fit its kind.
func (j *jsonFeatures) encode(b *tfrecord.Builder, k int, values []jsonScalar) {
	switch name := j.specs[k].Name; j.columns[k].Kind {
	case table.Int64:
		v := make([]int64, len(values))
		for i := range values {
			v[i], _ = strconv.ParseInt(values[i].text, 10, 64)
		}
		b.Int64(name, v...)
	case table.Float:
		v := make([]float32, len(values))
		for i := range values {
			v[i], _, _ = csvscan.ParseFloat32([]byte(values[i].text))
		}
		b.Float(name, v...)
	default:
		v := make([]string, len(values))
		for i := range values {
			v[i] = values[i].text
		}
		b.String(name, v...)
	}
}
