// Package maskcolors reads the classes of masks in RGB: labelmap.txt, which CVAT ("Segmentation mask
// 1.1") and Datumaro write next to such masks.
//
//	# label:color_rgb:parts:actions
//	background:0,0,0::
//	cat:128,0,0::
//
//	at, found, err := maskcolors.Find(ctx, storage.Parse("SegmentationClass"))
//	list, err := maskcolors.Read(ctx, at)
//	for class, c := range list.Classes {
//		fmt.Println(class, c.Name, c.Color) // 1 cat {128 0 0}
//	}
package maskcolors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// File is the name of the list.
const File = "labelmap.txt"

// MaxClasses bounds the classes of a list: a mask has one byte for each pixel.
const MaxClasses = 256

// maxBytes bounds the size of a list.
const maxBytes = 1 << 20

// Color is the red, green and blue of a class, 0 to 255.
type Color [3]uint8

// String formats a colour as lists do: "128,0,0".
func (c Color) String() string { return fmt.Sprintf("%d,%d,%d", c[0], c[1], c[2]) }

// Class is a line of a list.
type Class struct {
	Name  string
	Color Color
}

// List is the content of a labelmap.txt.
type List struct {
	// Classes are the classes of the masks, by their values: at least one, at most MaxClasses, with
	// different names and colors.
	Classes []Class
	// Unused counts the classes with parts and with actions of VOC.
	Unused annotation.Fields
}

// Find returns the list for a directory of masks: the one in it or else, as CVAT has it, the one
// next to it. found is false if there is none, or if access to the one next to the directory is
// denied.
func Find(ctx context.Context, masks storage.Location) (at storage.Location, found bool, err error) {
	at = masks.Join(File)
	if _, err = at.Stat(ctx); !storage.Missing(err) {
		return at, err == nil, err
	}
	at = masks.Join("..", File)
	if _, err = at.Stat(ctx); storage.Missing(err) || errors.Is(err, fs.ErrPermission) {
		return at, false, nil
	}
	return at, err == nil, err
}

// ErrKind is the error of Read for a file whose first line is not a class with a colour, such as a
// label map of another tool with the same file name.
var ErrKind = errors.New("it is not a list of colours: " + wantLine)

// Read reads a list. Errors name the file and the line.
func Read(ctx context.Context, at storage.Location) (*List, error) {
	data, err := at.ReadFile(ctx, maxBytes)
	if err != nil {
		return nil, err
	}
	l, line, err := parse(data)
	switch {
	case err == nil:
		return l, nil
	case line == 0:
		return nil, fmt.Errorf("%s: %w", at.Path(), err)
	}
	return nil, fmt.Errorf("%s:%d: %w", at.Path(), line, err)
}

// parse parses a list. An error is about a line, from 1, or about the whole list, which is 0.
func parse(data []byte) (l *List, line int64, err error) {
	if data, err = annotation.TrimMark(data); err != nil {
		return nil, 0, err
	}
	l = &List{Unused: annotation.Fields{}}
	p := parser{list: l, names: map[string]int64{}, colors: map[Color]int64{}}
	for n, text := range annotation.Lines(data) {
		if text[0] == '#' {
			continue
		}
		err := p.add(n, text)
		if err != nil && len(l.Classes) == 0 && !hasColor(text) {
			err = ErrKind
		}
		if err != nil {
			return nil, n, err
		}
	}
	if len(l.Classes) == 0 {
		return nil, 0, errors.New("it lists no class: " + wantLine)
	}
	return l, 0, nil
}

// wantLine describes valid lines in errors.
const wantLine = "want lines NAME:R,G,B:PARTS:ACTIONS, such as cat:128,0,0:: for a class cat"

// parser collects the lines of a list.
type parser struct {
	list   *List
	names  map[string]int64 // the lines of names
	colors map[Color]int64  // and of colours
}

// add adds line n.
func (p *parser) add(n int64, text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8 text")
	}
	fields := bytes.Split(text, []byte(":"))
	if len(fields) < 2 || len(fields) > 4 {
		return errors.New(wantLine)
	}
	c := Class{Name: string(bytes.TrimSpace(fields[0]))}
	switch {
	case c.Name == "":
		return errors.New("the class has no name: " + wantLine)
	case len(c.Name) > annotation.MaxName:
		return fmt.Errorf("the name of the class has %d bytes: the limit is %d", len(c.Name), annotation.MaxName)
	}
	var err error
	if c.Color, err = parseColor(string(fields[1])); err != nil {
		return err
	}
	if before, ok := p.names[c.Name]; ok {
		return fmt.Errorf("the class %s is on line %d, too", jsontext.Readable(c.Name), before)
	}
	if before, ok := p.colors[c.Color]; ok {
		return fmt.Errorf("the class %s has the colour %v of the class on line %d", jsontext.Readable(c.Name), c.Color, before)
	}
	if len(p.list.Classes) == MaxClasses {
		return fmt.Errorf("more than %d classes: a mask has one byte for each pixel", MaxClasses)
	}
	p.names[c.Name], p.colors[c.Color] = n, n
	p.list.Classes = append(p.list.Classes, c)
	for i, rest := range fields[2:] {
		if len(bytes.TrimSpace(rest)) > 0 {
			p.list.Unused.Count([...]string{"parts", "actions"}[i], 1)
		}
	}
	return nil
}

// hasColor reports whether a line is meant to have a color.
func hasColor(text []byte) bool {
	return bytes.Count(text, []byte(":")) > 1 || bytes.ContainsRune(text, ':') && bytes.ContainsRune(text, ',')
}

// parseColor parses "128,0,0".
func parseColor(text string) (c Color, err error) {
	numbers := strings.Split(text, ",")
	for i, number := range numbers {
		v, err := strconv.ParseUint(strings.TrimSpace(number), 10, 8)
		if len(numbers) != len(c) || err != nil {
			const most = 40
			return c, fmt.Errorf("the colour is %q: want three numbers from 0 to 255, such as 128,0,0", text[:min(most, len(text))])
		}
		c[i] = uint8(v)
	}
	return c, nil
}
