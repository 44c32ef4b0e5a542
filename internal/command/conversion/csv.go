package conversion

import "github.com/spf13/cobra"

func newConvertCSVCommand(e *Engine) *cobra.Command {
	return newTableCommand(e, &cobra.Command{
		Use:   "csv SRC... OUT",
		Short: "Convert CSV files to shards",
		Long: `Convert the rows of CSV files to a sharded set of TFRecords in OUT.

SRC is a file, a glob, a pipe or - for stdin, plain or compressed with gzip or zstd.
Pipes are first copied to the system's temporary directory. Each column is a feature:
int64 when all of its values are integers, float when all are numbers, bytes
otherwise (numbers with leading zeros, a plus sign or more digits than int64
holds are kept as bytes). Types are inferred over the whole input; --column
and --schema set them. Rows keep the order of the input unless --shuffle is given.

Fields may be quoted as Python's csv module writes them. Rows with too few or too
many fields, with values that are not of the type of their column, or without the
label of --label, are listed in OUT/errors.jsonl with file and line; --max-errors says
how many are allowed.`,
		Example: `  tfrec convert csv trips.csv out/
  tfrec convert csv 'part-*.csv.gz' out/ --splits train=0.9,val=0.1 --shuffle
  tfrec convert csv card.csv out/ --vector v=V1..V28 --label Class --column Amount=float
  tfrec convert csv trips.csv --print-schema > schema.json`,
	})
}
