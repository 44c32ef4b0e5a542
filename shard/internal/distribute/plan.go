package distribute

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
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/internal/transfer"
	"github.com/tfrec/tfrec/tfrecord"
)

// Plan is a run divided into steps for many machines that share the same files: parts of the inputs,
// each of which [Plan.Read] distributes to the shards that its records belong to, and shards, each of
// which [Plan.Write] makes from everything distributed to it. What moves records from Read to Write
// need not keep any order: each record carries its position.
//
// [Begin] makes a plan and stores it in the output directory, where [OpenPlan] finds it. Parts and
// shards may be processed concurrently and more than once, even at the same time. A plan is safe for
// concurrent use.
type Plan struct {
	out     string
	id      string
	memory  int64
	kept    []bool // by shard: finished by an earlier run of the same plan
	planned plannedReshard

	files  []*source.Input
	splits []string
	layout []assign.Layout
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
	Request     rearrange.Request    `json:"request"`
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

// OpenPlan reads the plan with the given ID from an output directory. It returns an error if
// the plan is missing or another one, because its run has ended.
func OpenPlan(ctx context.Context, out, id string) (*Plan, error) {
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
	if rearrange.HashText(stored.Plan) != id { // if it matches, the contents need no further checks
		return nil, errSpoiltPlan(out)
	}
	p := &Plan{out: out, id: id, memory: stored.Memory}
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
func (p *Plan) complete(directory string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	remaps := []*source.Remap{nil}
	for _, m := range p.planned.Remaps {
		remaps = append(remaps, &source.Remap{Keys: m.Keys, IDs: m.IDs, Same: m.Same})
	}
	for i, f := range p.planned.Files {
		path := string(f.Path)
		if !storage.Remote(path) && !filepath.IsAbs(path) && here != directory {
			path = filepath.Join(directory, path)
		}
		file := &source.Input{
			Counted: recordcount.Counted{
				Source: shard.Source{Path: path}, Size: p.planned.Request.Inputs[i].Size,
				Compression: f.Compression, Records: f.Records,
			},
			SplitIndex: f.Split, Remap: remaps[f.Remap],
		}
		if f.Counted {
			file.Info = &manifest.Shard{Records: f.Records}
		}
		p.files = append(p.files, file)
	}
	p.base, p.before = []int64{0}, []int{0}
	for i, s := range p.planned.Splits {
		p.splits = append(p.splits, s.Name)
		p.layout = append(p.layout, assign.Layout{Records: s.Records, Shards: s.Shards, Each: s.Each})
		p.base = append(p.base, p.base[i]+s.Records)
		p.before = append(p.before, p.before[i]+int(s.Shards))
	}
	p.kept = make([]bool, p.Shards())
	return nil
}

// ID identifies the plan: it is a hash of the inputs as they were found, the options, and how both
// are divided. Two runs with the same ID make the same set.
func (p *Plan) ID() string { return p.id }

// Out returns the directory that the shards are written to: the one passed to PlanReshard or, if a
// set is replaced, a directory inside it.
func (p *Plan) Out() string { return p.out }

// Parts returns the number of parts of the inputs; they are numbered from 0.
func (p *Plan) Parts() int { return len(p.planned.Parts) }

// Shards returns the number of shards of the set, over all splits; they are numbered from 0.
func (p *Plan) Shards() int { return p.before[len(p.layout)] }

// Records returns the number of records of the inputs, and so of the set.
func (p *Plan) Records() int64 { return p.base[len(p.layout)] }

// Kept returns the number of shards finished by an earlier run of the same plan. Read passes no
// records to them.
func (p *Plan) Kept() int {
	n := 0
	for _, kept := range p.kept {
		if kept {
			n++
		}
	}
	return n
}

// ShardFile returns the file name of a shard.
func (p *Plan) ShardFile(number int) string {
	split, index := p.find(number)
	return shard.Name{Dataset: p.planned.Name, Split: p.splits[split], Index: int(index), Count: int(p.layout[split].Shards)}.String()
}

// find returns the split of a shard, and its number in the split.
func (p *Plan) find(shard int) (split int, index int64) {
	split = sort.SearchInts(p.before, shard+1) - 1
	return split, int64(shard - p.before[split])
}

// transfer returns the transfer of one part or shard of the plan. The infos of its targets are not
// shared.
func (p *Plan) transfer(dir *setdir.Dir) *transfer.Transfer {
	t := &transfer.Transfer{Dir: dir, Name: p.planned.Name, Compression: p.planned.Compression, Label: p.planned.Label}
	t.In = &source.Inputs{
		Options: source.Options{Workers: 1, Memory: p.memory, MaxRecord: p.planned.MaxRecord},
		Files:   p.files, Splits: p.splits, Known: p.planned.Known, Described: manifest.Manifest{Labels: p.planned.Labels},
	}
	for i, split := range p.splits {
		t.Targets = append(t.Targets, transfer.Target{Dir: dir, Split: split, Layout: p.layout[i], Infos: make([]manifest.Shard, p.layout[i].Shards)})
	}
	return t
}

// defaultPart is the approximate size of a part in bytes.
const defaultPart int64 = 256 << 20

// planned divides a surveyed run into parts.
func planned(ctx context.Context, r *rearrange.Run, shuffle bool) (*plannedReshard, error) {
	p := &plannedReshard{
		Tool: build.Tool, Request: r.Request, Name: r.Name, Compression: r.Compression, Shuffle: shuffle,
		Seed: r.Options.Seed, MaxRecord: r.In.MaxRecord, Known: r.In.Known, Label: r.Label,
	}
	for _, name := range r.In.Described.Labels {
		p.Labels = append(p.Labels, jsontext.Readable(name))
	}
	for _, t := range r.Targets {
		p.Splits = append(p.Splits, plannedSplit{t.Split, t.Records, t.Shards, t.Each})
	}
	var remaps []*source.Remap
	numbers := make([]int64, len(r.In.Splits))
	for i, f := range r.In.Files {
		file := plannedFile{
			Path: setdir.InputKey(f.Path), Split: f.SplitIndex, Compression: f.Compression, Records: f.Records,
			Counted: f.Info != nil && f.Info.Records == f.Records,
		}
		if m := f.Remap; m != nil {
			if !slices.Contains(remaps, m) {
				remaps = append(remaps, m)
				p.Remaps = append(p.Remaps, plannedRemap{m.Keys, m.IDs, m.Same})
			}
			file.Remap = 1 + slices.Index(remaps, m)
		}
		p.Files = append(p.Files, file)
		marks, err := cutAt(ctx, f, cmp.Or(r.PartSize, defaultPart), r.In.MaxRecord)
		if err != nil {
			return nil, err
		}
		at := recordcount.FrameMark{}
		for _, behind := range append(marks, recordcount.FrameMark{Record: f.Records, Offset: f.Size}) {
			p.Parts = append(p.Parts, plannedPart{
				File: i, First: at.Record, Number: numbers[f.SplitIndex], Records: behind.Record - at.Record, From: at.Offset, To: behind.Offset,
			})
			numbers[f.SplitIndex] += behind.Record - at.Record
			at = behind
		}
	}
	return p, nil
}

// cutAt returns where to cut a large file into parts of about partSize bytes. If the file was not
// read to count its records, its frames are walked now.
func cutAt(ctx context.Context, f *source.Input, partSize, maxRecord int64) ([]recordcount.FrameMark, error) {
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
		if err := f.CheckRead(w.At.Record); err != nil {
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
