"""Settings of the cards that meshes are made of, where these are not those of the architecture's usual board."""

# The library dispatches on Ethernet tiles of an n300, so that all eight rows of its chips compute
N300 = ("board=n300", "boards.n300.rows=[1, 2, 3, 4, 7, 8, 9, 10]")
CARDS = {"n300": N300, "t3k": N300}  # by name of the mesh
