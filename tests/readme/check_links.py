#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every link of our pages leads somewhere: relative links name files that are there, anchors name headings, and pages
of docs/ that sources, scripts and packages mention by path exist. Reads files only.

usage: check_links.py [SOURCE_FOLDER]"""

import os
import re
import sys

SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__", ".pytest_cache"}
MENTION = re.compile(r"\bdocs/(?:guide|reference|design|evidence|images)?/?[\w.-]+\.(?:md|json|csv|png)\b")
TEXT = (".md", ".cpp", ".h", ".c", ".py", ".mjs", ".ts", ".toml", ".txt", ".in", ".cmake", ".yml", ".8", ".service")


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
        for name in sorted(names):
            yield os.path.join(folder, name)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def without_code(text):
    """The text with code blocks and code spans blanked, line for line."""
    kept, fence = [], None
    for line in text.splitlines():
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None and mark and line.strip() == fence:
            fence, line = None, ""
        kept.append("" if fence is not None else re.sub(r"`[^`]*`", "", line))
    return kept


def anchors(text):
    """The names that headings have on a page, as GitHub makes them."""
    found, fence = set(), False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fence = not fence
        heading = None if fence else re.match(r"#+\s+(.*?)\s*#*$", line)
        if heading:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            number, unique = 0, name
            while unique in found:
                number += 1
                unique = f"{name}-{number}"
            found.add(unique)
        found.update(re.findall(r'<a id="([^"]+)"', line))
    return found


def broken_links(path):
    text = read(path)
    for number, line in enumerate(without_code(text), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(file):
                yield number, f"leads nowhere: {target}"
            elif anchor and anchor not in anchors(read(file)):
                yield number, f"no such heading: {target}"


def broken_mentions(root, path):
    for number, line in enumerate(read(path).splitlines(), 1):
        for mention in sorted(set(MENTION.findall(line))):
            if not os.path.exists(os.path.join(root, mention)):
                yield number, f"no such page: {mention}"


def is_text(path):
    if path.endswith(TEXT) or os.path.basename(path) == "Makefile":
        return True
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def problems(root):
    for path in files(root):
        if path.endswith(".md"):
            yield from ((path, *problem) for problem in broken_links(path))
        if is_text(path):
            yield from ((path, *problem) for problem in broken_mentions(root, path))


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../.."))
    found = [f"{os.path.relpath(path, root)}:{line}: {what}" for path, line, what in problems(root)]
    print("\n".join(found) or "every link leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
