"""The dictionary that new files get."""

from importlib import resources

DICTIONARY_2 = resources.files("journal.stores").joinpath("dictionary_2.bin").read_bytes()
