"""``burstline completion``: let the shell complete commands and options."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from burstline.cli.commands import command_parsers

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class _Word(NamedTuple):
    """An option or argument of a command, and the values it may take."""

    names: tuple[str, ...]
    values: tuple[str, ...]


def run(arguments: argparse.Namespace) -> None:
    """Print the script for the shell."""
    commands = {name: _words(parser) for name, parser in command_parsers().items()}
    if arguments.shell == "fish":
        sys.stdout.writelines(f"{line}\n" for line in _fish(commands))
        return
    head = _ZSH_HEAD if arguments.shell == "zsh" else ""
    sys.stdout.write(head + _bash(commands))


def _words(parser: argparse.ArgumentParser) -> tuple[_Word, ...]:
    """The words of a command; argparse has no public way to ask."""
    return tuple(
        _Word(tuple(each.option_strings), tuple(map(str, each.choices or ())))
        for each in parser._actions  # noqa: SLF001 -- see above
        if each.help != argparse.SUPPRESS
    )


def _bash(commands: dict[str, tuple[_Word, ...]]) -> str:
    values, options = [], []
    for name, words in commands.items():
        known = " ".join(option for word in words for option in word.names)
        options.append(f'                {name}) words="{known}" ;;')
        for word in words:
            if word.values:
                patterns = " | ".join(f'"{name} {before}"' for before in word.names or (name,))
                values.append(f'        {patterns}) words="{" ".join(word.values)}" ;;')
    return _BASH.format(
        commands=" ".join(commands), values="\n".join(values), options="\n".join(options)
    )


def _fish(commands: dict[str, tuple[_Word, ...]]) -> Iterator[str]:
    names = " ".join(commands)
    yield f"complete -c burstline -n __fish_use_subcommand -f -a '{names}'"
    for name, words in commands.items():
        here = f"complete -c burstline -n '__fish_seen_subcommand_from {name}'"
        for word in words:
            flags = "".join(
                f" -{'l' if option.startswith('--') else 's'} {option.lstrip('-')}"
                for option in word.names
            )
            values = f" -x -a '{' '.join(word.values)}'" if word.values else ""
            if flags or values:
                yield f"{here}{flags}{values}"
