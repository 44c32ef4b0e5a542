package conversion

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// readSettings reads the settings of a conversion from the manifest of the set that it made, so
// that they can be used again.
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
	t := tableOf(c.kind)
	for _, key := range slices.Sorted(maps.Keys(m.Options)) {
		flag, values, err := restored(t, m.Options, key)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: options.%s: %w", path, key, err)
		}
		if values != nil {
			add(flag, values...)
		}
	}
	return c, m, nil
}

// restored returns the flag that gives a recorded option, and its values; none if it needs none. An
// unknown option, such as one of a later version, has the flag of its name.
func restored(t option.Table, recorded map[string]json.RawMessage, key string) (flag string, values []string, err error) {
	if slices.Contains(notOptions, key) {
		return "", nil, nil
	}
	if o := t.ByKey(key); o != nil {
		return o.Restored(recorded)
	}
	values, err = option.Values(recorded[key])
	return strings.ReplaceAll(key, "_", "-"), values, err
}

// notOptions are keys of recorded values that are not options: shards has the numbers.
var notOptions = []string{"source", "shards_auto", "shards_given"}

// decoderFlag is the value of --decoder for the name of a decoder.
func decoderFlag(name string) string {
	if strings.Contains(name, "turbo") {
		return "turbo"
	}
	return "go"
}

// FieldFlags returns the flags of the fields of conversions.
func FieldFlags() map[optname.Name]string {
	flags := map[optname.Name]string{}
	for _, kind := range configKinds {
		for _, o := range tableOf(kind) {
			if o.Field() != "" {
				flags[optname.Name(o.Field())] = o.Flag
			}
		}
	}
	return flags
}
