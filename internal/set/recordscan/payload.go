package recordscan

// Sizes around the payload of a frame: its length and its checksum in front, and its own checksum.
const (
	header = 8 + 4
	footer = 4
)

// Payload returns the payload of a whole frame, without copying or checking it.
func Payload(frame []byte) []byte { return frame[header : len(frame)-footer] }
