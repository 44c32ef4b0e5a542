// Package imagerecord makes records of samples.
//
// A [Maker] makes records in batches, from [Maker.Make] downward: read, decode, transform on a backend,
// encode, build the record, and frame it in a piece. What one sample needs on the way is its [Work],
// which is used again for another one. Annotations follow the pixels by package placed.
package imagerecord
