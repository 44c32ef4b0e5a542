package main

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// job is something that people do with tfrec: one run of the command.
type job struct {
	name string
	args []string // "OUT" is replaced by a new directory, "IN/x" by the input x
	dir  string   // of the inputs
}

// How much there is in the inputs.
const (
	photographs = 2000 // in IN/photos: those given, repeated
	pngs        = 100  // in IN/png: photographs as PNG
	tableRows   = 600_000
)

var jobs = []job{
	{name: "images-jpeg", args: []string{"convert", "images", "IN/photos", "OUT", "--resize", "224"}},
	{name: "images-augment", args: []string{"convert", "images", "IN/photos", "OUT", "--resize", "224", "--augment", "random_resized_crop:224|hflip:0.5|color_jitter:0.4,0.4,0.4,0.1"}},
	{name: "images-raw", args: []string{"convert", "images", "IN/photos", "OUT", "--resize", "224", "--encode", "raw"}},
	{name: "images-keep", args: []string{"convert", "images", "IN/photos", "OUT"}},
	{name: "images-png", args: []string{"convert", "images", "IN/png", "OUT", "--resize", "224"}},
	{name: "images-up-to-date", args: []string{"convert", "images", "IN/photos", "IN/kept", "--name", "photos"}},
	{name: "table", args: []string{"convert", "csv", "IN/table.csv", "OUT"}},
	{name: "reshard-small", args: []string{"reshard", "IN/small", "OUT"}},
	{name: "shuffle-small", args: []string{"reshard", "IN/small", "OUT", "--shuffle"}},
	{name: "sort-small", args: []string{"reshard", "IN/small", "OUT", "--sort-by", "value"}},
	{name: "reshard-large", args: []string{"reshard", "IN/large", "OUT", "--shards", "3"}},
	{name: "shuffle-large", args: []string{"reshard", "IN/large", "OUT", "--shuffle"}},
	{name: "dedupe", args: []string{"dedupe", "IN/kept", "OUT"}},
	{name: "verify", args: []string{"verify", "IN/small", "IN/large", "IN/gzip"}},
	{name: "stats", args: []string{"stats", "IN/small"}},
	{name: "read-gzip", args: []string{"bench", "IN/gzip", "--seconds", "0"}},
	{name: "read-small", args: []string{"bench", "IN/small", "--seconds", "0", "--parse", "--shuffle", "10000"}},
	{name: "read-images", args: []string{"bench", "IN/kept", "--seconds", "0", "--decode", "--resize", "224x224", "--batch", "32"}},
	{name: "version", args: []string{"version"}},
}

// makeJobs returns the jobs whose names match, and makes what they read.
func makeJobs(tfrec, dir, photos string, match *regexp.Regexp) ([]job, error) {
	m := &maker{tfrec: tfrec, dir: dir, from: photos, made: map[string]bool{}}
	var chosen []job
	for _, j := range jobs {
		if !match.MatchString(j.name) {
			continue
		}
		for _, arg := range j.args {
			if name, ok := strings.CutPrefix(arg, "IN/"); ok {
				if err := m.make(name); err != nil {
					return nil, fmt.Errorf("make the input %s: %w", name, err)
				}
			}
		}
		j.dir = dir
		chosen = append(chosen, j)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no job's name matches %q", match)
	}
	return chosen, nil
}

// maker makes inputs, each once.
type maker struct {
	tfrec, dir, from string
	made             map[string]bool
}

// make makes an input. Sets are made by the old build, and read by both.
func (m *maker) make(name string) error {
	if m.made[name] {
		return nil
	}
	m.made[name] = true
	switch name {
	case "photos":
		return m.photos()
	case "png":
		return m.png()
	case "table.csv":
		return m.table()
	case "kept":
		return m.set(name, "images", "photos", "--name", "photos")
	case "large":
		return m.set(name, "images", "photos", "--resize", "224", "--encode", "raw", "--shards", "4")
	case "small":
		return m.set(name, "csv", "table.csv", "--shards", "4")
	case "gzip":
		return m.set(name, "csv", "table.csv", "--shards", "4", "--compression", "gzip")
	}
	return errors.New("no such input")
}

// set converts an input of the given kind with the old build.
func (m *maker) set(name, kind, input string, options ...string) error {
	if err := m.make(input); err != nil {
		return err
	}
	_, err := timed(m.tfrec, append([]string{"convert", kind, filepath.Join(m.dir, input), filepath.Join(m.dir, name)}, options...))
	return err
}

// photos repeats the photographs given.
func (m *maker) photos() error {
	files, err := jpegs(m.from)
	if err != nil {
		return err
	}
	for i := range photographs {
		data, err := os.ReadFile(files[i%len(files)])
		if err == nil {
			err = m.put(fmt.Sprintf("photos/c%d/%d.jpg", i%7, i), data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// png makes PNGs of the photographs given.
func (m *maker) png() error {
	files, err := jpegs(m.from)
	if err != nil {
		return err
	}
	for i := range pngs {
		data, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			return err
		}
		im, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("%s: %w", files[i%len(files)], err)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, im); err != nil {
			return err
		}
		if err := m.put(fmt.Sprintf("png/c%d/%d.png", i%7, i), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// table makes a CSV file of numbers and words, which become records of some 200 bytes.
func (m *maker) table() error {
	r := rand.New(rand.NewPCG(1, 2))
	b := []byte("id,value,score,name,note\n")
	for i := range tableRows {
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, ',')
		b = strconv.AppendUint(b, r.Uint64N(1<<40), 10)
		b = fmt.Appendf(b, ",%.4f,word %d,%x\n", r.Float64(), r.IntN(5000), r.Uint64())
	}
	return m.put("table.csv", b)
}

func (m *maker) put(name string, data []byte) error {
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// jpegs returns the JPEG files in a directory and below it, at least one.
func jpegs(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if ext := strings.ToLower(filepath.Ext(path)); err == nil && (ext == ".jpg" || ext == ".jpeg") {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no JPEG files in %s", dir)
	}
	return files, err
}

// time runs the job once with a build.
func (j job) time(tfrec string) (cost, error) {
	out := filepath.Join(j.dir, "out")
	if err := os.RemoveAll(out); err != nil {
		return cost{}, err
	}
	args := make([]string, len(j.args))
	for i, arg := range j.args {
		if name, ok := strings.CutPrefix(arg, "IN/"); ok {
			arg = filepath.Join(j.dir, name)
		} else if arg == "OUT" {
			arg = out
		}
		args[i] = arg
	}
	return timed(tfrec, args)
}

// timed runs a build, and returns what it took.
func timed(tfrec string, args []string) (cost, error) {
	c := exec.Command(tfrec, append(args, "--quiet")...)
	began := time.Now()
	output, err := c.CombinedOutput()
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", c, err, bytes.TrimSpace(output))
	}
	state := c.ProcessState
	return cost{cpu: (state.UserTime() + state.SystemTime()).Seconds(), elapsed: time.Since(began).Seconds()}, nil
}
