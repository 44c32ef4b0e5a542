package arrows

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tfrec/tfrec"

// room is what one part of the module may import. Packages of other modules are given by the
// beginning of their path: a module, or a part of one.
type room struct {
	// ours are the rooms that it may import, internal packages among them.
	ours []string
	// theirs are the packages of other modules that it may import, itself or indirectly.
	theirs []string
	// tests are the rooms, besides ours, that its tests may import.
	tests []string
	// judges are what its tests may import of others besides.
	judges []string
}

// Packages of other modules, by their purpose.
var (
	// wire is the records: compression, and protobuf's varints without its
	// runtime.
	wire = []string{
		"github.com/klauspost/compress", "golang.org/x/sys/cpu",
		"google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/internal",
	}
	pixels = []string{
		"github.com/disintegration/imaging", "github.com/ebitengine/purego",
		"github.com/klauspost/cpuid/v2", "github.com/zeebo/xxh3", "go.yaml.in/yaml/v3", "golang.org/x/image", "golang.org/x/sys",
	}
	// files is for sets on disk and for parallel work.
	files  = []string{"github.com/zeebo/xxh3", "github.com/klauspost/cpuid/v2", "github.com/minio/crc64nvme", "golang.org/x/sync", "golang.org/x/sys"}
	globs  = []string{"github.com/bmatcuk/doublestar/v4"}
	prompt = []string{
		"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/inconshreveable/mousetrap",
		"golang.org/x/term",
		"github.com/schollz/progressbar/v3", "github.com/mitchellh/colorstring", "github.com/rivo/uniseg",
	}
	judges  = []string{"github.com/google/go-cmp", "google.golang.org/protobuf"}
	scripts = []string{"github.com/rogpeppe/go-internal"}
	// estimates is HyperLogLog, with which statistics count distinct values where
	// they are too many to keep.
	estimates = []string{"github.com/axiomhq/hyperloglog", "github.com/dgryski/go-metro", "github.com/kamstrup/intmap"}
	// tables is what writes Parquet: the format, and the codecs and types that it
	// knows, of which we use Snappy alone.
	tables = []string{
		"github.com/parquet-go", "github.com/andybalholm/brotli", "github.com/google/uuid",
		"github.com/pierrec/lz4/v4", "github.com/twpayne/go-geom", "google.golang.org/protobuf",
	}
	// parquet is the codecs of Parquet, whose tests write files with parquet-go.
	parquet = []string{"github.com/andybalholm/brotli", "github.com/pierrec/lz4/v4"}
	// arrow is Apache's library for Arrow IPC, and what it brings.
	arrow = []string{
		"github.com/apache/arrow-go/v18", "github.com/goccy/go-json", "github.com/google/flatbuffers",
		"github.com/pierrec/lz4/v4", "golang.org/x/exp/constraints",
	}
	// charsets are the encodings of text.
	charsets = []string{"golang.org/x/text"}
	// driver is NVIDIA's, and comes in with the tag cuda alone.
	driver = []string{"gorgonia.org/cu", "github.com/google/uuid", "github.com/pkg/errors"}
	// conditions is the language of filter --where.
	conditions = []string{"github.com/expr-lang/expr"}
)

// Packages of ours that several rooms import.
var (
	// engine is what is below shard.
	engine = []string{"manifest", "tfrecord/message", "internal", "internal/codec/inflate", "internal/set/digest", "internal/annotation/labels", "internal/set/recheck", "internal/set/setdir", "internal/set/setdir/place"}
	// onSets is what packages that work on sets share, above shard.
	onSets = []string{"internal/annotation/classfile", "internal/set/features", "internal/set/fingerprint", "internal/annotation/objects", "internal/codec/rawpixels", "internal/set/recordcount", "internal/set/shares", "internal/set/tfds"}
	// ofConversions are the packages below convert, each above those before it.
	ofConversions = []string{
		"convert/internal/plan", "convert/internal/own", "convert/internal/tablefile", "convert/internal/tables", "convert/internal/options",
		"convert/internal/origin", "convert/internal/prefetch", "convert/internal/annotations", "convert/internal/carried",
		"convert/internal/placed", "convert/internal/stated", "convert/internal/webdataset", "convert/internal/walk",
		"convert/internal/labeltable", "convert/internal/listing", "convert/internal/sample", "convert/internal/imagerecord",
	}
	// ofReader are the packages below reader, each above those before it.
	ofReader = []string{"reader/internal/pipeline", "reader/internal/fileset", "reader/internal/records", "reader/internal/stages", "reader/internal/flows", "reader/internal/images"}
	// ofReshape are the packages below shard/reshape and shard/diff, each above those before it.
	ofReshape = []string{"shard/internal/splice", "shard/internal/source", "shard/internal/assign", "shard/internal/transfer", "shard/internal/rearrange", "shard/internal/distribute"}
	// ofPixels are the packages below augment and gpu, each above those before it.
	ofPixels = []string{
		"internal/codec/bitmap", "internal/codec/sniff", "internal/codec/recolor", "internal/codec/bmp", "internal/codec/tiff",
		"internal/codec/imagefile", "internal/codec/resample", "internal/codec/workspace", "internal/codec/warp", "internal/codec/fit",
		"internal/codec/steps", "internal/codec/render", "internal/codec/lower",
	}
	// ofExport are the packages below internal/view/export, each above those before it.
	ofExport = []string{
		"internal/view/export/spec", "internal/view/export/input", "internal/view/export/filetree", "internal/view/export/jsonvalue",
		"internal/view/export/images", "internal/view/export/tables", "internal/view/export/boxes",
	}
	// ofPreview are the packages below internal/view/preview, each above those before it.
	ofPreview = []string{"internal/view/preview/plaintext", "internal/view/preview/contents", "internal/view/preview/sample"}
	// verbs are the packages that work on sets.
	verbs = []string{"shard/stats", "shard/verify", "shard/repair", "shard/reshape", "shard/diff", "shard/write"}
)

// below returns the packages of conversions that one of them may import.
func below(name string) []string { return ofConversions[:slices.Index(ofConversions, name)] }

// pixelRoom returns the rule of one of ofPixels, with the rooms that its tests may import.
func pixelRoom(name string, tests ...string) room {
	ours := slices.Concat(ofPixels[:slices.Index(ofPixels, name)], []string{"internal", "internal/codec/inflate"})
	return room{ours: ours, tests: append(tests, "internal/dev/imagetest"), theirs: pixels, judges: judges}
}

// rooms by the first element of their path, or the first two to four below internal
// where a package there differs from the others.
var rooms = map[string]room{
	"tfrecord":         {ours: []string{"internal/codec/inflate"}, tests: []string{"internal"}, theirs: wire, judges: judges},
	"tfrecord/message": {ours: []string{"internal"}, theirs: wire, tests: []string{"tfrecord"}, judges: judges},
	// Names for what is in the rooms below, and policies, which only users of augment need. A room takes no
	// policy, and below steps there are no steps.
	"augment": {
		ours:  slices.Concat(ofPixels[:len(ofPixels)-1], []string{"augment/internal/policy", "augment/internal/operation"}),
		tests: []string{"internal", "internal/dev/backendtest", "internal/dev/imagetest"}, theirs: pixels, judges: judges,
	},
	"augment/internal/policy":    {ours: []string{"internal", "internal/codec/bitmap", "internal/codec/steps", "augment/internal/operation"}, theirs: pixels, judges: judges},
	"augment/internal/operation": {ours: []string{"internal", "internal/codec/bitmap", "internal/codec/resample", "internal/codec/fit", "internal/codec/steps"}, tests: []string{"internal/dev/imagetest"}, theirs: pixels, judges: judges},
	"internal/codec/lower":       pixelRoom("internal/codec/lower", "internal/dev/backendtest", "augment"),
	"internal/codec/render":      pixelRoom("internal/codec/render"),
	"internal/codec/steps":       pixelRoom("internal/codec/steps"),
	"internal/codec/fit":         pixelRoom("internal/codec/fit"),
	"internal/codec/warp":        pixelRoom("internal/codec/warp"),
	"internal/codec/workspace":   pixelRoom("internal/codec/workspace"),
	"internal/codec/resample":    pixelRoom("internal/codec/resample"),
	"internal/codec/imagefile":   pixelRoom("internal/codec/imagefile"),
	"internal/codec/tiff":        pixelRoom("internal/codec/tiff"),
	"internal/codec/bmp":         pixelRoom("internal/codec/bmp"),
	"internal/codec/recolor":     pixelRoom("internal/codec/recolor"),
	"internal/codec/sniff":       pixelRoom("internal/codec/sniff"),
	"internal/codec/bitmap":      pixelRoom("internal/codec/bitmap"),
	// What a set says of itself.
	"manifest": {ours: []string{"tfrecord", "tfrecord/message", "internal", "internal/annotation/labels"}, theirs: slices.Concat(wire, files, globs), judges: judges},
	// A record as tensors.
	"columns": {ours: []string{"manifest", "tfrecord", "internal"}, theirs: slices.Concat(wire, files, globs), tests: []string{"internal/dev/settest"}, judges: judges},
	"shard":   {ours: slices.Concat(engine, []string{"tfrecord", "internal/set/features", "internal/set/fingerprint"}), tests: []string{"internal/dev/settest"}, theirs: slices.Concat(wire, files, globs), judges: judges},
	// What works on sets. None of these imports another: what they share is in shard, or below
	// internal.
	"shard/stats": {
		ours:   slices.Concat(engine, onSets, []string{"shard", "shard/internal/source", "tfrecord"}),
		theirs: slices.Concat(wire, files, globs, estimates),
		tests:  []string{"internal/dev/settest"}, judges: judges,
	},
	"shard/verify":  {ours: slices.Concat(engine, onSets, []string{"shard", "tfrecord"}), tests: slices.Concat(verbs, []string{"internal/dev/settest"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	"shard/repair":  {ours: slices.Concat(engine, onSets, []string{"shard", "tfrecord"}), tests: slices.Concat(verbs, []string{"internal/dev/settest"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	"shard/reshape": {ours: slices.Concat(engine, onSets, ofReshape, []string{"shard", "tfrecord"}), tests: slices.Concat(verbs, []string{"internal/dev/settest"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	"shard/diff":    {ours: slices.Concat(engine, onSets, ofReshape[:2], []string{"shard", "tfrecord"}), tests: slices.Concat(verbs, []string{"internal/dev/settest"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	"shard/write":   {ours: slices.Concat(engine, onSets, []string{"shard", "tfrecord"}), tests: slices.Concat(verbs, []string{"internal/dev/settest"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	// What makes a set of existing records, from the top down: each room imports those below it, and
	// none knows a verb.
	"shard/internal/distribute": {
		ours:   slices.Concat(engine, onSets, ofReshape[:5], []string{"shard", "tfrecord"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"shard/internal/rearrange": {
		ours:   slices.Concat(engine, onSets, ofReshape[:4], []string{"shard", "tfrecord"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"shard/internal/transfer": {
		ours:   slices.Concat(engine, onSets, ofReshape[:3], []string{"shard", "tfrecord"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"shard/internal/assign": {
		ours:   slices.Concat(engine, onSets, ofReshape[:2], []string{"shard", "tfrecord"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"shard/internal/source": {
		ours:   slices.Concat(engine, onSets, ofReshape[:1], []string{"shard", "tfrecord"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"shard/internal/splice": {ours: []string{"tfrecord", "internal"}, theirs: wire, judges: judges},
	// Reading a set takes neither what measures one nor its estimators. From the top down: each room
	// imports those below it.
	"reader": {
		ours:   slices.Concat(engine, ofReader, []string{"columns", "shard", "tfrecord", "augment", "internal/codec/decodeplan", "internal/annotation/masks", "internal/annotation/objects", "internal/codec/rawpixels"}),
		tests:  []string{"internal/dev/settest", "internal/dev/readertest"},
		theirs: slices.Concat(wire, files, globs, pixels), judges: judges,
	},
	"reader/internal/images": {
		ours:   slices.Concat(engine, ofReader[:5], []string{"columns", "shard", "tfrecord", "augment", "internal/codec/decodeplan", "internal/annotation/masks", "internal/annotation/objects", "internal/codec/rawpixels"}),
		theirs: slices.Concat(wire, files, globs, pixels), judges: judges,
	},
	"reader/internal/flows": {
		ours:   slices.Concat(engine, ofReader[:4], []string{"columns", "shard", "tfrecord"}),
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"reader/internal/stages": {
		ours:   slices.Concat(engine, ofReader[:3], []string{"columns", "shard", "tfrecord"}),
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"reader/internal/records": {
		ours:   slices.Concat(engine, ofReader[:2], []string{"shard", "tfrecord"}),
		tests:  []string{"internal/dev/readertest"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"reader/internal/fileset": {
		ours:   slices.Concat(engine, ofReader[:1], []string{"shard", "tfrecord"}),
		tests:  []string{"internal/dev/readertest"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"reader/internal/pipeline": {
		ours:   []string{"columns", "tfrecord", "internal"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	// A conversion, from the top down: each room imports those below it.
	"convert": {
		ours:   slices.Concat(engine, onSets, ofConversions, []string{"shard", "tfrecord", "augment", "internal/codec/decodeplan", "internal/annotation/masks", "internal/codec/orientation"}),
		tests:  slices.Concat(verbs, []string{"internal/dev/settest", "internal/table/arrow", "internal/table/parquet"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets),
		judges: slices.Concat(judges, []string{"github.com/parquet-go"}), // its tests write Parquet
	},
	"convert/internal/imagerecord": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/imagerecord"), []string{"tfrecord", "augment", "internal/codec/decodeplan"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/sample": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/sample"), []string{"augment"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/listing": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/listing"), []string{"shard"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/labeltable": {
		ours:   slices.Concat(engine, below("convert/internal/labeltable"), []string{"internal/table/imagetable"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/walk": {
		ours:   slices.Concat(engine, below("convert/internal/walk"), []string{"internal/table/imagetable", "shard", "tfrecord", "augment"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/webdataset": {
		ours:   slices.Concat(engine, below("convert/internal/webdataset"), []string{"tfrecord"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/stated": {
		ours:   slices.Concat(engine, below("convert/internal/stated"), []string{"shard", "tfrecord", "internal/set/shares"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/placed": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/placed"), []string{"tfrecord", "augment", "internal/annotation/masks", "internal/codec/orientation"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/prefetch": {
		ours:   slices.Concat(engine, []string{"convert/internal/plan", "convert/internal/origin"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/carried": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/carried"), []string{"shard", "tfrecord"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/annotations": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/annotations"), []string{"internal/annotation/csvboxes", "internal/annotation/masks"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/origin": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/origin"), []string{"shard", "tfrecord"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/options": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/options"), []string{"shard", "tfrecord", "augment"}),
		theirs: slices.Concat(wire, files, globs, pixels, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/own": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/own"), []string{"shard", "tfrecord"}),
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"convert/internal/tables": {
		ours:   slices.Concat(engine, onSets, below("convert/internal/tables"), []string{"internal/table/charset", "shard", "tfrecord"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/tablefile": {
		ours:   slices.Concat(engine, below("convert/internal/tablefile"), []string{"shard", "tfrecord", "internal/table/arrow", "internal/table/charset", "internal/table/parquet"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs, parquet, arrow, charsets), judges: judges,
	},
	"convert/internal/plan": {
		ours:   slices.Concat(engine, onSets, []string{"shard", "tfrecord"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"gpu": {ours: []string{"augment", "internal", "internal/codec/render", "internal/codec/lower", "internal/dev/backendtest"}, tests: []string{"columns", "reader", "tfrecord"}, theirs: slices.Concat(pixels, driver), judges: judges},
	// Main functions, which only call the command.
	"cmd": {ours: []string{"internal/command"}, theirs: slices.Concat(wire, files, globs, pixels, estimates, tables, arrow, charsets, prompt, conditions, driver)},
	"internal/command": {
		ours:   slices.Concat(engine, onSets, verbs, []string{"internal/command/cli", "internal/command/conversion", "internal/command/formats", "internal/command/text", "internal/command/topic", "shard", "tfrecord", "augment", "reader", "convert", "gpu", "internal/set/where", "internal/view/export", "internal/view/export/spec", "internal/view/emit", "internal/view/card", "internal/view/preview", "internal/codec/thumbnail", "internal/view/doctor", "internal/view/readbench"}),
		tests:  []string{"columns", "internal/dev/settest"}, // what batches are read with
		theirs: slices.Concat(wire, files, globs, pixels, estimates, tables, arrow, charsets, prompt, conditions, driver), judges: slices.Concat(judges, scripts),
	},
	// What verbs share: these know no verb.
	"internal/command/cli": {
		ours:   slices.Concat(engine, onSets, []string{"internal/command/topic", "shard", "tfrecord", "augment", "reader", "convert", "shard/reshape"}),
		theirs: slices.Concat(wire, files, globs, pixels, estimates, parquet, arrow, charsets, prompt), judges: judges,
	},
	"internal/command/topic": {},
	"internal/command/text": {
		ours:   slices.Concat(engine, onSets, []string{"internal/command/cli", "shard", "shard/stats", "shard/verify", "tfrecord"}),
		theirs: slices.Concat(wire, files, globs, pixels, estimates, parquet, arrow, charsets, prompt), judges: judges,
	},
	"internal/command/formats": {ours: slices.Concat(engine, []string{"shard", "tfrecord"}), tests: []string{"internal/dev/settest"}, theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/command/conversion": {
		ours:   slices.Concat(engine, onSets, []string{"internal/command/cli", "shard", "shard/reshape", "shard/stats", "tfrecord", "augment", "convert", "gpu", "internal/annotation", "internal/table/imagetable", "internal/view/preview", "internal/view/survey"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs, pixels, estimates, parquet, arrow, charsets, prompt, driver), judges: judges,
	},
	// Programs of users, which see what users see.
	"examples": {
		ours:   slices.Concat(verbs, []string{"columns", "manifest", "tfrecord/message", "shard", "tfrecord", "augment", "reader", "convert"}),
		tests:  []string{"internal"},
		theirs: slices.Concat(wire, files, globs, pixels, estimates, parquet, arrow, charsets), judges: judges,
	},
	"internal": {ours: []string{"internal", "internal/codec/inflate"}, theirs: slices.Concat(wire, files, pixels), judges: judges},
	// What tfrecord may import, so that it imports nothing of ours itself.
	"internal/codec/inflate": {theirs: wire, judges: []string{"golang.org/x/sys/unix"}},
	// Tables of formats that need libraries: nobody but those who convert pays for them.
	"internal/table/charset":       {ours: []string{"internal"}, theirs: slices.Concat(files, wire, charsets), judges: judges},
	"internal/table/imagetable":    {ours: []string{"internal", "internal/table/charset"}, theirs: slices.Concat(files, wire, charsets), judges: judges},
	"internal/annotation/csvboxes": {ours: []string{"internal", "internal/table/charset"}, theirs: slices.Concat(files, wire, pixels, charsets), judges: judges},
	"internal/table/arrow":         {ours: []string{"internal"}, theirs: slices.Concat(wire, files, arrow), judges: judges},
	"internal/table/parquet":       {ours: []string{"internal"}, theirs: slices.Concat(wire, files, parquet), judges: slices.Concat(judges, tables)},
	// An export, from the top down: each room imports those below it.
	"internal/view/export": {
		ours:   slices.Concat(engine, ofExport, []string{"shard", "tfrecord", "augment", "internal/codec/orientation", "internal/annotation/objects", "internal/codec/rawpixels", "internal/set/shares"}),
		tests:  []string{"internal/dev/exporttest"},
		theirs: slices.Concat(wire, files, globs, pixels, tables), judges: judges,
	},
	"internal/view/export/boxes": {
		ours:   slices.Concat(engine, ofExport[:5], []string{"shard", "tfrecord", "augment", "internal/codec/orientation", "internal/annotation/objects"}),
		theirs: slices.Concat(wire, files, globs, pixels), judges: judges,
	},
	"internal/view/export/images": {
		ours:   slices.Concat(engine, ofExport[:4], []string{"tfrecord", "augment"}),
		tests:  []string{"internal/dev/exporttest"},
		theirs: slices.Concat(wire, files, globs, pixels), judges: judges,
	},
	"internal/view/export/tables": {
		ours:   slices.Concat(engine, ofExport[:4], []string{"tfrecord"}),
		tests:  []string{"internal/dev/exporttest"},
		theirs: slices.Concat(wire, files, globs, pixels, tables), judges: judges,
	},
	"internal/view/export/jsonvalue": {ours: []string{"tfrecord"}, theirs: wire, judges: judges},
	"internal/view/export/filetree": {
		ours:   slices.Concat(engine, ofExport[:1]),
		tests:  []string{"internal/dev/exporttest"},
		theirs: slices.Concat(wire, files, globs), judges: judges,
	},
	"internal/view/export/input": {
		ours:   slices.Concat(engine, ofExport[:1], []string{"shard", "tfrecord", "augment", "internal/codec/rawpixels", "internal/set/shares"}),
		theirs: slices.Concat(wire, files, globs, pixels), judges: judges,
	},
	"internal/view/export/spec": {ours: []string{"shard"}, theirs: slices.Concat(wire, files, globs), judges: judges},

	"internal/set/digest":           {ours: []string{"tfrecord", "internal"}, theirs: slices.Concat(wire, files), judges: judges},
	"internal/annotation/objects":   {ours: []string{"tfrecord", "internal"}, theirs: wire, judges: judges},
	"internal/codec/rawpixels":      {ours: []string{"tfrecord", "internal"}, theirs: wire, judges: judges},
	"internal/annotation/classfile": {ours: []string{"internal", "internal/annotation/labels"}, theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/annotation/labels":    {ours: []string{"tfrecord", "internal"}, theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/set/recheck":          {ours: []string{"tfrecord", "internal"}, theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/set/setdir/place":     {ours: []string{"internal", "manifest"}, theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/set/setdir":           {ours: slices.Concat(engine, []string{"tfrecord"}), tests: slices.Concat(verbs, []string{"shard", "internal/dev/settest"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/set/features":         {ours: slices.Concat(engine, []string{"shard", "tfrecord"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/set/fingerprint":      {ours: slices.Concat(engine, []string{"shard", "tfrecord"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/set/recordcount":      {ours: slices.Concat(engine, []string{"shard", "tfrecord"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	// What only tests, benchmarks and releases need. Tests of every room may import it.
	"internal/dev/exporttest": {ours: []string{"tfrecord", "internal"}, theirs: wire},
	"internal/dev/previewtest": {
		ours:   slices.Concat(engine, onSets, []string{"shard", "shard/repair", "tfrecord", "augment"}),
		theirs: slices.Concat(wire, files, globs, pixels),
	},
	"internal/dev/readertest": {ours: []string{"tfrecord", "internal/codec/inflate"}, theirs: wire},
	"internal/dev":            {ours: []string{"internal"}, theirs: slices.Concat(wire, files, pixels)},
	// Sets for tests.
	"internal/dev/settest": {ours: slices.Concat(engine, onSets, []string{"shard", "tfrecord", "internal/dev"}), theirs: slices.Concat(wire, files, globs)},
	"internal/set/shares":  {ours: slices.Concat(engine, []string{"shard", "tfrecord"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/set/tfds":    {ours: slices.Concat(engine, []string{"shard", "tfrecord"}), theirs: slices.Concat(wire, files, globs), judges: judges},
	"internal/view/emit":   {ours: slices.Concat(engine, []string{"shard", "shard/stats", "tfrecord", "internal/annotation/objects"}), theirs: slices.Concat(wire, files, globs, estimates), judges: judges},
	"internal/view/survey": {ours: []string{"internal"}, theirs: slices.Concat(wire, files), judges: judges},
	"internal/view/card": {
		ours:   slices.Concat(engine, []string{"tfrecord", "internal/table/parquet"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs, parquet, []string{"go.yaml.in/yaml/v3"}), judges: slices.Concat(judges, tables),
	},
	// A preview, from the top down: each room imports those below it.
	"internal/view/preview": {
		ours:   slices.Concat(engine, ofPreview, []string{"shard", "shard/stats", "tfrecord", "augment", "internal/codec/thumbnail", "internal/annotation/objects"}),
		tests:  slices.Concat(verbs, []string{"internal/dev/previewtest"}),
		theirs: slices.Concat(wire, files, globs, pixels, estimates), judges: judges,
	},
	"internal/view/preview/sample": {
		ours:   slices.Concat(engine, ofPreview[:2], []string{"shard", "shard/stats", "tfrecord", "augment", "internal/codec/thumbnail", "internal/annotation/objects", "internal/codec/orientation", "internal/codec/rawpixels"}),
		tests:  []string{"internal/dev/previewtest"},
		theirs: slices.Concat(wire, files, globs, pixels, estimates), judges: judges,
	},
	"internal/view/preview/contents": {
		ours:   slices.Concat(engine, ofPreview[:1], []string{"shard", "shard/stats", "tfrecord", "internal/annotation/objects"}),
		tests:  []string{"internal/dev/previewtest"},
		theirs: slices.Concat(wire, files, globs, estimates), judges: judges,
	},
	"internal/view/preview/plaintext": {ours: []string{"internal"}},

	// What reading costs on this machine, measured with the reader's own code.
	"internal/view/readbench": {
		ours:   slices.Concat(engine, []string{"shard", "tfrecord", "augment", "reader"}),
		tests:  []string{"internal/dev/settest", "internal/dev/readertest"},
		theirs: slices.Concat(wire, files, globs, pixels), judges: judges,
	},
	"internal/view/doctor": {
		ours:   slices.Concat(engine, []string{"columns", "shard", "tfrecord", "augment", "reader", "internal/view/readbench", "internal/codec/rawpixels"}),
		tests:  []string{"internal/dev/settest"},
		theirs: slices.Concat(wire, files, globs, pixels), judges: judges,
	},
	"internal/codec/thumbnail": {ours: []string{"augment"}, theirs: pixels},
	// What tests hold backends to: those of augment and of gpu.
	"internal/dev/backendtest": {ours: []string{"augment", "internal", "internal/codec/render"}, theirs: pixels},
	// Images for tests of the rooms below augment.
	"internal/dev/imagetest":     {ours: []string{"internal/codec/bitmap"}, theirs: pixels},
	"internal/codec/orientation": {ours: []string{"augment", "internal"}, theirs: pixels, judges: judges},
	"internal/annotation/masks":  {ours: []string{"augment", "internal", "internal/codec/orientation"}, theirs: pixels, judges: judges},
	"internal/codec/decodeplan":  {ours: []string{"augment", "internal"}, theirs: pixels, judges: judges},
	"internal/set/where":         {ours: []string{"tfrecord", "internal", "internal/annotation/objects"}, theirs: slices.Concat(wire, conditions), judges: judges},
	// Only tests, which compare the sets that two builds of the command make.
	"internal/dev/emulated": {ours: []string{"internal"}, tests: []string{"internal/dev/settest"}, judges: judges},
	// Only tests, which drive a room and the built command from outside.
	"internal/dev/interop": {ours: []string{"augment", "columns", "tfrecord", "reader", "internal", "internal/annotation/objects"}, tests: []string{"internal/table/arrow", "internal/table/parquet"}, judges: judges},
}

// leastPackages guards against a listing that silently shrank.
const leastPackages = 3

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath   string
	ForTest      string
	Standard     bool
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

// name is the package's path below the module, "" for one of others.
func (p *listed) name() string {
	if p.ImportPath == module {
		return "."
	}
	n, ours := strings.CutPrefix(p.ImportPath, module+"/")
	if !ours {
		return ""
	}
	return n
}

// rule returns the name and the rule of the room that the package name is in.
func rule(name string) (string, room, bool) {
	parts := strings.Split(name, "/")
	for n := min(4, len(parts)); n > 1; n-- {
		first := path.Join(parts[:n]...)
		if r, ok := rooms[first]; ok {
			return first, r, true
		}
	}
	r, ok := rooms[parts[0]]
	return parts[0], r, ok
}

// list runs go list over the whole module and everything that it imports.
func list(t *testing.T, environment []string, flags ...string) map[string]*listed {
	t.Helper()
	args := append([]string{"list", "-deps", "-json=ImportPath,ForTest,Standard,Imports,TestImports,XTestImports,Deps"}, flags...)
	c := exec.Command("go", append(args, module+"/...")...)
	c.Env = append(os.Environ(), environment...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, stderr.String())
	}
	packages := map[string]*listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
	return packages
}

// within reports whether an import path is one of those given or below it.
func within(importPath string, given []string) bool {
	return slices.ContainsFunc(given, func(g string) bool {
		return importPath == g || strings.HasPrefix(importPath, g+"/")
	})
}

// faults returns what is wrong with the imports of one package of ours.
func faults(p *listed, packages map[string]*listed) []string {
	name, r, ok := rule(p.name())
	if !ok {
		return []string{p.ImportPath + ": a room without a rule: add it to the table in internal/dev/arrows"}
	}
	var found []string
	check := func(imports []string, kind string, ours, judges []string) {
		for _, i := range imports {
			q := packages[i]
			switch {
			case q == nil || q.Standard || i == p.ImportPath:
			case q.name() != "":
				to, _, _ := rule(q.name())
				if to != name && !slices.Contains(r.ours, to) && !slices.Contains(ours, to) {
					found = append(found, p.ImportPath+" "+kind+" "+i+": "+name+" may not import "+to)
				}
			case !within(i, r.theirs) && !within(i, judges):
				found = append(found, p.ImportPath+" "+kind+" "+i+": it may not come into "+name)
			}
		}
	}
	check(p.Imports, "imports", nil, nil)
	tests := append(slices.Clone(r.tests), "internal/dev")
	check(p.TestImports, "in its tests imports", tests, r.judges)
	check(p.XTestImports, "in its tests imports", tests, r.judges)
	// What arrives by way of others, too: a library's user pays for all of it.
	var through []string
	for _, d := range p.Deps {
		if q := packages[d]; q != nil && q.name() == "" && !slices.Contains(p.Imports, d) {
			through = append(through, d)
		}
	}
	check(through, "brings in", nil, nil)
	return found
}

func TestArrowsPointOneWay(t *testing.T) {
	for _, build := range []struct {
		name        string
		environment []string
		flags       []string
	}{
		{"linux", []string{"GOOS=linux", "GOARCH=amd64"}, nil},
		{"windows", []string{"GOOS=windows", "GOARCH=amd64"}, nil},
		{"darwin", []string{"GOOS=darwin", "GOARCH=arm64"}, nil},
		{"static", []string{"GOOS=linux", "GOARCH=amd64"}, []string{"-tags=static"}},
		{"noasm", []string{"GOOS=linux", "GOARCH=amd64"}, []string{"-tags=noasm"}},
		{"interop", []string{"GOOS=linux", "GOARCH=amd64"}, []string{"-tags=interop"}},
		{"cuda", []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1"}, []string{"-tags=cuda"}},
	} {
		t.Run(build.name, func(t *testing.T) {
			t.Parallel()
			// -test lists what only tests import, so that its module is known.
			packages := list(t, build.environment, append(build.flags, "-test")...)
			ours := 0
			for _, p := range packages {
				if p.name() == "" || p.ForTest != "" || strings.HasSuffix(p.ImportPath, ".test") {
					continue
				}
				ours++
				for _, f := range faults(p, packages) {
					t.Error(f)
				}
			}
			if ours < leastPackages {
				t.Errorf("go list found %d packages of ours: fewer than there are", ours)
			}
		})
	}
}

// TestFaultsAreFound turns each arrow round in a made-up listing: a rule that
// could not fail would prove nothing.
func TestFaultsAreFound(t *testing.T) {
	const (
		zstd      = "github.com/klauspost/compress/zstd"
		protowire = "google.golang.org/protobuf/encoding/protowire"
		proto     = "google.golang.org/protobuf/proto"
		distinct  = "github.com/axiomhq/hyperloglog"
		cmp       = "github.com/google/go-cmp/cmp"
		cobra     = "github.com/spf13/cobra"
	)
	packages := map[string]*listed{"fmt": {ImportPath: "fmt", Standard: true}}
	for _, name := range []string{zstd, protowire, proto, distinct, cmp, cobra, module + "/internal/build", module + "/internal/codec/jpeg", module + "/internal/command", module + "/cmd/tfrec"} {
		packages[name] = &listed{ImportPath: name}
	}
	for name := range rooms {
		packages[module+"/"+name] = &listed{ImportPath: module + "/" + name}
	}
	for _, c := range []struct {
		p    listed
		want string
	}{
		{listed{ImportPath: module + "/tfrecord", Imports: []string{"fmt", zstd, protowire}}, ""},
		{listed{ImportPath: module + "/tfrecord", TestImports: []string{cmp}}, ""},
		{listed{ImportPath: module + "/tfrecord", Imports: []string{cmp}}, cmp + ": it may not come into tfrecord"},
		{listed{ImportPath: module + "/tfrecord", Imports: []string{proto}}, proto + ": it may not come into tfrecord"},
		{listed{ImportPath: module + "/tfrecord", TestImports: []string{proto}}, ""},
		{listed{ImportPath: module + "/tfrecord", Imports: []string{module + "/internal/build"}}, "tfrecord may not import internal"},
		{listed{ImportPath: module + "/tfrecord", XTestImports: []string{module + "/shard"}}, "tfrecord may not import shard"},
		{listed{ImportPath: module + "/shard", Imports: []string{module + "/tfrecord", module + "/internal/build"}}, ""},
		{listed{ImportPath: module + "/shard", Imports: []string{module + "/augment"}}, "shard may not import augment"},
		{listed{ImportPath: module + "/shard", Deps: []string{cobra}}, cobra + ": it may not come into shard"},
		{listed{ImportPath: module + "/shard", Imports: []string{module + "/shard/stats"}}, "shard may not import shard/stats"},
		{listed{ImportPath: module + "/shard", Deps: []string{distinct}}, distinct + ": it may not come into shard"},
		{listed{ImportPath: module + "/shard/stats", Imports: []string{module + "/shard", distinct}}, ""},
		{listed{ImportPath: module + "/augment", Imports: []string{module + "/internal/codec/steps"}}, ""},
		{listed{ImportPath: module + "/internal/codec/steps", Imports: []string{module + "/internal/codec/jpeg"}}, ""},
		{listed{ImportPath: module + "/internal/codec/fit", Imports: []string{module + "/internal/codec/steps"}}, "internal/codec/fit may not import internal/codec/steps"},
		{listed{ImportPath: module + "/augment", Imports: []string{module + "/tfrecord"}}, "augment may not import tfrecord"},
		{listed{ImportPath: module + "/convert", Imports: []string{module + "/reader"}}, "convert may not import reader"},
		{listed{ImportPath: module + "/convert", TestImports: []string{module + "/gpu"}}, "convert may not import gpu"},
		{listed{ImportPath: module + "/reader", Imports: []string{module + "/convert"}}, "reader may not import convert"},
		{listed{ImportPath: module + "/reader", Imports: []string{module + "/shard/stats"}}, "reader may not import shard/stats"},
		{listed{ImportPath: module + "/reader", Deps: []string{distinct}}, distinct + ": it may not come into reader"},
		{listed{ImportPath: module + "/gpu", Imports: []string{module + "/shard"}}, "gpu may not import shard"},
		{listed{ImportPath: module + "/internal/codec/jpeg", Imports: []string{module + "/augment"}}, "internal may not import augment"},
		{listed{ImportPath: module + "/internal/codec/jpeg", TestImports: []string{module + "/internal/build"}}, ""},
		{listed{ImportPath: module + "/internal/codec/jpeg", TestImports: []string{module + "/internal/dev"}}, ""},
		{listed{ImportPath: module + "/internal/codec/jpeg", Imports: []string{module + "/internal/dev"}}, "internal may not import internal/dev"},
		{listed{ImportPath: module + "/tfrecord", XTestImports: []string{module + "/internal/dev"}}, ""},
		{listed{ImportPath: module + "/internal/dev", Imports: []string{module + "/shard"}}, "internal/dev may not import shard"},
		{listed{ImportPath: module + "/internal/dev/interop", XTestImports: []string{module + "/tfrecord"}}, ""},
		{listed{ImportPath: module + "/internal/command", Imports: []string{module + "/gpu", module + "/reader", cobra}}, ""},
		{listed{ImportPath: module + "/cmd/tfrec", Imports: []string{module + "/internal/command"}}, ""},
		{listed{ImportPath: module + "/cmd/tfrec", Imports: []string{module + "/reader"}}, "cmd may not import reader"},
		{listed{ImportPath: module + "/convert", Imports: []string{module + "/internal/command"}}, "convert may not import internal/command"},
		{listed{ImportPath: module + "/attic"}, "a room without a rule"},
	} {
		got := strings.Join(faults(&c.p, packages), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s importing %v, in tests %v%v: got %q, want %q", c.p.ImportPath, c.p.Imports, c.p.TestImports, c.p.XTestImports, got, c.want)
		}
	}
}
