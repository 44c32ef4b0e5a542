package conversion

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/manifest"
)

// readSettings reads what the manifest of a set that convert made says of how
// it was made, so that the same is done again.
func readSettings(ctx context.Context, path string) (*configured, *manifest.Manifest, error) {
	st, err := storage.Stat(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if st.IsDir() {
		path = storage.Join(path, manifest.File)
	}
	m, err := manifest.Read(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	c := &configured{sparing: true}
	if json.Unmarshal(m.Options["source"], &c.kind) != nil || !slices.Contains(configKinds, c.kind) {
		return nil, nil, fmt.Errorf("%s: was not made by tfrec convert: it has no options to use", path)
	}
	add := func(flag string, values ...string) {
		c.settings = append(c.settings, setting{flag: flag, values: values, where: path})
	}
	add("name", m.Name)
	if m.Decoder != "" {
		add("decoder", decoderFlag(m.Decoder))
		if strings.HasPrefix(m.Decoder, "nvjpeg ") {
			add("gpu", "on")
			add("gpu-decode", "true")
		}
	}
	if m.Errors > 0 { // not an option of the set: as many errors are allowed as it had
		add("max-errors", strconv.FormatInt(m.Errors, 10))
	}
	names := make([]string, 0, len(m.Options))
	for name := range m.Options {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		flag, values, err := optionFlag(m, name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: options.%s: %w", path, name, err)
		}
		if flag != "" {
			add(flag, values...)
		}
	}
	return c, m, nil
}

// optionFlag returns the flag that gave an option of a manifest, and what it
// was set to; no flag for an option that none is needed for.
func optionFlag(m *manifest.Manifest, name string) (flag string, values []string, err error) {
	raw := m.Options[name]
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", nil, err
	}
	if v == nil {
		return "", nil, nil
	}
	flag = strings.ReplaceAll(name, "_", "-")
	switch name {
	case "source", "shards_auto", "shards_given":
		return "", nil, nil
	case "splits":
		if v == "folders" || v == "annotations" || v == "lists" || v == "table" { // the source states them
			return "", nil, nil
		}
	case "labels":
		if v == "none" {
			return "unlabelled", []string{"true"}, nil
		}
		return "", nil, nil // the file of --table is the caller's to give
	case "classes", "masks":
		return "", nil, nil // as is that of --classes, and the directory of --masks
	case "annotations":
		flag = "annotation-format" // the files are the caller's to give
	case "shards":
		if string(m.Options["shards_auto"]) == "true" {
			return "", nil, nil // counts of an existing set are kept: see Like
		}
		if given := m.Options["shards_given"]; given != nil { // a number, or text
			return flag, []string{strings.Trim(string(given), `"`)}, nil
		}
		counts, ok := v.(map[string]any)
		if !ok {
			return "", nil, fmt.Errorf("want a count for each split")
		}
		var most float64 // a split of few samples has fewer
		for _, n := range counts {
			if n, ok := n.(float64); ok {
				most = max(most, n)
			}
		}
		return flag, []string{strconv.Itoa(int(most))}, nil
	case "background", "pad_color":
		var color [3]uint8
		if err := json.Unmarshal(raw, &color); err != nil {
			return "", nil, err
		}
		if name == "pad_color" && color == [3]uint8{} {
			return "", nil, nil // the default, which is refused with other fits
		}
		return flag, []string{hex.EncodeToString(color[:])}, nil
	case "vector":
		var vectors []struct {
			Name    string
			Columns []string
		}
		if err := json.Unmarshal(raw, &vectors); err != nil {
			return "", nil, err
		}
		for _, v := range vectors {
			values = append(values, v.Name+"="+strings.Join(v.Columns, ","))
		}
		return flag, values, nil
	case "delimiter": // a byte from 0x80 on stands there as the character of that number
		if s, ok := v.(string); ok && utf8.RuneCountInString(s) == 1 {
			if r, size := utf8.DecodeRuneInString(s); size == 2 && r <= 0xff {
				return flag, []string{string([]byte{byte(r)})}, nil
			}
		}
	case "vocab":
		return "", nil, nil // the names are the manifest's
	case "na_values":
		if list, ok := v.([]any); ok && slices.EqualFunc(list, csvscan.DefaultMissing, func(v any, s string) bool { return v == s }) {
			return "", nil, nil // if given, a label called NA would be missing
		}
	case "seed": // more digits than a float64 has
		return flag, []string{string(raw)}, nil
	}
	return optionValue(flag, v)
}

// optionValue writes a value of JSON as flags take it.
func optionValue(flag string, v any) (string, []string, error) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return "", nil, nil
		}
		return flag, []string{v}, nil
	case bool:
		return flag, []string{strconv.FormatBool(v)}, nil
	case float64:
		if v == 0 {
			return "", nil, nil // not given, or the default
		}
		return flag, []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
	case []any:
		values := make([]string, len(v))
		for i, item := range v {
			values[i] = fmt.Sprint(item)
		}
		if len(values) == 0 {
			return "", nil, nil
		}
		return flag, values, nil
	case map[string]any:
		var pairs []string
		for k, item := range v {
			pairs = append(pairs, fmt.Sprintf("%s=%v", k, item))
		}
		slices.Sort(pairs)
		if len(pairs) == 0 {
			return "", nil, nil
		}
		return flag, []string{strings.Join(pairs, ",")}, nil
	}
	return "", nil, fmt.Errorf("%T has no form as a flag", v)
}

// decoderFlag is the --decoder that asks for a decoder by its name.
func decoderFlag(name string) string {
	if strings.Contains(name, "turbo") {
		return "turbo"
	}
	return "go"
}
