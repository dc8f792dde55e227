"""Lane-level models: compare-exchange networks, the four-way merger and the compactor.

The third way of computing each instruction, and the one that shows how the hardware does it.
It shares nothing with the reference or the kernels but the definition of the order.
"""
