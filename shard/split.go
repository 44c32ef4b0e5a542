package shard

// SplitSummary is the size of a split.
type SplitSummary struct {
	Records int64 `json:"records"`
	Shards  int   `json:"shards"`
}

// SplitShare is a split's name and its share of the samples.
type SplitShare struct {
	Name  string
	Share float64 // above 0, at most 1; the shares of all splits add up to 1
}
