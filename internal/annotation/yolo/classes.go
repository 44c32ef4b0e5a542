package yolo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

const (
	maxList    = 1 << 20 // bytes
	maxClasses = 1 << 16
)

// list is the contents of a file that lists classes.
type list struct {
	files   []string // with classes
	classes []string
	pose    pose // of the labels; the zero value without keypoints
}

// readClasses reads the list of the classes of a directory, and its description of keypoints.
func readClasses(ctx context.Context, d *annotation.Directory, otherwise []string) (*list, error) {
	found, err := d.ClassLists(ctx)
	if err != nil {
		return nil, err
	}
	all := &list{}
	if len(found) == 0 {
		all.classes = otherwise
	}
	posed := "" // the file with keypoints
	for i, l := range found {
		one, err := readList(ctx, l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Path(), err)
		}
		if i > 0 && !slices.Equal(one.classes, all.classes) {
			return nil, fmt.Errorf("%s and %s list different classes: remove one", found[0].Path(), l.Path())
		}
		all.files, all.classes = append(all.files, l.Path()), one.classes
		if one.pose.Count == 0 {
			continue
		}
		if posed != "" && !one.pose.equal(&all.pose) {
			return nil, fmt.Errorf("%s and %s have different keypoints: remove one", posed, l.Path())
		}
		all.pose, posed = one.pose, l.Path()
	}
	if len(all.classes) == 0 {
		return nil, d.Errorf("it has no list of the classes of YOLO's labels: add classes.txt with a class on each line, in order, or data.yaml with names, to that directory or the one it is in")
	}
	return all, nil
}

// readList reads a file that lists classes.
func readList(ctx context.Context, l storage.Location) (*list, error) {
	data, err := l.ReadFile(ctx, maxList)
	if err != nil {
		return nil, err
	}
	text, err := annotation.Text(data)
	if err != nil {
		return nil, err
	}
	one := &list{}
	if annotation.HasExt(l.Base(), ".yaml") || annotation.HasExt(l.Base(), ".yml") {
		one, err = readYAML(text)
	} else {
		for line := range strings.SplitSeq(strings.TrimRight(string(text), " \t\r\n"), "\n") {
			one.classes = append(one.classes, strings.TrimSpace(line))
		}
	}
	if err != nil {
		return nil, err
	}
	return one, check(one.classes)
}

// check returns an error unless classes have names that differ.
func check(names []string) error {
	if len(names) > maxClasses {
		return fmt.Errorf("it has %d classes: the limit is %d", len(names), maxClasses)
	}
	number := map[string]int{}
	for i, name := range names {
		switch before, twice := number[name]; {
		case name == "":
			return fmt.Errorf("class %d, counted from 0, has no name", i)
		case len(name) > annotation.MaxName:
			return fmt.Errorf("the name of class %d, counted from 0, is longer than %d bytes", i, annotation.MaxName)
		case !utf8.ValidString(name):
			return fmt.Errorf("the name of class %d, counted from 0, is not UTF-8", i)
		case twice:
			return fmt.Errorf("the classes %d and %d, counted from 0, are both %q", before, i, name)
		}
		number[name] = i
	}
	return nil
}

// readYAML reads a data.yaml.
func readYAML(text []byte) (*list, error) {
	var document struct {
		Names     yaml.Node `yaml:"names"`
		Shape     yaml.Node `yaml:"kpt_shape"`
		Flip      yaml.Node `yaml:"flip_idx"`
		Keypoints yaml.Node `yaml:"kpt_names"`
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("it cannot be read as YAML: %w", err)
	}
	classes, err := yamlNames(&document.Names)
	if err != nil {
		return nil, err
	}
	p, err := readPose(&document.Shape, &document.Flip, &document.Keypoints)
	return &list{classes: classes, pose: p}, err
}

// yamlNames returns the names of a data.yaml: a list, or a map whose keys are the numbers from 0.
func yamlNames(n *yaml.Node) ([]string, error) {
	switch n = follow(n); n.Kind {
	case yaml.SequenceNode:
		return scalars(n), nil
	case yaml.MappingNode:
		names := make([]string, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, name := scalar(n.Content[i]), scalar(n.Content[i+1])
			number, err := strconv.Atoi(key)
			if err != nil || number < 0 || number >= len(names) || names[number] != "" {
				return nil, fmt.Errorf("names has the key %s: want each number from 0 to %d once", jsonscan.Quoted([]byte(key)), len(names)-1)
			}
			names[number] = name
		}
		return names, nil
	}
	return nil, errors.New("it has no names: want a list or a map of classes")
}

// scalars returns the texts of the elements of a list.
func scalars(list *yaml.Node) []string {
	texts := make([]string, len(list.Content))
	for i, n := range list.Content {
		texts[i] = scalar(n)
	}
	return texts
}

// scalar returns the text of a scalar; "" of null and of anything else.
func scalar(n *yaml.Node) string {
	if n = follow(n); n.ShortTag() == "!!null" {
		return ""
	}
	return n.Value
}

// follow returns the target of an alias. An alias never refers to another alias.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
