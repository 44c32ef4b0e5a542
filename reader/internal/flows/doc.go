// Package flows makes elements of records: values of a function, batches of records or columns, and
// stages on elements.
//
// A [Flow] opens a [Source], which returns elements with marks: the position after each of them, for a
// State. OpenWorkers is the engine of all flows over records: one goroutine cuts the blocks of a stream
// into portions, workers make each into a value, and the consumer receives the values in the order of
// their records. Stages that count or hold elements add a section to the State.
package flows
