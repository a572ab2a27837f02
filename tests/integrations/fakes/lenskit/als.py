class ImplicitMFScorer:
    def __init__(self, embedding_size=50, epochs=10):
        self.embedding_size, self.epochs = embedding_size, epochs
