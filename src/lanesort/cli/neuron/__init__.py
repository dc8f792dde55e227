"""``lanesort neuron``: words and programs of NeuronCore."""

from __future__ import annotations

from collections.abc import Mapping

import cyclopts

__all__ = ["COMMANDS", "app"]

COMMANDS: Mapping[str, str] = {
    "decode": "lanesort.cli.neuron.decode:decode",
    "dump": "lanesort.cli.neuron.dump:dump",
    "encode": "lanesort.cli.neuron.encode:encode",
    "images": "lanesort.cli.neuron_images:images",
    "run": "lanesort.cli.neuron.run:run",
    "step": "lanesort.cli.neuron.step:step",
    "validate": "lanesort.cli.neuron.validate:validate",
}
"""Each command and where it lives; it is imported when it is called."""

app = cyclopts.App(name="neuron", help="Decode, check and run instruction words of NeuronCore.")
for _name, _where in COMMANDS.items():
    app.command(_where, name=_name)
