"""Practice: tools around any learner: Boolean targets, epochs, online to batch, line searches, batch descent."""
