package recolor

// Levels holds the new level of each of the 256 levels.
type Levels [256]uint8

// andThen applies another table to each level.
func (t *Levels) andThen(next *Levels) {
	for v, to := range t {
		t[v] = next[to]
	}
}

// ChannelLevels is a table for each channel.
type ChannelLevels [3]Levels
