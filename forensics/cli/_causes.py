"""``forensics causes``: list or explain every root cause."""

import argparse

from forensics.errors import UsageError


class Causes:
    """List every root cause the tool can name, or explain one."""

    name = "causes"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("cause", metavar="CAUSE", nargs="?", help="the cause to explain")

    def run(self, args: argparse.Namespace) -> int:
        """Do it and return the exit status."""
        from forensics.causes import all_causes

        causes = {c.name: c for c in all_causes()}
        if args.cause is not None:
            if args.cause not in causes:
                raise UsageError(f"{args.cause}: no such cause (list them with: forensics causes)")
            print(causes[args.cause].page)
            return 0
        width = max(len(name) for name in causes)
        for family in dict.fromkeys(c.family for c in causes.values()):
            print(f"\n{family}")
            for cause in (c for c in causes.values() if c.family is family):
                print(f"  {cause.name:<{width}}  {cause.title}")
        return 0


COMMAND = Causes()
