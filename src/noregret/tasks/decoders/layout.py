"""The columns of the truth that loops over structured rounds read and write.

A round is a group of consecutive rows. Its first row has the sizes of the group; every row has a code of the right
output and one of the output that was chosen, -1 where it has none.
"""

ROWS = 0  # rows of the group (first row)
LENGTH = 1  # positions of the group, such as tokens (first row)
KNOWN = 2  # classes known when the round is predicted (first row)
AFTER = 3  # classes known once its truth is revealed (first row)
WIDTH = 4  # scores of a row (first row)
TRUTH = 5  # the code of a row in the right output
CHOSEN = 6  # its code in the output that was found
TRUTH2 = 7  # a second code of each row, for decoders that need one
CHOSEN2 = 8
LOSS = 9  # the loss that is reported of the prediction (first row)
WRONG = 10  # what is wrong with the prediction, by the loss of the decoder (first row)
COLUMNS = 11
