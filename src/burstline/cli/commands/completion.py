"""``burstline completion``: let the shell complete commands and options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Final

from burstline.cli.parser import command_parsers

DESCRIPTION: Final = "Print a script that teaches a shell burstline's commands and options."
EXAMPLES: Final = """\
examples:
  burstline completion bash >> ~/.bashrc
  burstline completion zsh >> ~/.zshrc
  burstline completion fish > ~/.config/fish/completions/burstline.fish
"""
OPTIONS: Final = {"shell {bash,zsh,fish}": ""}
_BASH: Final = """\
_burstline() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    else
        case "${{COMP_WORDS[1]}} $before" in
{values}
        *)
            case "$current" in
            -*)
                case "${{COMP_WORDS[1]}}" in
{options}
                esac ;;
            esac ;;
        esac
    fi
    [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _burstline burstline
"""
_ZSH_HEAD: Final = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n"


Word = tuple[list[str], list[str]]  # an option or argument, and the values it may take


def run(arguments: argparse.Namespace) -> None:
    """Print the script for the shell."""
    commands = {name: _words(parser) for name, parser in command_parsers().items()}
    if arguments.shell == "fish":
        sys.stdout.writelines(f"{line}\n" for line in _fish(commands))
        return
    head = _ZSH_HEAD if arguments.shell == "zsh" else ""
    sys.stdout.write(head + _bash(commands))


def _words(parser: argparse.ArgumentParser) -> list[Word]:
    """The words of a command; argparse has no public way to ask."""
    return [
        (list(each.option_strings), list(map(str, each.choices or ())))
        for each in parser._actions  # noqa: SLF001 -- see above
        if each.help != argparse.SUPPRESS
    ]


def _bash(commands: dict[str, list[Word]]) -> str:
    values, options = [], []
    for name, words in commands.items():
        every = " ".join(option for names, _ in words for option in names)
        options.append(f'                {name}) words="{every}" ;;')
        for names, choices in words:
            if choices:
                patterns = " | ".join(f'"{name} {before}"' for before in names or (name,))
                values.append(f'        {patterns}) words="{" ".join(choices)}" ;;')
    return _BASH.format(
        commands=" ".join(commands), values="\n".join(values), options="\n".join(options)
    )


def _fish(commands: dict[str, list[Word]]) -> Iterator[str]:
    names = " ".join(commands)
    yield f"complete -c burstline -n __fish_use_subcommand -f -a '{names}'"
    for name, words in commands.items():
        here = f"complete -c burstline -n '__fish_seen_subcommand_from {name}'"
        for options, choices in words:
            flags = "".join(
                f" -{'l' if option.startswith('--') else 's'} {option.lstrip('-')}"
                for option in options
            )
            values = f" -x -a '{' '.join(choices)}'" if choices else ""
            if flags or values:
                yield f"{here}{flags}{values}"
