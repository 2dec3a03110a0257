"""The vendor's own library on simulated chips: what it hands to its compiler and to its device."""
