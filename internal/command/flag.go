package command

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/tfrecord"
)

// text is a flag whose value is parsed by a function.
type text struct {
	value, kind string
	set         func(string) error
}

// textVar adds a flag that set parses. The default is shown, and not set.
func textVar(fs *pflag.FlagSet, name, value, kind, usage string, set func(string) error) {
	fs.Var(&text{value: value, kind: kind, set: set}, name, usage)
}

func (t *text) String() string { return t.value }
func (t *text) Type() string   { return t.kind }
func (t *text) Set(s string) error {
	if err := t.set(s); err != nil {
		return err
	}
	t.value = s
	return nil
}

// seedVar adds --seed.
func seedVar(fs *pflag.FlagSet, seed *uint64, usage string) {
	textVar(fs, "seed", "0", "N", usage, func(s string) (err error) {
		if *seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			err = errors.New("want a whole number from 0 on")
		}
		return err
	})
}

// shardsVar adds --shards; 0 is auto.
func shardsVar(fs *pflag.FlagSet, shards *int) {
	textVar(fs, "shards", "auto", "N|auto", "shards in each split; auto aims at 128 MiB a shard", func(s string) error {
		*shards = 0
		if s == "auto" {
			return nil
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return errors.New("want a number above 0, or auto")
		}
		*shards = n
		return nil
	})
}

// maxRecordVar adds --max-record, the limit of a record, which bounds the memory that a
// verb takes; see docs/security.md.
func maxRecordVar(fs *pflag.FlagSet, most *int64) {
	textVar(fs, "max-record", "1GiB", "SIZE", "take larger records for damage: each file that is read may hold one, or two, in memory", func(s string) (err error) {
		if *most, err = parseSize(s); err == nil && *most < 1 {
			err = errors.New("want a size above 0")
		}
		return err
	})
}

// compressionVar adds --compression of what is written.
func compressionVar(fs *pflag.FlagSet, c *tfrecord.Compression, usage string) {
	textVar(fs, "compression", "none", "KIND", usage, func(s string) (err error) {
		*c, err = tfrecord.ParseCompression(s)
		if err == nil && *c == tfrecord.Auto {
			err = errors.New("auto is for reading: want none, gzip, zlib or zstd")
		}
		return err
	})
}
