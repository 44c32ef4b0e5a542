// Package write makes sets from the records of a Go program: rows of a database, messages of a
// queue, anything that arrives one by one.
//
//	set, err := write.Create(ctx, "rows", write.Options{Shards: 16, Labels: names})
//	if err != nil {
//		return err
//	}
//	defer set.Close() // removes everything unless Finish succeeded
//	for row := range rows {
//		e := set.Example(row.Key) // the key decides split, shard and position
//		e.Label("label", row.Class)
//		e.Float("x", row.X...)
//		if err := e.Write(); err != nil { // from any goroutine
//			return err
//		}
//	}
//	report, err := set.Finish()
//
// A record goes through four places:
//
//	Example.Write ─► lane ─► spill.Sorter ─► shard files ─► manifest
//	 encode, frame   scan     by split,       cut evenly     features, labels,
//	 with CRCs       features place, key      in that order  counts, ledger
//
// The place of a record is a hash of its key and the seed, so the bytes of a set depend on its
// records and options, never on the number of goroutines or on the order in which they write. With
// [Options.InOrder] the place is the number of the record. Records that exceed [Options.Memory] are
// sorted in a temporary file in the directory of the set.
//
// Nothing of a set is visible before Finish has written all of it: the manifest comes last, and a set
// that replaces another one ([Options.Overwrite]) does so in one step.
package write
