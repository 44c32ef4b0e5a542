package setdir

import (
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// The state of a shard is mostly its inputs, one per sample. They are not decoded with the rest, but
// yielded one after another, so that a run over millions of samples does not hold them.

// Input is the identity of an input: on this machine (Key, Size, ModTime), in its store (Key, Size,
// Version) and anywhere (Hash).
type Input struct {
	Key     InputKey `json:"k"`
	Size    int64    `json:"s"`
	ModTime int64    `json:"t"` // nanoseconds since 1970
	// Hash is the 128-bit XXH3 of the content in hexadecimal.
	Hash string `json:"h"`
	// Version of an object in a store, used instead of ModTime: with its URL it identifies the
	// content on any machine.
	Version string `json:"v,omitempty"`
}

// InputKey is a key of arbitrary bytes that survives JSON: one that is not UTF-8, or starts with a
// NUL, is encoded as a NUL and its bytes in hexadecimal.
type InputKey string

// MarshalText implements encoding.TextMarshaler.
func (k InputKey) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(k)) && !strings.HasPrefix(string(k), "\x00") {
		return []byte(k), nil
	}
	return []byte("\x00" + hex.EncodeToString([]byte(k))), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *InputKey) UnmarshalText(text []byte) error {
	if len(text) == 0 || text[0] != 0 {
		*k = InputKey(text)
		return nil
	}
	b, err := hex.DecodeString(string(text[1:]))
	*k = InputKey(b)
	return err
}

// RecordedInput is an Input as a state file has it. Its slices are valid until the next one.
type RecordedInput struct {
	Key, Version  []byte
	Size, ModTime int64
	Hash          []byte // hexadecimal
}

// Input returns a copy.
func (in *RecordedInput) Input() Input {
	return Input{Key: InputKey(in.Key), Size: in.Size, ModTime: in.ModTime, Hash: string(in.Hash), Version: string(in.Version)}
}

// errInputs means that the inputs of a state are unusable.
var errInputs = errors.New("unusable inputs")

// recordedInputs are the inputs of a state file, as JSON.
type recordedInputs []byte

// decodeDone decodes the state of a shard without its inputs, which it returns.
func decodeDone(data []byte) (*Done, recordedInputs, error) {
	rest, inputs, err := cutInputs(data)
	if err != nil {
		return nil, nil, err
	}
	done := new(Done)
	if err := DecodeState(rest, done); err != nil {
		return nil, nil, err
	}
	return done, inputs, nil
}

// cutInputs returns the JSON of a state without its inputs, and the inputs; nil if there are none.
func cutInputs(data []byte) (rest []byte, inputs recordedInputs, err error) {
	c := jsonscan.Cursor{Data: data, Replace: true}
	if c.Peek() != '{' {
		return nil, nil, errInputs
	}
	c.At++
	for n := 0; ; n++ {
		more, fault := c.More(n, '}')
		if fault != "" {
			return nil, nil, errInputs
		}
		if !more {
			break
		}
		name, fault := c.Name()
		if fault != "" {
			return nil, nil, errInputs
		}
		isInputs := string(name) == "inputs"
		c.Peek()
		from := c.At
		if c.Skip(maxStateDepth) != "" {
			return nil, nil, errInputs
		}
		if !isInputs {
			continue
		}
		if inputs != nil {
			return nil, nil, errInputs // twice
		}
		inputs = recordedInputs(data[from:c.At])
		rest = slices.Concat(data[:from], []byte("null"), data[c.At:])
	}
	if inputs == nil {
		return data, nil, nil
	}
	return rest, inputs, nil
}

// each calls yield for each input, and reports whether all of them are usable. It stops at the first
// one that is not.
func (r recordedInputs) each(yield func(in *RecordedInput)) bool {
	if r == nil {
		return true
	}
	c := jsonscan.Cursor{Data: r, Replace: true}
	if c.Peek() != '[' {
		return c.Word("null")
	}
	c.At++
	var in RecordedInput
	for n := 0; ; n++ {
		more, fault := c.More(n, ']')
		if fault != "" {
			return false
		}
		if !more {
			return true
		}
		if !in.read(&c) {
			return false
		}
		yield(&in)
	}
}

// read reads an input at the cursor, and reports whether there is one.
func (in *RecordedInput) read(c *jsonscan.Cursor) bool {
	if c.Peek() != '{' {
		return false
	}
	c.At++
	*in = RecordedInput{Key: in.Key[:0], Version: in.Version[:0], Hash: in.Hash[:0]}
	for n := 0; ; n++ {
		more, fault := c.More(n, '}')
		if fault != "" {
			return false
		}
		if !more {
			return true
		}
		name, fault := c.Name()
		if fault != "" {
			return false
		}
		ok := true
		switch string(name) {
		case "s":
			in.Size, ok = integer(c)
		case "t":
			in.ModTime, ok = integer(c)
		case "k":
			if in.Key, ok = text(c, in.Key); ok {
				in.Key, ok = decodeKey(in.Key)
			}
		case "h":
			in.Hash, ok = text(c, in.Hash)
		case "v":
			in.Version, ok = text(c, in.Version)
		default:
			ok = c.Skip(maxStateDepth) == ""
		}
		if !ok {
			return false
		}
	}
}

// integer reads an integer at the cursor.
func integer(c *jsonscan.Cursor) (int64, bool) {
	c.Peek()
	digits, whole, ok := c.Number()
	if !ok || !whole {
		return 0, false
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return n, err == nil
}

// text appends a string at the cursor to dst.
func text(c *jsonscan.Cursor, dst []byte) ([]byte, bool) {
	if c.Peek() != '"' {
		return dst, false
	}
	text, fault := c.Text()
	return append(dst, text...), fault == ""
}

// decodeKey decodes an InputKey in place.
func decodeKey(key []byte) ([]byte, bool) {
	if len(key) == 0 || key[0] != 0 {
		return key, true
	}
	n, err := hex.Decode(key, key[1:])
	return key[:n], err == nil
}
