// Package coco reads COCO's instances files: JSON with images, categories, and annotations with
// boxes, polygons or run-length encodings.
//
//	set, err := coco.Read(ctx, "instances_train2017.json", annotation.Options{Regions: true})
//
// A file of any size is read as a stream, plain or compressed with gzip or zstd. A splitter finds
// where the elements of the three lists begin and end, whose order does not matter, and workers
// parse them in batches. Memory is proportional to the retained data: some 250 bytes an annotation,
// half of which remain, and the regions if Options.Regions is set.
//
// # Errors
//
// A file that is not JSON is an error with an offset in bytes, which counts uncompressed; so is one
// without one of the three lists, or with images or categories that contradict each other. Of other
// members of the file, only the nesting is checked. Text that Python's json writes is read: NaN and
// Infinity are numbers, and half a surrogate pair is U+FFFD.
//
// An annotation, an image or a category that is valid JSON but cannot be used is an
// [annotation.Fault], and does not affect others. An image without an id is unreadable, and one
// without a name, like a category without id or name, is unknown to annotations. Of the annotations
// of unknown images, a thousand are faults, and one more fault counts the others. An invalid width,
// height or area counts as not stated.
//
// # Ids
//
// Ids of images and annotations are text: integers of any size, strings, and numbers without a
// fraction, so that 7, 7.0 and "7" are the same. Ids of categories fit int64. LVIS, which gives
// URLs and not names of files, is read as well; an image's name is then the URL's path.
package coco
