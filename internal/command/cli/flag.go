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

	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/size"
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
	AddOption(fs, &option.Option{Flag: name, To: to, Value: kind, Default: string(value), Words: words, Help: usage})
}

// SeedVar adds --seed, whose default is 0.
func SeedVar(fs *pflag.FlagSet, seed *uint64, usage string) {
	AddOption(fs, &option.Option{Flag: "seed", To: seed, Value: "N", Default: "0", Help: usage})
}

// ShardsVar adds --shards: a number for each split, numbers by split, or auto.
func ShardsVar(fs *pflag.FlagSet, each *int, bySplit *map[string]int) {
	TextVar(fs, "shards", "auto", "N|auto|SPLIT=N,...", shares.ShardsHelp, func(s string) (err error) {
		*each, *bySplit, err = shares.ParseShards(s)
		return err
	}, "auto")
	Group(fs, option.Splits, "shards")
}

// MaxRecordVar adds --max-record, the limit of a record, which bounds the memory that a
// verb takes; see docs/security.md.
func MaxRecordVar(fs *pflag.FlagSet, most *int64) {
	TextVar(fs, "max-record", "1GiB", "SIZE", "treat larger records as damage: each file that is read may hold one or two in memory", func(s string) (err error) {
		if *most, err = size.Parse(s); err == nil && *most < 1 {
			err = errors.New("want a size above 0")
		}
		return err
	})
	Group(fs, option.Machine, "max-record")
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
	Group(fs, option.Machine, "cache")
}

// WorkersVar adds --workers, whose default is as many as there are cores.
func WorkersVar(fs *pflag.FlagSet, workers *int, usage string) {
	fs.IntVarP(workers, "workers", "j", runtime.GOMAXPROCS(0), usage)
	Group(fs, option.Machine, "workers")
}

// DecoderVar adds --decoder.
func DecoderVar(fs *pflag.FlagSet, decoder *string) {
	WordVar(fs, decoder, "decoder", "auto", "WHICH", "JPEG decoder: auto (the faster one here), turbo (libjpeg-turbo) or go (built in)", "auto", "turbo", "go")
	Group(fs, option.Machine, "decoder")
}

// CompressionVar adds --compression, the compression of the output.
func CompressionVar(fs *pflag.FlagSet, c *tfrecord.Compression, usage string) {
	TextVar(fs, "compression", "none", "KIND", usage, func(s string) (err error) {
		*c, err = shares.ParseCompression(s)
		return err
	}, shares.Compressions...)
	Group(fs, option.Storage, "compression")
}

// fileKinds are the names that flags give to values which are paths of files.
var fileKinds = []string{"FILE", "FILE.png", "SPEC|FILE", "FILE|NAME,...", "ORIGINAL"}

// CompleteFlags sets the shell completions of all flags of a command and its subcommands: a flag's
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
