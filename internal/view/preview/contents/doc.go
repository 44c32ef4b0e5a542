// Package contents describes a set to a preview: its files, the features with images, labels and
// names, and the classes of objects. It chooses the records to show, and reads them.
//
//	set := contents.New(sources, files)
//	err := set.Fetch(ctx, places, workers, take)
//
// Summaries of files flow in; places of records, and then their bytes, flow out. The same set and
// seed always give the same records, whatever the workers. An index is never trusted: if an offset
// does not lead to a record with a valid checksum, the file is read from its beginning.
package contents
