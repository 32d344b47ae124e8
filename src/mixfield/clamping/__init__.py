"""Where and how to cut: constraints, cells, multipliers, temperatures, criteria."""
