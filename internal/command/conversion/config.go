package conversion

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/plural"
)

func NewConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		GroupID: cli.GroupOther,
		Short:   "Print an example configuration file, or its JSON schema",
		Long: `tfrec convert --config FILE reads flags from a YAML file: names are those of the
flags; kind (images or csv), src and out name what to convert. Lists stand for
flags that are repeated or contain commas, mappings for NAME=VALUE,... Paths are
relative to the working directory, as on the command line.`,
	}
	cmd.AddCommand(newConfigInitCommand(), newConfigSchemaCommand())
	return cmd
}

func newConfigInitCommand() *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Print a configuration file with every name commented out",
		Example: `  tfrec config init > convert.yaml
  tfrec config init --kind csv > tables.yaml`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(configKinds, kind) {
				return cli.UsageError("--kind %q: want %s", kind, plural.OneOf(configKinds))
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), configExample(kind))
			return err
		},
	}
	cli.WordVar(cmd.Flags(), &kind, "kind", "images", "KIND", "what is converted: "+plural.OneOf(configKinds), configKinds...)
	return cmd
}

func newConfigSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON schema of configuration files, for editors",
		Example: `  tfrec config schema > convert.schema.json`,
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := ConfigSchema()
			if err == nil {
				_, err = cmd.OutOrStdout().Write(data)
			}
			return err
		},
	}
}

// The kinds of input, which are the verbs below convert.
const (
	kindImages = "images"
	kindCSV    = "csv"
	kindTable  = "table"
)

// configKinds are the kinds of input that a configuration is for.
var configKinds = []string{kindImages, kindCSV, kindTable}

// tableOf returns the options of the verb that a kind of configuration is for.
func tableOf(kind string) option.Table {
	if kind == kindImages {
		return newImageFlags(nil).table
	}
	return newTableFlags(nil, kind).table
}

// flagsOf returns the flags that a configuration may hold, sorted.
func flagsOf(kind string) []*pflag.Flag {
	t := tableOf(kind)
	fs := pflag.NewFlagSet(kind, pflag.ContinueOnError)
	cli.AddOptions(fs, t)
	var flags []*pflag.Flag
	fs.VisitAll(func(f *pflag.Flag) {
		if !t.Find(f.Name).Once {
			flags = append(flags, f)
		}
	})
	return flags
}

// configExample writes every flag in a comment, with its default.
func configExample(kind string) string {
	var b strings.Builder
	src := map[string]string{"images": "photos", "csv": "tables.csv", "table": "events.jsonl"}[kind]
	fmt.Fprintf(&b, `# What to convert: tfrec convert --config THIS FILE
# For editors: tfrec config schema > convert.schema.json
# yaml-language-server: $schema=convert.schema.json
kind: %s
src: %s
out: out
`, kind, src)
	for _, f := range flagsOf(kind) {
		_, usage := pflag.UnquoteUsage(f)
		value := f.DefValue
		switch {
		case f.Name == "workers":
			value = "8"
		case value == "" || value == "[]" || strings.ContainsAny(value, ",#=") || value == "inferred":
			value = fmt.Sprintf("%q", strings.Trim(value, "[]"))
		}
		fmt.Fprintf(&b, "\n# %s\n# %s: %s\n", wrapComment(usage), f.Name, value)
	}
	return b.String()
}

// wrapComment breaks a long comment into lines.
func wrapComment(text string) string {
	const width = 100
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString("\n# ")
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// ConfigSchema describes configuration files of all kinds as JSON Schema,
// draft 2020-12.
func ConfigSchema() ([]byte, error) {
	text := map[string]any{"type": "string"}
	properties := map[string]any{
		configKind: map[string]any{"enum": configKinds, "description": "what is converted"},
		configSrc:  map[string]any{"type": []string{"string", "array"}, "items": text, "description": "the directory of images, or the files of the table"},
		configOut:  map[string]any{"type": "string", "description": "the directory to write to"},
	}
	usages := map[string]map[string]string{} // of each flag, by kind
	for _, kind := range configKinds {
		for _, f := range flagsOf(kind) {
			_, usage := pflag.UnquoteUsage(f)
			properties[f.Name] = schemaOf(f)
			if usages[f.Name] == nil {
				usages[f.Name] = map[string]string{}
			}
			usages[f.Name][kind] = usage
		}
	}
	for name, usage := range usages {
		properties[name].(map[string]any)["description"] = describeByKind(usage)
	}
	data, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "tfrec convert --config", "type": "object",
		"properties": properties, "additionalProperties": false,
	}, "", "  ")
	return append(data, '\n'), err
}

// describeByKind describes a flag by its usages for each kind of input, which may be the same for
// some of them.
func describeByKind(usage map[string]string) string {
	var texts []string
	kinds := map[string][]string{} // by text
	for _, kind := range configKinds {
		if text := usage[kind]; text != "" {
			if kinds[text] == nil {
				texts = append(texts, text)
			}
			kinds[text] = append(kinds[text], kind)
		}
	}
	if len(kinds[texts[0]]) == len(configKinds) {
		return texts[0]
	}
	for i, text := range texts {
		texts[i] = fmt.Sprintf("(%s) %s", strings.Join(kinds[text], ", "), text)
	}
	return strings.Join(texts, "; ")
}

// schemaOf is the JSON schema of a flag's value.
func schemaOf(f *pflag.Flag) map[string]any {
	switch {
	case f.Value.Type() == "bool":
		return map[string]any{"type": "boolean"}
	case f.NoOptDefVal != "":
		return map[string]any{"type": []string{"boolean", "string"}}
	case f.Value.Type() == "int", f.Value.Type() == "int64":
		return map[string]any{"type": "integer"}
	case f.Value.Type() == "float64":
		return map[string]any{"type": "number"}
	case f.Value.Type() == "string":
		return map[string]any{"type": []string{"string", "number"}}
	}
	if _, list := f.Value.(pflag.SliceValue); list {
		return map[string]any{"type": []string{"array", "string"}, "items": map[string]any{"type": []string{"string", "number"}}}
	}
	return map[string]any{"type": []string{"string", "number", "array", "object"}}
}
