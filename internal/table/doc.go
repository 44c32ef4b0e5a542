// Package table defines typed tables, whatever their format: columns that become features, and rows
// that are read in chunks. The formats are packages of their own below it.
//
// Like a CSV (package csvscan), a table is read twice. Scan finds the columns, the rows and their
// chunks; Read reads any chunk, in parallel where the format allows it.
//
//	t, err := src.Scan(ctx, table.ScanOptions{Workers: 8})
//	var b table.Batch
//	for _, c := range t.Chunks {
//		if err := src.Read(ctx, c, t.Columns, &b); err != nil {
//			return err
//		}
//		for row := range b.Rows {
//			use(b.Columns[0].Ints[row])
//		}
//	}
package table
