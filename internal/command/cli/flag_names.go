package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// OtherFlag maps words of other tools and of tasks to flags.
type OtherFlag struct {
	Words string   // separated by spaces
	Flags []string // as they are given, with a remark in parentheses; a verb gets the first that it has
	Of    string   // only for verbs with this flag, too
}

// OtherFlags are the words that people try.
var OtherFlags = []OtherFlag{
	// images
	{Words: "gray grey grayscale greyscale mono", Flags: []string{"--channels 1"}},
	{Words: "color colour rgb", Flags: []string{"--channels 3"}},
	{Words: "size scale width height image-size img-size imgsz target-size resolution", Flags: []string{"--resize", "--shard-size"}},
	{Words: "crop center-crop", Flags: []string{"--resize N (which crops to a square)"}},
	{Words: "max-size max-side max-width max-height max-dim longest-side longer-side", Flags: []string{"--resize WxH --fit longer --no-upscale"}},
	{Words: "keep-aspect keep-ratio preserve-aspect letterbox", Flags: []string{"--fit pad"}},
	{Words: "interpolation resample", Flags: []string{"--filter"}},
	{Words: "format image-format encoding", Flags: []string{"--encode"}},
	{Words: "jpeg jpg", Flags: []string{"--encode jpeg"}},
	{Words: "png", Flags: []string{"--encode png"}},
	{Words: "normalize normalise", Flags: []string{"--encode float32"}},
	{Words: "shuffle no-shuffle", Flags: []string{"--seed (images are always shuffled, and another seed gives another order)"}, Of: "encode"},
	{Words: "recursive", Flags: []string{"--include (directories are always read recursively)"}},
	{Words: "coco voc yolo boxes bbox bboxes annotation", Flags: []string{"--annotations"}},
	{Words: "segmentation mask-dir masks-dir", Flags: []string{"--masks"}},
	{Words: "csv metadata label-file labels-file labels-csv", Flags: []string{"--table"}},
	{Words: "class-names classes-file names label-map labelmap", Flags: []string{"--classes", "--vocab"}},
	{Words: "augmentation augmentations aug policy transform transforms", Flags: []string{"--augment"}},
	{Words: "cuda device", Flags: []string{"--gpu"}},
	// sets
	{Words: "num-shards n-shards nshards shard-count", Flags: []string{"--shards"}},
	{Words: "split split-ratio", Flags: []string{"--splits"}},
	{Words: "val val-split validation-split", Flags: []string{"--splits train=0.9,val=0.1"}},
	{Words: "test-size test-split", Flags: []string{"--splits train=0.8,test=0.2"}},
	{Words: "gzip gz", Flags: []string{"--compression gzip"}},
	{Words: "zstd", Flags: []string{"--compression zstd"}},
	{Words: "random-seed random-state", Flags: []string{"--seed"}},
	{Words: "samples num-samples max-samples max-images max-records head", Flags: []string{"--limit", "--count", "--take", "--sample"}},
	// tables
	{Words: "separator sep", Flags: []string{"--delimiter", "--multi-label"}},
	{Words: "target label-col label-column", Flags: []string{"--label"}},
	{Words: "type types dtype", Flags: []string{"--column"}},
	// runs
	{Words: "threads num-threads num-workers n-workers nproc jobs processes num-processes cores", Flags: []string{"--workers", "--parallel"}},
	{Words: "force replace clobber yes rewrite", Flags: []string{"--overwrite"}},
	{Words: "resume continue", Flags: []string{"--overwrite (not to resume: the same command again does that)"}},
	{Words: "skip-errors ignore-errors skip-bad tolerance", Flags: []string{"--max-errors"}},
	{Words: "silent no-progress", Flags: []string{"--quiet"}},
	{Words: "ram max-memory memory-limit", Flags: []string{"--memory"}},
}

// SuggestFlag returns the flag that a word may mean, as it is given; "" if there is none.
func SuggestFlag(fs *pflag.FlagSet, word string) string {
	word = strings.ReplaceAll(strings.ToLower(word), "_", "-")
	if visible(fs, word) {
		return "--" + word
	}
	for _, o := range OtherFlags {
		if !slices.Contains(strings.Fields(o.Words), word) || o.Of != "" && !visible(fs, o.Of) {
			continue
		}
		for _, flag := range o.Flags {
			if name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), " "); visible(fs, name) {
				return flag
			}
		}
	}
	if near := NearFlag(fs, word, nil); near != "" {
		return "--" + near
	}
	return ""
}

func visible(fs *pflag.FlagSet, name string) bool {
	f := fs.Lookup(name)
	return f != nil && !f.Hidden
}
