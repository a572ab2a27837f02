"""Numbers of Schnabel et al. (2016), Table 1 and Fig. 2, worked out in closed form apart from this program."""

# mean absolute error in all cells, in expectation over observed cells, and deviations of IPS and SNIPS; alpha = 1/4
MAE = {
    "REC_ONES": (0.1021, 0.0108, 0.0069, 0.0068),
    "REC_FOURS": (0.0255, 0.1733, 0.0002, 0.0003),
    "ROTATE": (2.5787, 1.1675, 0.0317, 0.0121),
    "SKEWED": (1.3049, 0.9122, 0.0150, 0.0095),
    "COARSENED": (1.3199, 0.3876, 0.0160, 0.0056),
}
# mean squared error over observed cells for each alpha; the first, at alpha = 1, is that of all cells
MSE = {
    "REC_ONES": (0.4083, 0.1784, 0.0433, 0.0072, 0.0010, 0.0001),
    "REC_FOURS": (0.0255, 0.0892, 0.1733, 0.2304, 0.2604, 0.2753),
    "ROTATE": (8.8936, 4.4482, 1.8376, 1.1392, 1.0197, 1.0026),
    "SKEWED": (2.7810, 2.1111, 1.4323, 1.0615, 0.8961, 0.8211),
    "COARSENED": (2.3724, 1.2201, 0.4993, 0.3017, 0.2752, 0.2785),
}
# deviations of IPS and SNIPS of the mean squared error, at alpha = 1/4 and 1/32
MSE_DEVIATIONS = {
    "REC_ONES": ((0.0278, 0.0273), (0.5002, 0.4907)),
    "REC_FOURS": ((0.0002, 0.0003), (0.0001, 0.0037)),
    "ROTATE": ((0.1262, 0.0604), (2.2715, 1.0179)),
    "SKEWED": ((0.0520, 0.0446), (0.9122, 0.7866)),
    "COARSENED": ((0.0317, 0.0136), (0.5681, 0.2323)),
}
