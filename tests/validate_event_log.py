#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates event logs against docs/reference/event-log.schema.json.

usage: validate_event_log.py SCHEMA (LOG | -- PROGRAM ARG...)

Each line of the log, or of what the program prints, must satisfy the schema; every type of event must
be rejected once one of its required keys is taken away, so that the schema itself is known to bite.
"""

import json
import subprocess
import sys

import jsonschema


def lines_of(arguments):
    if arguments[0] == "--":
        return subprocess.run(arguments[1:], check=True, capture_output=True, text=True).stdout.splitlines()
    with open(arguments[0], encoding="utf-8") as log:
        return log.read().splitlines()


def main():
    with open(sys.argv[1], encoding="utf-8") as schema_file:
        schema = json.load(schema_file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    required = {kind["title"]: kind["required"] for kind in schema["oneOf"]}
    lines = lines_of(sys.argv[2:])
    seen = set()
    for number, line in enumerate(lines, 1):
        event = json.loads(line)
        problem = jsonschema.exceptions.best_match(validator.iter_errors(event))
        if problem:
            sys.exit(f"line {number}: {problem.message}\n{line}")
        seen.add(event["type"])
        for key in required[event["type"]]:
            if validator.is_valid({k: v for k, v in event.items() if k != key}):
                sys.exit(f"line {number}: the schema does not miss '{key}'")
    if not lines:
        sys.exit("no events")
    print(f"{len(lines)} events valid, types: {', '.join(sorted(seen))}")


main()
