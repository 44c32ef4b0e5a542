// Package carried determines what new records take over from the TFRecords that they are made from: the
// [Features] that are copied, and the names of the [Labels].
//
// A walker adds each record of the source; afterwards the features are described for the manifest.
package carried
