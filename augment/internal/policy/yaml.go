package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/augment/internal/operation"
	"github.com/tfrec/tfrec/internal/store/regular"
)

// LoadPolicy reads a policy from a YAML file if the argument ends in .yaml or .yml, and otherwise
// parses it with [ParsePolicy].
func LoadPolicy(specOrFile string) (*Policy, error) {
	switch strings.ToLower(filepath.Ext(specOrFile)) {
	case ".yaml", ".yml":
	default:
		return ParsePolicy(specOrFile)
	}
	data, err := regular.ReadFile(specOrFile, maxSpec)
	if err != nil {
		return nil, fmt.Errorf("augment: %w", err)
	}
	return ParsePolicyYAML(data, specOrFile)
}

// ParsePolicyYAML reads a policy from YAML: a list of operations. Each is a text in the short form,
// or a mapping of the operation's name to its value, to a list of values or to a mapping of
// parameters. A group has its operations as a list, alone or under ops, next to the group's
// parameters:
//
//	# train.yaml
//	- random_resized_crop: {size: 224, scale: [0.3, 1]}
//	- hflip
//	- color_jitter: [0.4, 0.4, 0.4, 0.1]
//	- one_of:
//	    p: 0.5
//	    ops:
//	      - posterize: 4
//	      - solarize: 128
//
// The name is the file's, for errors of type [*SpecError].
func ParsePolicyYAML(data []byte, name string) (*Policy, error) {
	p, err := parseYAML(data)
	var wrong *SpecError
	if errors.As(err, &wrong) {
		wrong.File = name
	} else if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return p, err
}

func parseYAML(data []byte) (*Policy, error) {
	if len(data) > maxSpec {
		return nil, fmt.Errorf("longer than %d bytes", maxSpec)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, word{line: 1, column: 1}.wrong("want a list of operations")
	}
	var r yamlReader
	calls, err := r.calls(document.Content[0], 0)
	if err != nil {
		return nil, err
	}
	return compile(calls)
}

// yamlReader turns nodes into calls.
type yamlReader struct{ count int }

// wordOf is the node's text and place.
func wordOf(n *yaml.Node) word { return word{n.Value, n.Line, n.Column} }

// calls reads a list of operations.
func (r *yamlReader) calls(n *yaml.Node, depth int) ([]call, error) {
	if depth > maxDepth {
		return nil, wordOf(n).wrong("groups are nested more than %d deep", maxDepth)
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, wordOf(n).wrong("want a list of operations, each after a dash")
	}
	var calls []call
	for _, item := range n.Content {
		var some []call
		var err error
		switch {
		case item.Kind == yaml.ScalarNode && item.Tag != "!!null":
			some, err = r.text(item)
		case item.Kind == yaml.MappingNode && len(item.Content) == 2:
			some = make([]call, 1)
			some[0], err = r.call(item.Content[0], item.Content[1], depth)
		case item.Kind == yaml.MappingNode && len(item.Content) > 2:
			err = wordOf(item.Content[2]).wrong("want one operation after each dash; its parameters are indented further or in {}")
		default:
			err = wordOf(item).wrong("want an operation: its name, or its name and parameters as NAME: {scale: 0.3-1}")
		}
		if err != nil {
			return nil, err
		}
		calls = append(calls, some...)
		if r.count += len(some); r.count > operation.MaxOperations {
			return nil, wordOf(item).wrong("more than %d operations", operation.MaxOperations)
		}
	}
	return calls, nil
}

// text reads operations in the short form.
func (r *yamlReader) text(n *yaml.Node) ([]call, error) {
	column := n.Column
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		column++
	}
	return readText(n.Value, n.Line, column)
}

// call reads the parameters of an operation.
func (r *yamlReader) call(key, n *yaml.Node, depth int) (c call, err error) {
	if key.Kind != yaml.ScalarNode {
		return c, wordOf(key).wrong("want the name of an operation")
	}
	c.name = wordOf(key)
	def := operation.Define(c.name.text)
	c.group = def != nil && def.Group
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null": // NAME: with nothing after
		c.group = false
	case n.Kind == yaml.ScalarNode:
		c.arguments = []argument{{value: wordOf(n)}}
		c.group = false
	case n.Kind == yaml.SequenceNode && c.group:
		c.operations, err = r.calls(n, depth+1)
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			a, err := argumentOf(item)
			if err != nil {
				return c, err
			}
			c.arguments = append(c.arguments, a)
		}
	case n.Kind == yaml.MappingNode:
		err = r.parameters(&c, n, depth)
	default:
		err = wordOf(n).wrong("want a value, a list of values or a mapping of parameters; anchors and aliases are not supported")
	}
	return c, err
}

// parameters reads a mapping of names to values.
func (r *yamlReader) parameters(c *call, n *yaml.Node, depth int) (err error) {
	isGroup := c.group
	c.group = false // until its operations come
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, v := n.Content[i], n.Content[i+1]
		if name.Kind != yaml.ScalarNode {
			return wordOf(name).wrong("want the name of a parameter")
		}
		if isGroup && name.Value == "ops" {
			if c.group {
				return wordOf(name).wrong("given twice")
			}
			c.group = true
			if c.operations, err = r.calls(v, depth+1); err != nil {
				return err
			}
			continue
		}
		a, err := argumentOf(v)
		if err != nil {
			return err
		}
		a.name = wordOf(name)
		c.arguments = append(c.arguments, a)
	}
	return nil
}

// argumentOf reads a value: text, or a list of texts.
func argumentOf(n *yaml.Node) (a argument, err error) {
	a.value = wordOf(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return a, nil
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0 && len(n.Content) <= maxList:
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
				return a, wordOf(item).wrong("want a number")
			}
			a.list = append(a.list, wordOf(item))
		}
		a.value = a.list[0]
		return a, nil
	}
	return a, a.value.wrong("want a value")
}

// maxList is the maximum number of elements in the list of one value.
const maxList = 16
