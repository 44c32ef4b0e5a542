package reshape

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/recordcount"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// ReshardPlan is a Reshard divided into steps for many machines that share the same files: parts of
// the inputs, each of which [ReshardPlan.Read] distributes to the shards that its records belong
// to, and shards, each of which [ReshardPlan.Write] makes from everything distributed to it. The
// system that moves records from Read to Write, such as Apache Beam's GroupByKey, need not keep any
// order: each record carries its position. The resulting set has the same bytes as with Reshard.
//
// [PlanReshard] makes a plan and stores it in the output directory, where [OpenReshardPlan] finds
// it. Parts and shards may be processed concurrently and more than once, even at the same time. A
// plan is safe for concurrent use.
type ReshardPlan struct {
	out     string
	id      string
	memory  int64
	kept    []bool // by shard: finished by an earlier run of the same plan
	planned plannedReshard

	files  []*input
	splits []string
	layout []layout
	base   []int64 // position of the first record of each split, and the total at the end
	before []int   // number of shards in the splits before each, and the total at the end
}

const (
	reshardFormat  = "tfrec.reshard"
	reshardVersion = 1
)

// storedReshard is a plan as stored in the output directory.
type storedReshard struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// ID is a hash of Plan. The other fields may differ between two runs of a plan.
	ID string `json:"id"`
	// Directory is the directory that relative paths are relative to.
	Directory setdir.InputKey `json:"folder"`
	Memory    int64           `json:"memory"`
	// Kept are the numbers of the shards finished by an earlier run.
	Kept []int           `json:"kept"`
	Plan json.RawMessage `json:"plan"`
}

// plannedReshard is everything that parts and shards depend on.
type plannedReshard struct {
	Tool        string               `json:"tool"`
	Request     request              `json:"request"`
	Name        string               `json:"name"`
	Compression tfrecord.Compression `json:"compression"`
	Shuffle     bool                 `json:"shuffle"`
	Seed        uint64               `json:"seed"`
	MaxRecord   int64                `json:"max_record"`
	// Known is set if the features are known from manifests; Label is the key of the feature by
	// which labels are counted, and Labels are the label names.
	Known  bool           `json:"known"`
	Label  string         `json:"label"`
	Labels []string       `json:"labels"`
	Splits []plannedSplit `json:"splits"`
	Remaps []plannedRemap `json:"remaps"`
	Files  []plannedFile  `json:"files"`
	Parts  []plannedPart  `json:"parts"`
}

// plannedSplit is a split of the new set; see layout.
type plannedSplit struct {
	Name    string `json:"name"`
	Records int64  `json:"records"`
	Shards  int64  `json:"shards"`
	Each    int64  `json:"each"`
}

// plannedRemap is the serialized form of a remap.
type plannedRemap struct {
	Keys []string `json:"keys"`
	IDs  []int64  `json:"ids"`
	Same bool     `json:"same"`
}

// plannedFile is an input. Its size and modification time are in the request.
type plannedFile struct {
	Path        setdir.InputKey      `json:"path"`
	Split       int                  `json:"split"`
	Compression tfrecord.Compression `json:"compression"`
	Records     int64                `json:"records"`
	// Counted is set if the number of records is from the manifest.
	Counted bool `json:"counted,omitempty"`
	// Remap is an index into plannedReshard.Remaps, from 1; 0 is none.
	Remap int `json:"remap,omitempty"`
}

// plannedPart is a range of records of an input; a compressed input is always one part.
type plannedPart struct {
	File int `json:"file"`
	// First is the number of its first record in the file, Number the one in the split.
	First   int64 `json:"first"`
	Number  int64 `json:"number"`
	Records int64 `json:"records"`
	// From and To are the byte range of its frames in the file.
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// OpenReshardPlan reads the plan with the given ID from an output directory. It returns an error if
// the plan is missing or another one, because its run has ended.
func OpenReshardPlan(ctx context.Context, out, id string) (*ReshardPlan, error) {
	var stored storedReshard
	usable, err := setdir.View(ctx, out).State().ReadFile(setdir.ReshardPlanFile, &stored)
	if err != nil {
		return nil, err
	}
	if !usable {
		return nil, fmt.Errorf("%s: no reshard plan in this directory: check that all machines see it, and that the run that planned has not ended", out)
	}
	if stored.Format != reshardFormat || stored.Version != reshardVersion || stored.ID != id {
		return nil, errOtherPlan(out)
	}
	if hashText(stored.Plan) != id { // if it matches, the contents need no further checks
		return nil, errSpoiltPlan(out)
	}
	p := &ReshardPlan{out: out, id: id, memory: stored.Memory}
	if err := json.Unmarshal(stored.Plan, &p.planned); err != nil {
		return nil, fmt.Errorf("%s: %w", storage.Join(out, setdir.ReshardPlanFile), err)
	}
	if p.planned.Tool != build.Tool {
		return nil, fmt.Errorf("%s: the plan is of %s, this is %s: run the same on all machines", out, p.planned.Tool, build.Tool)
	}
	if err := p.complete(string(stored.Directory)); err != nil {
		return nil, err
	}
	for _, shard := range stored.Kept {
		if shard < 0 || shard >= len(p.kept) {
			return nil, errSpoiltPlan(out)
		}
		p.kept[shard] = true
	}
	return p, nil
}

func errSpoiltPlan(out string) error {
	return fmt.Errorf("%s: it is not what the planning run wrote: start again", storage.Join(out, setdir.ReshardPlanFile))
}

func errOtherPlan(out string) error {
	return fmt.Errorf("%s: the plan in this directory has changed or is gone: the run that this was part of has ended, or another one has begun", out)
}

// complete sets the fields derived from the plan. Relative paths are relative to directory.
func (p *ReshardPlan) complete(directory string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	remaps := []*remap{nil}
	for _, m := range p.planned.Remaps {
		remaps = append(remaps, &remap{keys: m.Keys, ids: m.IDs, same: m.Same})
	}
	for i, f := range p.planned.Files {
		path := string(f.Path)
		if !storage.Remote(path) && !filepath.IsAbs(path) && here != directory {
			path = filepath.Join(directory, path)
		}
		file := &input{
			Counted: recordcount.Counted{
				Source: shard.Source{Path: path}, Size: p.planned.Request.Inputs[i].Size,
				Compression: f.Compression, Records: f.Records,
			},
			split: f.Split, remap: remaps[f.Remap],
		}
		if f.Counted {
			file.Info = &manifest.Shard{Records: f.Records}
		}
		p.files = append(p.files, file)
	}
	p.base, p.before = []int64{0}, []int{0}
	for i, s := range p.planned.Splits {
		p.splits = append(p.splits, s.Name)
		p.layout = append(p.layout, layout{records: s.Records, shards: s.Shards, each: s.Each})
		p.base = append(p.base, p.base[i]+s.Records)
		p.before = append(p.before, p.before[i]+int(s.Shards))
	}
	p.kept = make([]bool, p.Shards())
	return nil
}

// ID identifies the plan: it is a hash of the inputs as they were found, the options, and how both
// are divided. Two runs with the same ID make the same set.
func (p *ReshardPlan) ID() string { return p.id }

// Out returns the directory that the shards are written to: the one passed to PlanReshard or, if a
// set is replaced, a directory inside it.
func (p *ReshardPlan) Out() string { return p.out }

// Parts returns the number of parts of the inputs; they are numbered from 0.
func (p *ReshardPlan) Parts() int { return len(p.planned.Parts) }

// Shards returns the number of shards of the set, over all splits; they are numbered from 0.
func (p *ReshardPlan) Shards() int { return p.before[len(p.layout)] }

// Records returns the number of records of the inputs, and so of the set.
func (p *ReshardPlan) Records() int64 { return p.base[len(p.layout)] }

// Kept returns the number of shards finished by an earlier run of the same plan. Read passes no
// records to them.
func (p *ReshardPlan) Kept() int {
	n := 0
	for _, kept := range p.kept {
		if kept {
			n++
		}
	}
	return n
}

// ShardFile returns the file name of a shard.
func (p *ReshardPlan) ShardFile(number int) string {
	split, index := p.find(number)
	return shard.Name{Dataset: p.planned.Name, Split: p.splits[split], Index: int(index), Count: int(p.layout[split].shards)}.String()
}

// find returns the split of a shard, and its number in the split.
func (p *ReshardPlan) find(shard int) (split int, index int64) {
	split = sort.SearchInts(p.before, shard+1) - 1
	return split, int64(shard - p.before[split])
}

// run returns a run for one part or shard of the plan. The infos of its targets are not shared.
func (p *ReshardPlan) run(dir *setdir.Dir) *reshaping {
	o := &Options{
		Compression: p.planned.Compression, Seed: p.planned.Seed, Memory: p.memory, MaxRecord: p.planned.MaxRecord, Workers: 1,
	}
	r := &reshaping{o: o, verb: &verb{name: "reshard"}, dir: dir, name: p.planned.Name, label: p.planned.Label}
	r.in = &inputs{o: o, files: p.files, splits: p.splits, known: p.planned.Known, described: manifest.Manifest{Labels: p.planned.Labels}}
	for i, split := range p.splits {
		r.targets = append(r.targets, target{dir: dir, split: split, layout: p.layout[i], infos: make([]manifest.Shard, p.layout[i].shards)})
	}
	return r
}

// defaultPart is the approximate size of a part in bytes.
const defaultPart int64 = 256 << 20

// planned divides a surveyed run into parts.
func (r *reshaping) planned(ctx context.Context, shuffle bool) (*plannedReshard, error) {
	p := &plannedReshard{
		Tool: build.Tool, Request: r.request, Name: r.name, Compression: r.o.compression(), Shuffle: shuffle,
		Seed: r.o.Seed, MaxRecord: r.o.MaxRecord, Known: r.in.known, Label: r.label,
	}
	for _, name := range r.in.described.Labels {
		p.Labels = append(p.Labels, jsontext.Readable(name))
	}
	for _, t := range r.targets {
		p.Splits = append(p.Splits, plannedSplit{t.split, t.records, t.shards, t.each})
	}
	var remaps []*remap
	numbers := make([]int64, len(r.in.splits))
	for i, f := range r.in.files {
		file := plannedFile{
			Path: setdir.InputKey(f.Path), Split: f.split, Compression: f.Compression, Records: f.Records,
			Counted: f.Info != nil && f.Info.Records == f.Records,
		}
		if m := f.remap; m != nil {
			if !slices.Contains(remaps, m) {
				remaps = append(remaps, m)
				p.Remaps = append(p.Remaps, plannedRemap{m.keys, m.ids, m.same})
			}
			file.Remap = 1 + slices.Index(remaps, m)
		}
		p.Files = append(p.Files, file)
		marks, err := f.cutAt(ctx, cmp.Or(r.o.partSize, defaultPart), r.o.MaxRecord)
		if err != nil {
			return nil, err
		}
		at := recordcount.FrameMark{}
		for _, behind := range append(marks, recordcount.FrameMark{Record: f.Records, Offset: f.Size}) {
			p.Parts = append(p.Parts, plannedPart{
				File: i, First: at.Record, Number: numbers[f.split], Records: behind.Record - at.Record, From: at.Offset, To: behind.Offset,
			})
			numbers[f.split] += behind.Record - at.Record
			at = behind
		}
	}
	return p, nil
}

// cutAt returns where to cut a large file into parts of about partSize bytes. If the file was not
// read to count its records, its frames are walked now.
func (f *input) cutAt(ctx context.Context, partSize, maxRecord int64) ([]recordcount.FrameMark, error) {
	if f.Compression != tfrecord.CompressionNone || f.Size < 2*partSize {
		return nil, nil
	}
	marks := f.Marks
	if marks == nil {
		file, err := storage.Open(ctx, f.Path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		w := recordcount.FrameWalk{
			File: storage.Forward(file), Size: f.Size, Every: partSize,
			O: tfrecord.ReaderOptions{Name: f.Path, MaxRecord: maxRecord, Checksum: tfrecord.ChecksumLength},
		}
		if err := w.To(ctx, f.Size); err != nil { // a file never has more records than bytes
			return nil, shard.Damaged(err)
		}
		if err := f.checkRead(w.At.Record); err != nil {
			return nil, shard.Damaged(err)
		}
		marks = w.Marks
	}
	var cuts []recordcount.FrameMark
	for _, m := range marks {
		last := int64(0)
		if n := len(cuts); n > 0 {
			last = cuts[n-1].Offset
		}
		if m.Offset-last >= partSize && f.Size-m.Offset >= partSize/2 {
			cuts = append(cuts, m)
		}
	}
	return cuts, nil
}
