"""How each operation of a `.pto` program becomes a prepared step, a file for each family."""
