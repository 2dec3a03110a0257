"""Operations of whole networks, as the vendor's library runs them: `model_operations.csv`."""
