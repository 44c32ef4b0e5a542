package conversion

import "github.com/spf13/cobra"

func newConvertCSVCommand(e *Engine) *cobra.Command {
	return newTableCommand(e, &cobra.Command{
		Use:   "csv SRC... OUT",
		Short: "Convert CSV files to shards",
		Long: `Convert the rows of CSV files to a sharded set of TFRecords in OUT. SRC is a file, a
glob, a pipe or - for stdin, plain or compressed. Each column is a feature, whose type
is inferred over the whole input. Rows keep the order of the input unless --shuffle is
given; those that cannot be used are listed in OUT/errors.jsonl.`,
		Example: `  tfrec convert csv trips.csv out/
  tfrec convert csv 'part-*.csv.gz' out/ --splits train=0.9,val=0.1 --shuffle
  tfrec convert csv card.csv out/ --vector v=V1..V28 --label Class --column Amount=float
  tfrec convert csv trips.csv --print-schema > schema.json`,
	})
}
