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

	"github.com/tfrec/tfrec/internal/labels"
	page "github.com/tfrec/tfrec/internal/preview"
	"github.com/tfrec/tfrec/internal/shell"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/manifest"
)

// CommandOf returns the command that made the set that a lone path stands for,
// as far as its manifest tells; "" where that does not. SRC, OUT and FILE stand
// for what it does not tell. A manifest that cannot be read is an error.
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
	verb, _, err := NewCommand(nil).Find([]string{made.kind})
	if err != nil {
		return "", nil
	}
	begin := "tfrec convert " + made.kind + " SRC OUT"
	command := strings.Join(append([]string{begin}, flagWords(verb.Flags(), made, m)...), " ")
	if len(html.EscapeString(command)) > page.MaxCommand {
		return begin + " --from-manifest FILE", nil
	}
	return command, nil
}

// flagWords returns the flags that set what a manifest says, sorted, each with its value quoted for
// a shell. Values of one flag keep their order.
func flagWords(flags *pflag.FlagSet, made *configured, m *manifest.Manifest) []string {
	settings := slices.Clone(made.settings)
	if string(m.Options["labels"]) == `"file"` || m.Options["features"] != nil {
		settings = append(settings, setting{flag: "table", values: []string{"FILE"}})
	}
	if m.Options["annotations"] != nil {
		settings = append(settings, setting{flag: "annotations", values: []string{"FILE"}})
	}
	if m.Options["masks"] != nil {
		settings = append(settings, setting{flag: "masks", values: []string{"DIR"}})
	}
	if m.Options["classes"] != nil {
		settings = append(settings, setting{flag: "classes", values: []string{"FILE"}})
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
		f := flags.Lookup(s.flag)
		if f == nil || isDefault(f, s.values) {
			continue
		}
		values := s.values
		if slices.Contains(listed, s.flag) {
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

// isDefault reports whether values are what a flag is without being given.
func isDefault(f *pflag.Flag, values []string) bool {
	if slices.Contains(listed, f.Name) { // the spellings of na-values have no order
		return slices.Equal(slices.Sorted(slices.Values(values)), slices.Sorted(strings.SplitSeq(f.DefValue, ",")))
	}
	return len(values) == 1 && values[0] == f.DefValue || f.DefValue == "["+strings.Join(values, ",")+"]"
}
