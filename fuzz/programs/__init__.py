"""Random instruction programs: the same bits on every engine and in every release.

Program number i depends on i alone: its bytes come from SHAKE-128, so that no library can change
them. What all engines agree on is folded into signatures, a line for each block of programs.
"""
