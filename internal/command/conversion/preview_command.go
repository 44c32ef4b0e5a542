package conversion

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"html"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/shell"
	"github.com/tfrec/tfrec/internal/store/storage"
	page "github.com/tfrec/tfrec/internal/view/preview"
	"github.com/tfrec/tfrec/manifest"
)

// CommandOf returns the command that made the set at the only path, as far as its manifest records
// it; "" if it does not. SRC, OUT and FILE are placeholders for values that are not recorded. A
// manifest that cannot be read is an error.
func CommandOf(ctx context.Context, paths []string) (string, error) {
	if len(paths) != 1 {
		return "", nil
	}
	st, err := storage.Stat(ctx, paths[0])
	if storage.Missing(err) || err == nil && !st.IsDir() { // a glob, or a file of records
		return "", nil
	}
	if err != nil {
		return "", err
	}
	made, m, err := readSettings(ctx, paths[0])
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) && !storage.Missing(err) {
		return "", err
	}
	if err != nil {
		return "", nil
	}
	begin := "tfrec convert " + made.kind + " SRC OUT"
	command := strings.Join(append([]string{begin}, flagWords(made, m)...), " ")
	if len(html.EscapeString(command)) > page.MaxCommand {
		return begin + " --from-manifest FILE", nil
	}
	return command, nil
}

// flagWords returns the flags for the options in a manifest, sorted, each with its value quoted for
// a shell. Values of one flag keep their order.
func flagWords(made *configured, m *manifest.Manifest) []string {
	t := tableOf(made.kind)
	flags := pflag.NewFlagSet(made.kind, pflag.ContinueOnError)
	cli.AddOptions(flags, t)
	settings := slices.Clone(made.settings)
	for _, o := range t {
		if o.Input == nil || o.Input(m.Options) == "" {
			continue
		}
		file := "FILE"
		if kind, _ := pflag.UnquoteUsage(flags.Lookup(o.Flag)); kind == "DIR" {
			file = kind
		}
		settings = append(settings, setting{flag: o.Flag, values: []string{file}})
	}
	if string(m.Options["vocab"]) == "true" {
		from, offset := "FILE", 0 // an order of its own
		if json.Unmarshal(m.Options["label_offset"], &offset) == nil && offset >= 0 && offset <= len(m.Labels) && slices.Equal(labels.Sort(slices.Clone(m.Labels[offset:])), m.Labels[offset:]) {
			from = vocabFromData
		}
		settings = append(settings, setting{flag: "vocab", values: []string{from}})
	}
	slices.SortStableFunc(settings, func(a, b setting) int { return cmp.Compare(a.flag, b.flag) })
	var words []string
	for _, s := range settings {
		f, o := flags.Lookup(s.flag), t.Find(s.flag)
		if f == nil || isDefault(f, o, s.values) {
			continue
		}
		values := s.values
		if joined(o) {
			values = []string{strings.Join(values, ",")}
		}
		for _, v := range values {
			switch f.NoOptDefVal {
			case "":
				words = append(words, "--"+s.flag+" "+shell.Quote(v))
			case v:
				words = append(words, "--"+s.flag)
			default: // the next word would be no value of it
				words = append(words, "--"+s.flag+"="+shell.Quote(v))
			}
		}
	}
	return words
}

// isDefault reports whether values are the default values of a flag.
func isDefault(f *pflag.Flag, o *option.Option, values []string) bool {
	if joined(o) { // the spellings of na-values have no order
		return slices.Equal(slices.Sorted(slices.Values(values)), slices.Sorted(strings.SplitSeq(f.DefValue, ",")))
	}
	return len(values) == 1 && values[0] == f.DefValue || f.DefValue == "["+strings.Join(values, ",")+"]"
}

// joined reports whether the values of an option are one text with commas.
func joined(o *option.Option) bool { return o.Many == option.Joined && o.Set != nil }
