package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"slices"
	"strconv"
)

// pixelVersion changes when the same image, options and codecs give different bytes than in an
// earlier version of tfrec.
const pixelVersion = 3

// fingerprint hashes a sequence of strings unambiguously: each is preceded by its length.
type fingerprint struct{ h hash.Hash }

// NewFingerprint returns one of nothing yet.
func NewFingerprint() fingerprint { return fingerprint{sha256.New()} }

// Add hashes further strings.
func (f fingerprint) Add(parts ...string) {
	var b []byte
	for _, p := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
	}
	f.h.Write(b)
}

// String returns the first half of the SHA-256 in hexadecimal.
func (f fingerprint) String() string { return hex.EncodeToString(f.h.Sum(nil)[:16]) }

// shardFingerprint begins a shard's fingerprint: its name, the codecs and the effective options.
// The identities of its samples follow, in order.
func (r *target) shardFingerprint(file string) fingerprint {
	f := NewFingerprint()
	f.Add("tfrec.shard", strconv.Itoa(pixelVersion), file, r.codecs.Decoder, r.codecs.Encoder, r.hashedOptions)
	return f
}

// optionBytes encodes the options that a shard's bytes depend on canonically. The number of shards
// is not included: it is in the shard's name.
func optionBytes(options map[string]json.RawMessage) []byte {
	names := make([]string, 0, len(options))
	for name := range options {
		if name != optionShards && name != OptionAuto && name != OptionGiven {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b []byte
	for _, name := range names {
		b = append(append(append(append(b, name...), '='), options[name]...), '\n')
	}
	return b
}
