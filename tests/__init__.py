"""Tests in the rooms of what they test; helpers are imported as `tests.ROOM.HELPER`."""
