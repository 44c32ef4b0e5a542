package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/shares"
	"github.com/tfrec/tfrec/tfrecord"
)

// text is a flag whose value is parsed by a function.
type text struct {
	value, kind string
	words       []string // offered to the shell
	set         func(string) error
}

// TextVar adds a flag that set parses. The default is shown, and not set. Shells offer
// the words.
func TextVar(fs *pflag.FlagSet, name, value, kind, usage string, set func(string) error, words ...string) {
	fs.Var(&text{value: value, kind: kind, words: words, set: set}, name, usage)
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

// NotVar adds a flag that is true by default and sets the opposite.
func NotVar(fs *pflag.FlagSet, to *bool, name, usage string) {
	fs.VarPF((*opposite)(to), name, "", usage).NoOptDefVal = "true"
}

// opposite is a bool as the value of a flag that is true where it is false.
type opposite bool

func (o *opposite) String() string { return strconv.FormatBool(!bool(*o)) }
func (o *opposite) Type() string   { return "bool" }
func (o *opposite) Set(s string) error {
	v, err := strconv.ParseBool(s)
	*o = opposite(!v)
	return err
}

// WordVar adds a flag whose value is one of the words, and sets the default.
func WordVar[T ~string](fs *pflag.FlagSet, to *T, name string, value T, kind, usage string, words ...string) {
	*to = value
	TextVar(fs, name, string(value), kind, usage, func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("want %s", OneOf(words))
		}
		*to = T(s)
		return nil
	}, words...)
}

// OneOf lists words: "a", "a or b", "a, b or c".
func OneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// SeedVar adds --seed, whose default is 0.
func SeedVar(fs *pflag.FlagSet, seed *uint64, usage string) {
	TextVar(fs, "seed", "0", "N", usage, func(s string) (err error) {
		if *seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			err = errors.New("want a whole number, 0 or more")
		}
		return err
	})
}

// ShardsVar adds --shards: a number for each split, numbers by split, or auto.
func ShardsVar(fs *pflag.FlagSet, each *int, bySplit *map[string]int) {
	const usage = "number of shards in each split, or by split; auto, also for splits not named, makes one per 128 MiB, and at least one per 64 records up to 16, so that small sets can be read in parallel"
	TextVar(fs, "shards", "auto", "N|auto|SPLIT=N,...", usage, func(s string) (err error) {
		*each, *bySplit, err = shares.ParseShards(s)
		return err
	}, "auto")
}

// MaxRecordVar adds --max-record, the limit of a record, which bounds the memory that a
// verb takes; see docs/security.md.
func MaxRecordVar(fs *pflag.FlagSet, most *int64) {
	TextVar(fs, "max-record", "1GiB", "SIZE", "treat larger records as damage: each file that is read may hold one or two in memory", func(s string) (err error) {
		if *most, err = ParseSize(s); err == nil && *most < 1 {
			err = errors.New("want a size above 0")
		}
		return err
	})
}

// CacheVar adds --cache.
func CacheVar(fs *pflag.FlagSet, cache *string, usage string) {
	TextVar(fs, "cache", "", "DIR|memory", usage, func(s string) error {
		if s == "" {
			return errors.New("want a directory, or the word memory")
		}
		*cache = s
		return nil
	}, "memory")
}

// WorkersVar adds --workers, whose default is as many as there are cores.
func WorkersVar(fs *pflag.FlagSet, workers *int, usage string) {
	fs.IntVarP(workers, "workers", "j", runtime.GOMAXPROCS(0), usage)
}

// DecoderVar adds --decoder.
func DecoderVar(fs *pflag.FlagSet, decoder *string) {
	WordVar(fs, decoder, "decoder", "auto", "WHICH", "JPEG decoder: auto (the faster one here), turbo (libjpeg-turbo) or go (built in)", "auto", "turbo", "go")
}

// FloatRangeVar adds --float-range.
func FloatRangeVar(fs *pflag.FlagSet, ends **[2]float64) {
	TextVar(fs, "float-range", "", "MIN,MAX", "in images of floats (TIFF), MIN is black and MAX white, and what is outside is cut (default: such images are not usable)", func(s string) (err error) {
		*ends, err = augment.ParseFloatRange(s)
		return err
	})
}

// Compressions are how shards that are written may be compressed.
var Compressions = []string{"none", "gzip", "zlib", "zstd"}

// CompressionVar adds --compression of what is written.
func CompressionVar(fs *pflag.FlagSet, c *tfrecord.Compression, usage string) {
	TextVar(fs, "compression", "none", "KIND", usage, func(s string) (err error) {
		*c, err = tfrecord.ParseCompression(s)
		if err == nil && *c == tfrecord.Auto {
			err = errors.New("auto is only for reading: want none, gzip, zlib or zstd")
		}
		return err
	}, Compressions...)
}

// fileKinds are the names that flags give to values which are paths of files.
var fileKinds = []string{"FILE", "FILE.png", "SPEC|FILE", "FILE|NAME,...", "ORIGINAL"}

// CompleteFlags sets what the shell offers for all flags of a command and its subcommands: a flag's
// words, paths, or nothing, for numbers and names.
func CompleteFlags(cmd *cobra.Command) {
	offer := func(f *pflag.Flag) {
		words, how := []string(nil), cobra.ShellCompDirectiveNoFileComp
		if t, ok := f.Value.(*text); ok {
			words = t.words
		}
		switch kind, _ := pflag.UnquoteUsage(f); {
		case f.Value.Type() == "bool":
			return
		case slices.Contains(fileKinds, kind), strings.HasPrefix(kind, "DIR|"):
			how = cobra.ShellCompDirectiveDefault // files where no word begins so
		case kind == "DIR":
			how = cobra.ShellCompDirectiveFilterDirs
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, how)); err != nil {
			panic(fmt.Sprintf("completion of --%s: %v", f.Name, err)) // a mistake in this program
		}
	}
	if !cmd.HasParent() {
		cmd.PersistentFlags().VisitAll(offer)
	}
	cmd.Flags().VisitAll(offer)
	for _, below := range cmd.Commands() {
		CompleteFlags(below)
	}
}

// CutLast cuts around the last sep: names may hold it.
func CutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
