// Package splice changes features of serialized tf.train.Examples without decoding them: it drops and
// renames features by their keys ([Pool]), and replaces lists of integers ([AppendInts]).
//
//	record ──► fields of the Example ──► entries of the map of features ──► record
//	           (others are copied)       (copied, left out, renamed, replaced)
//
// Whatever is not changed keeps its bytes, also fields that later versions of the messages add. Keys
// that were sorted stay sorted. A record that is not an Example is an error, which has an offset and
// no file: the package knows neither files nor verbs.
package splice
