package preview

import (
	"encoding/json"
	"runtime"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/stats"
)

// MaxPage is an upper bound on the size of a page, in bytes.
const MaxPage = 5_000_000

// MaxSamples is the most that Options.Samples may be.
const MaxSamples = 1000

// MaxCommand is the maximum length of Options.Command on the page, in bytes of HTML. A longer
// command is cut.
const MaxCommand = 4000

// Shares of MaxPage. The rest is for tables, plots, style and script.
const (
	imagesBudget = 3_500_000 // of all images, as base64
	textsBudget  = 800_000   // of the texts of all sampled records
)

// Options are the options of Write. Codec is required; the zero value of all others is the default.
type Options struct {
	// Codec decodes the images.
	Codec *augment.Codec
	// Header and Pixels are as in stats.Options. Default: none; the page then shows less about
	// images.
	Header func(data []byte) (stats.ImageHeader, error)
	Pixels func(data []byte) (stats.PixelSums, error)
	// Samples is the number of records to show, up to MaxSamples. Default: 120.
	Samples int
	// Seed of the sample. Default: 0.
	Seed uint64
	// Image, Label and Key are the keys of the features with the image, with
	// its label (text, or an id that the manifest or the records name) and with
	// its name. Defaults: image/encoded, else the feature with the most images;
	// image/class/text, image/class/label, else the first feature of labels;
	// image/filename, else none.
	ImageKey, Label, Key string
	// Partial makes a page of the existing shards of incomplete sets, and says so on it; Note, if
	// not nil, is called for each of them.
	Partial bool
	Note    func(sentence string)
	// Overwrite lets the page take the place of a file.
	Overwrite bool
	// Command is the command that made the set, to be shown; see MaxCommand. Default: none.
	Command string
	// Tool is the name of the program that the page credits. Default: tfrec.
	Tool string
	// Progress is counted up while all records are read for the figures, if it is
	// not nil.
	Progress *shard.ReadProgress
	// Workers is the number of files to read, and images to decode, at a time. Default: GOMAXPROCS.
	Workers int
}

func (o Options) withDefaults() Options {
	if o.Samples == 0 {
		o.Samples = 120
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Tool == "" {
		o.Tool = "tfrec"
	}
	return o
}

// keys returns the keys of the features that the user names.
func (o *Options) keys() contents.Keys {
	return contents.Keys{Image: o.ImageKey, Label: o.Label, Key: o.Key}
}

// Report summarizes a page. Its JSON form is `tfrec preview --json`.
type Report struct {
	Status string `json:"status"` // "written", or "damaged" when there are faults
	Page   string `json:"page"`
	Bytes  int64  `json:"bytes"` // of the page
	// Records in the set, and how many of them are on the page.
	Records int64 `json:"records"`
	Shown   int   `json:"shown"`
	// Images on the page, and those among the records shown that could not be.
	Images     int `json:"pictures"`
	Unreadable int `json:"unreadable"`
	// Faults of the data, as far as reading shows; the page says them, too.
	Faults        []shard.Fault `json:"faults"`
	FaultsOmitted int64         `json:"faults_omitted,omitempty"`
	// MeasureSeconds of Seconds went into reading all records.
	MeasureSeconds float64 `json:"measure_seconds"`
	Seconds        float64 `json:"seconds"`
}

// origin is the manifests' information on how a set was made.
type origin struct {
	name, tool, fingerprint, decoder, encoder string
	options                                   []option
	errors                                    int64
}

type option struct{ name, value string }

// rawOption writes an option's value on one line.
func rawOption(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	s, _ = jsontext.Compact(raw)
	return s
}
