package storage

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// borrowAll reads a file as a borrower that keeps less than it gets, and reads what is not lent. It
// returns all that it read, with the loans, in order.
func borrowAll(t *testing.T, file File, size int, r *rand.Rand) (got []byte, loans []*Loan) {
	t.Helper()
	for len(got) < size {
		n := 1 + r.IntN(1<<20)
		loan, err := file.(Lender).Borrow(int64(len(got)), n)
		if err != nil {
			t.Fatal(err)
		}
		if loan == nil {
			p := make([]byte, min(n, size-len(got)))
			if _, err := file.ReadAt(p, int64(len(got))); err != nil {
				t.Fatal(err)
			}
			got = append(got, p...)
			continue
		}
		loan.Keep(len(loan.Data) - r.IntN(min(len(loan.Data), 100_000)))
		got = append(got, loan.Data...)
		loans = append(loans, loan)
	}
	return got, loans
}

// What is borrowed is the object, in a request for each part, and stays what it is while others read
// and after the file was closed. Its memory is used again only after that.
func TestBorrow(t *testing.T) {
	const seed = 5
	f, root := newFake(t, nil)
	want := noise(firstPart + 4*partSize + 17)
	f.put("x", want)
	file := open(t, root+"/x")
	got, loans := borrowAll(t, file, len(want), rand.New(rand.NewPCG(seed, 1)))
	if !bytes.Equal(got, want) {
		t.Fatal("other bytes than the object's")
	}
	if f.opens != 6 {
		t.Errorf("%d requests, want one for each of 6 parts", f.opens)
	}
	if loan, err := file.(Lender).Borrow(int64(len(want)), 1); loan != nil || err != nil {
		t.Errorf("at the end: %v, %v", loan, err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	readAll(t, root+"/x", want) // in memory that nobody has
	at := 0
	for _, loan := range loans {
		n := len(loan.Data)
		if !bytes.Equal(loan.Data, want[at:at+n]) {
			t.Fatalf("bytes %d to %d changed while they were lent", at, at+n)
		}
		at += n
	}
	if at != len(want) {
		t.Errorf("%d bytes were lent, want all of %d", at, len(want))
	}
	for _, loan := range loans {
		loan.Release()
	}
}

// What a borrower keeps it may change: other readers of the object do not see that.
func TestBorrowedIsNotReadAgain(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(firstPart + partSize)
	f.put("x", want)
	file := open(t, root+"/x")
	_, loans := borrowAll(t, file, len(want)/2, rand.New(rand.NewPCG(5, 2)))
	for _, loan := range loans {
		clear(loan.Data)
	}
	r := rand.New(rand.NewPCG(5, 3))
	for range 50 {
		p := make([]byte, 1+r.IntN(50_000))
		at := r.IntN(len(want) - len(p))
		if _, err := file.ReadAt(p, int64(at)); err != nil || !bytes.Equal(p, want[at:at+len(p)]) {
			t.Fatalf("%d bytes at %d: %v, or they are the borrower's", len(p), at, err)
		}
	}
	for _, loan := range loans {
		loan.Release()
	}
}

// A loan has an error where ReadAt has one, and the next try another request.
func TestBorrowAfterFaults(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(firstPart + partSize)
	f.put("x", want)
	file := open(t, root+"/x")
	if _, err := file.ReadAt(make([]byte, firstPart), 0); err != nil {
		t.Fatal(err)
	}
	f.fault = func() error { return ErrChanged }
	if loan, err := file.(Lender).Borrow(firstPart, 100); err == nil {
		t.Fatalf("no error: %v", loan)
	}
	f.fault = nil
	p := make([]byte, 100)
	if _, err := file.ReadAt(p, firstPart); err != nil || !bytes.Equal(p, want[firstPart:firstPart+100]) {
		t.Errorf("after the fault: %v", err)
	}
}
