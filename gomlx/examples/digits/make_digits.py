"""Write digits.csv.gz from the digits of scikit-learn 1.9, which has them from UCI.

    python make_digits.py digits.csv.gz

Each line is an image: 8x8 samples from 0 to 16, row by row, and the digit.
"""

import gzip
import sys

from sklearn.datasets import load_digits

digits = load_digits()
lines = [",".join(str(int(x)) for x in [*image, label]) + "\n" for image, label in zip(digits.data, digits.target)]
with open(sys.argv[1], "wb") as f:
    # Without a name and a time in the header, so that the file is the same every time.
    f.write(gzip.compress("".join(lines).encode(), 9, mtime=0))
