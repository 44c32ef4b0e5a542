package option

// Group is the title under which help lists an option.
type Group string

// The groups of options.
const (
	Source  Group = "Source"
	Labels  Group = "Labels and annotations"
	Splits  Group = "Splits and shards"
	Resize  Group = "Resize"
	Augment Group = "Augment"
	Storage Group = "Storage"
	Run     Group = "Run"
	Machine Group = "Machine"
)

// Groups lists the groups in the order of the help.
var Groups = []Group{Source, Labels, Splits, Resize, Augment, Storage, Run, Machine}

// FirstVersion is the version that introduced options without Since.
const FirstVersion = "0.1.0"

// In puts the rows without a group into g.
func In(g Group, rows []Option) []Option {
	for i := range rows {
		if rows[i].Group == "" {
			rows[i].Group = g
		}
	}
	return rows
}
