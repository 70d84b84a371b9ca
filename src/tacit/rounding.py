"""How far floating point may be off: the one place for the slack that bounds and noise scales are enlarged by.

A proof speaks of real numbers, and float64 computes with rounded ones: each operation is off by a factor within
1 +- 2^-53, about 1.1e-16. So a bound that is proved for real numbers is multiplied by a factor above 1, which covers
the operations between the row and the number. The comment of each factor says which operations it covers.
"""

UNIT_ROUNDOFF = 2.0**-53  # The largest relative error of one operation in float64.
OPERATION_SLACK = 1 + 1e-15  # Covers a square root and a product or two; there is room for nine operations.
ROW_SLACK = 1 + 1e-12  # Covers the few hundred operations on one row's contribution; there is room for 9,000.
LONG_ROW_SLACK = 1 + 1e-11  # Covers up to ten thousand operations on one row's contribution; there is room for 90,000.
SCALE_SLACK = 1 + 2.0**-48  # Covers the few operations on a noise scale, so that it is never under the true one.
SMOOTH_SLACK = 1 + 2.0**-38  # Covers a smooth bound; the notes of BlockCentre and TrimmedMeans have the proof.
SMOOTHNESS_SLACK = 2.0**-36  # Smooth bounds are computed for this much less smoothness than was asked for; see there.
FORMULA_SLACK = 1 + 1e-9  # Covers scipy's special functions, and formulas that contain several of them.
