"""What the benchmark scripts share. Needs nothing beyond Debian's python3, numpy, h5py and matplotlib."""
