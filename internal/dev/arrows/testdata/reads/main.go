// Command reads counts the records of a set: a program that only reads, for
// measuring what that costs (docs/notes/design.md).
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tfrec/tfrec/reader"
)

func main() {
	set, err := reader.Open(context.Background(), os.Args[1], reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	records := 0
	for _, err := range set.Records().All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		records++
	}
	fmt.Println(records)
}
