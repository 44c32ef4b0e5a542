package storage

import "sync"

// firstPart is the size of the first request, which opens an object. Most images fit in it, and it
// is small enough to waste little if the bytes are not needed.
const firstPart = 256 << 10

// partSize is the size of requests while an object is read sequentially. Requests cost a round trip
// of 10 to 100 ms; at 100 MB/s a connection, 4 MiB keep it busy for longer than that.
const partSize = 4 << 20

// mostAhead is the maximum number of parts of an object to request ahead of its reader.
const mostAhead = 4

// MaxAhead bounds the memory for read-ahead, over all objects, in bytes. It does not include the
// part that each reader waits for, of up to 4 MiB.
const MaxAhead = 256 << 20

// held counts the bytes of MaxAhead in use by parts that were requested ahead.
var held struct {
	sync.Mutex
	bytes int64
}

func hold(n int64) bool {
	held.Lock()
	defer held.Unlock()
	if held.bytes+n > MaxAhead {
		return false
	}
	held.bytes += n
	return true
}

func release(n int64) {
	held.Lock()
	defer held.Unlock()
	held.bytes -= n
}
