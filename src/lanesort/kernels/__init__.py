"""The fast library: one thin module per verb over the native core."""
