package conversion

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/regular"
	"github.com/tfrec/tfrec/manifest"
)

// configured has the settings of a conversion from a configuration file or a manifest.
type configured struct {
	kind     string   // one of configKinds
	src      []string // empty when not given
	out      string
	settings []setting
	sparing  bool // skip settings whose value is the default
}

// setting is the value of a flag, and where it was given.
type setting struct {
	flag   string
	values []string // to be set one after the other
	pairs  bool     // values are NAME=VALUE; joined with commas unless the flag is repeated
	where  string   // such as "convert.yaml:7"
}

// The names in a configuration file that are not flags.
const (
	configKind = "kind"
	configSrc  = "src"
	configOut  = "out"
)

// ofAllVerbs are flags that are about one run and in no table.
var ofAllVerbs = []string{"help", "help-all", "json", "quiet"}

// notConfigured returns the flags about one run, not about the set: they are given on the command line
// only.
func notConfigured(t option.Table) []string {
	flags := slices.Clone(ofAllVerbs)
	for _, o := range t {
		if o.Once {
			flags = append(flags, o.Flag)
		}
	}
	return flags
}

// maxConfig is the longest configuration file in bytes.
const maxConfig = 1 << 20

// readConfig reads a configuration file: a mapping from the names of flags to their values, in
// addition to kind, src and out.
func readConfig(path string) (*configured, error) {
	data, err := regular.ReadFile(path, maxConfig)
	if err != nil {
		return nil, err
	}
	var document, another yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&document); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := d.Decode(&another); err == nil {
		return nil, fmt.Errorf("%s:%d: a second document: a configuration has one", path, another.Line)
	} else if err != io.EOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: want names of flags with their values, such as resize: 224 (tfrec config init writes an example)", path)
	}
	c := new(configured)
	pairs := document.Content[0].Content
	seen := map[string]int{}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		where := fmt.Sprintf("%s:%d", path, key.Line)
		if line, ok := seen[key.Value]; ok {
			return nil, fmt.Errorf("%s: %s was already given in line %d", where, key.Value, line)
		}
		seen[key.Value] = key.Line
		var values []string
		var mapped bool
		if key.Value == "augment" && value.Kind == yaml.SequenceNode {
			var end *yaml.Node
			if i+2 < len(pairs) {
				end = pairs[i+2]
			}
			values, err = inlinePolicy(path, data, value, end)
			if err != nil {
				return nil, err
			}
		} else if values, mapped, err = configValues(key.Value, value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", where, key.Value, err)
		}
		switch key.Value { // a mapping is one text here
		case configKind:
			c.kind = strings.Join(values, ",")
			if !slices.Contains(configKinds, c.kind) {
				return nil, fmt.Errorf("%s: kind: want %s", where, plural.OneOf(configKinds))
			}
		case configSrc:
			c.src = values
			if mapped {
				c.src = []string{strings.Join(values, ",")}
			}
		case configOut:
			c.out = strings.Join(values, ",")
		default:
			c.settings = append(c.settings, setting{flag: key.Value, values: values, pairs: mapped, where: where})
		}
	}
	return c, nil
}

// configValues returns the values of a flag: of a list its items, and of a mapping pairs NAME=VALUE.
func configValues(name string, n *yaml.Node) (values []string, pairs bool, err error) {
	n = anchored(n)
	switch n.Kind {
	case yaml.SequenceNode:
		values, err = configScalars(n)
		return values, false, err
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, err := configScalar(n.Content[i])
			if err != nil {
				return nil, true, err
			}
			v := []string{""}
			if item := anchored(n.Content[i+1]); name == "vector" && item.Kind == yaml.SequenceNode {
				v, err = configScalars(item)
			} else {
				v[0], err = configScalar(item)
			}
			if err != nil {
				return nil, true, err
			}
			values = append(values, k+"="+strings.Join(v, ","))
		}
		return values, true, nil
	}
	v, err := configScalar(n)
	return []string{v}, false, err
}

// anchored returns the target of an alias.
func anchored(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func configScalar(n *yaml.Node) (string, error) {
	v := anchored(n)
	if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
		return "", fmt.Errorf("line %d: want a value", n.Line)
	}
	return v.Value, nil
}

func configScalars(list *yaml.Node) ([]string, error) {
	var values []string
	for _, item := range list.Content {
		v, err := configScalar(item)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// inlinePolicy reads a policy that is written in the configuration itself, before the node end if
// there is one.
func inlinePolicy(path string, data []byte, n, end *yaml.Node) ([]string, error) {
	text, err := yaml.Marshal(n)
	if err != nil {
		return nil, err
	}
	p, err := augment.ParsePolicyYAML(text, "the policy")
	if err == nil {
		return []string{p.String()}, nil
	}
	// Parse the policy again at its place in the file, for the line and column of the error.
	if text := alone(data, n, end); text != nil {
		if _, placed := augment.ParsePolicyYAML(text, path); placed != nil {
			return nil, placed
		}
	}
	return nil, fmt.Errorf("%s:%d: augment: %w", path, n.Line, err)
}

// alone returns the text of a node at its line and column, with blanks before it: the lines from
// its own to the one before the node end. It is nil if other nodes share these lines, and wrong
// where lines end with no newline.
func alone(data []byte, n, end *yaml.Node) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	until := len(lines)
	if end != nil {
		until = min(until, end.Line-1)
	}
	if n.Line > until || n.Column > len(lines[n.Line-1]) {
		return nil
	}
	var text []byte
	text = append(text, strings.Repeat("\n", n.Line-1)+strings.Repeat(" ", n.Column-1)...)
	text = append(text, lines[n.Line-1][n.Column-1:]...)
	return append(text, bytes.Join(lines[n.Line:until], nil)...)
}

// runConfigured runs tfrec convert without a verb: the configuration or the manifest selects one.
func runConfigured(cmd *cobra.Command, args []string) error {
	var config, from string
	for i, arg := range args {
		switch arg {
		case "-h", "--help":
			return cmd.Help()
		case "--help-all":
			return cli.ShowHelpAll(cmd)
		}
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--config":
			config = value
		case "--from-manifest":
			from = value
		}
	}
	var c *configured
	var err error
	switch {
	case config == cli.Dash:
		return cli.DashError("config")
	case from == cli.Dash:
		return cli.DashError("from-manifest")
	case config != "":
		c, err = readConfig(config)
	case from != "":
		c, _, err = readSettings(cmd.Context(), from)
	case len(args) > 0:
		return convertWithoutVerb(cmd, args)
	default:
		return wantVerb(cmd)
	}
	if err != nil {
		return err
	}
	if c.kind == "" {
		return cli.UsageError("%s: does not say what to convert: add kind: %s, or call tfrec convert with one of these", config, plural.OneOf(configKinds))
	}
	verb := cli.ChildNamed(cmd, c.kind)
	verb.SetContext(cmd.Context())
	if err := verb.ParseFlags(args); err != nil {
		return cli.FlagError(verb, err)
	}
	rest := verb.Flags().Args()
	if err := verb.ValidateArgs(rest); err != nil {
		return err
	}
	return verb.RunE(verb, rest)
}

// args checks the arguments of a conversion, unless a configuration may hold
// them.
func (f *convertFlags) args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if f.config != "" && len(args) == 0 {
			return nil
		}
		return check(cmd, args)
	}
}

// configure applies the configuration or manifest that a conversion of the
// given kind is to follow, and returns its arguments, SRC... and OUT.
func (f *convertFlags) configure(cmd *cobra.Command, kind string, args []string) ([]string, error) {
	if f.config == "" && f.from == "" {
		return args, nil
	}
	var c *configured
	var err error
	switch {
	case f.config != "" && f.from != "":
		return nil, cli.UsageError("--config and --from-manifest: give one of them")
	case f.config != "":
		c, err = readConfig(f.config)
		f.options.AlsoReads = append(f.options.AlsoReads, f.config)
	default:
		c, f.like, err = readSettings(cmd.Context(), f.from)
	}
	if err != nil {
		return nil, err
	}
	if c.kind != "" && c.kind != kind {
		return nil, cli.UsageError("%s%s is for convert %s", f.config, f.from, c.kind)
	}
	if err := c.apply(cmd.Flags(), f.table); err != nil {
		return nil, err
	}
	if f.like != nil {
		f.options.ShardsLike = map[string]int{}
		for _, split := range f.like.Splits {
			f.options.ShardsLike[split.Name] = len(split.Shards)
		}
		if err := checkFiles(cmd.Flags(), f.table, f.from, f.like); err != nil {
			return nil, err
		}
	}
	if len(args) > 0 {
		return args, nil
	}
	if len(c.src) == 0 || c.out == "" {
		return nil, cli.UsageError("%s: has no src and out, and the command line names none", f.config)
	}
	if kind == "images" && len(c.src) != 1 {
		return nil, cli.UsageError("%s: src: want one directory", f.config)
	}
	args = append(c.src, c.out)
	return args, cli.CheckDashes(cmd, args)
}

// checkFiles returns an error if the set that a manifest describes was made with files that the
// command line does not name.
func checkFiles(fs *pflag.FlagSet, t option.Table, path string, m *manifest.Manifest) error {
	labels := fs.Changed("labels") && m.Options["features"] == nil // is --table then
	for _, o := range t {
		if o.Input == nil || fs.Changed(o.Flag) || o.Flag == "table" && labels {
			continue
		}
		if clause := o.Input(m.Options); clause != "" {
			return cli.UsageError("%s: %s with --%s", path, clause, o.Flag)
		}
	}
	return nil
}

// apply sets the flags of a table that the command line has not set.
func (c *configured) apply(fs *pflag.FlagSet, t option.Table) error {
	given := map[string]bool{}
	fs.Visit(func(f *pflag.Flag) { given[f.Name] = true })
	once := notConfigured(t)
	for _, s := range c.settings {
		f := fs.Lookup(s.flag)
		switch {
		case slices.Contains(once, s.flag):
			return cli.UsageError("%s: %s belongs on the command line: it is about one run", s.where, s.flag)
		case f == nil:
			if near := cli.NearFlag(fs, s.flag, once); near != "" {
				return cli.UsageError("%s: unknown name %q; did you mean %s?", s.where, s.flag, near)
			}
			return cli.UsageError("%s: unknown name %q (names are those of the flags; tfrec config init lists them)", s.where, s.flag)
		case given[s.flag], c.sparing && len(s.values) == 1 && s.values[0] == f.DefValue:
			continue
		}
		o := t.Find(s.flag)
		if o == nil { // an engine's
			o = new(option.Option)
		}
		if err := s.apply(fs, f, o); err != nil {
			return err
		}
	}
	return nil
}

// apply sets the flag of an option.
func (s *setting) apply(fs *pflag.FlagSet, f *pflag.Flag, o *option.Option) error {
	values := s.values
	list, ok := f.Value.(pflag.SliceValue)
	if s.pairs && o.Many != option.Repeated || o.Many == option.Joined && !ok {
		values = []string{strings.Join(values, ",")}
	}
	if ok { // unchanged, with any characters
		if err := list.Replace(values); err != nil {
			return cli.UsageError("%s: %s: %w", s.where, s.flag, err)
		}
		f.Changed = true
		return nil
	}
	if len(values) > 1 && o.Many != option.Repeated {
		return cli.UsageError("%s: %s takes one value", s.where, s.flag)
	}
	for _, v := range values {
		if o.Bare != "" && v == "true" {
			v = o.Bare
		} else if o.Bare != "" && v == "false" {
			continue
		}
		if err := fs.Set(s.flag, v); err != nil {
			return cli.UsageError("%s: %s: %q: %w", s.where, s.flag, v, cli.FlagCause(err))
		}
	}
	return nil
}
