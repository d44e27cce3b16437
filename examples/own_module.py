"""A torch module of your own in a race with learners of the library: handwritten digits, each seen once.

pip install 'noregret[torch,sklearn]'
python examples/own_module.py
"""

import torch
from sklearn.datasets import load_digits

import noregret as nr
from noregret.torch import Online


class Digits(torch.nn.Module):
    """A small convolutional network for images of 8 x 8 pixels."""

    def __init__(self):
        super().__init__()
        self.see = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.look_closer = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.decide = torch.nn.Linear(32 * 2 * 2, 10)

    def forward(self, x):
        """Outputs for a batch of images: (rows, 1, 8, 8) becomes (rows, 10)."""
        x = torch.max_pool2d(torch.relu(self.see(x)), 2)
        x = torch.max_pool2d(torch.relu(self.look_closer(x)), 2)
        return self.decide(x.flatten(1))


def main():
    """Play all digits once, in their order, and print the leaderboard."""
    torch.manual_seed(0)
    X, y = load_digits(return_X_y=True)
    X = X / 16.0  # pixels from 0 to 1
    cnn = Online(Digits(), "cross_entropy", "adam", eta=0.003, shape=(1, 8, 8))
    remembers = Online(Digits(), "cross_entropy", "adam", eta=0.003, shape=(1, 8, 8), replay=500, replays=3)
    mlp = nr.make("mlp", layers=[100], optimizer="adam")
    leaderboard = nr.race((X, y), [cnn, remembers, mlp, "arow", "perceptron"], task="multiclass")
    print(leaderboard)
    return leaderboard


if __name__ == "__main__":
    main()
