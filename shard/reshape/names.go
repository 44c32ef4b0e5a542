package reshape

import (
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
)

// ownOptions are the names of the options that only some verbs have, by verb and by the keys under
// which manifests and run states record them.
var ownOptions = map[string]map[string]optname.Name{
	"reshard": {"shuffle": optname.ReshardOptionsShuffle, "sort_by": optname.ReshardOptionsSortBy, "group_by": optname.ReshardOptionsGroupBy},
	"split": {
		"splits": optname.ResplitOptionsSplits, "by_hash": optname.ResplitOptionsByHash, "stratify": optname.ResplitOptionsStratify,
		"together": optname.ResplitOptionsTogether, "list": optname.ResplitOptionsList, "key": optname.ResplitOptionsKey,
	},
	"filter":   {"where": optname.FilterOptionsWhere},
	"dedupe":   {"by": optname.DedupeOptionsBy},
	"sample":   {"count": optname.SampleOptionsCount, "share": optname.SampleOptionsShare},
	"take":     {"count": optname.TakeOptionsCount, "skip": optname.TakeOptionsSkip},
	"features": {"select": optname.ReshapeSelectFeatures, "drop": optname.ReshapeDropFeatures, "rename": optname.ReshapeRenameFeatures},
}

// newVerb returns the verb with a name, which copies all records in order.
func newVerb(name string) *rearrange.Verb {
	return &rearrange.Verb{Name: name, Names: ownOptions[name]}
}
