package storage

// Loan is a stretch of an object in memory that was read ahead, without a copy of it. The memory
// of a part (4 MiB) is used again after all loans of it were released; loans that never are, are
// left to the garbage collector. The object may be closed before.
type Loan struct {
	// Data is the stretch, which is the borrower's.
	Data []byte

	ahead  *ahead
	part   *part
	offset int64
}

// Lender is a File that lends what it has read ahead: an object.
type Lender interface {
	// Borrow returns up to n bytes that were read ahead, starting at off. They come from a single
	// part, so there are fewer at the end of one. Borrow waits for the part, and requests the next
	// ones if off is where the last read stopped or up to a part before that. It returns nil where
	// ReadAt would not read ahead either: after a jump and at the end. It is for a single
	// goroutine, which may also use ReadAt.
	Borrow(off int64, n int) (*Loan, error)
}

// Borrow implements Lender.
func (o *object) Borrow(off int64, n int) (*Loan, error) {
	if off < 0 || off >= o.is.Size || n <= 0 {
		return nil, nil
	}
	a := &o.ahead
	a.mu.Lock()
	defer a.mu.Unlock()
	sequential := off > 0 && off <= a.next && a.next-off < partSize
	if !a.follow(off, sequential) {
		return nil, nil
	}
	part, err := a.wait(off, sequential)
	if err != nil {
		return nil, err
	}
	end := min(part.end(), off+int64(n))
	a.next = end
	part.loans++
	return &Loan{part.data[off-part.offset : end-part.offset : end-part.offset], a, part, off}, nil
}

// Keep shortens the loan to its first n bytes. They are not given to any other reader of the
// object, which may fetch them again: the borrower may change them.
func (l *Loan) Keep(n int) {
	l.ahead.mu.Lock()
	defer l.ahead.mu.Unlock()
	l.Data = l.Data[:n:n]
	l.part.begin = max(l.part.begin, l.offset+int64(n))
}

// Release ends the loan.
func (l *Loan) Release() {
	l.ahead.mu.Lock()
	defer l.ahead.mu.Unlock()
	l.Data = nil
	l.part.loans--
	l.part.recycleUnused()
}
