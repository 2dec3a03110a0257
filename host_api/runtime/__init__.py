"""The runtime above the host API: tensors and layouts, binaries, several devices, affinities, evaluation."""
