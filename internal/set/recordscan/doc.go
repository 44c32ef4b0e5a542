// Package recordscan reads files of records for the verbs that look at all of them: it opens a
// file, counts and limits the bytes read, and recognises the types of values.
//
//	f, err := recordscan.Open(ctx, path)
//	in := &recordscan.Meter{Context: ctx, File: f, Done: &progress.Done}
//	r.Reset(in, path)
//	for {
//		record, err := r.Next()
//		if in.Err != nil {
//			return in.Err // the file cannot be read: not a fault of the data
//		}
//	}
package recordscan
