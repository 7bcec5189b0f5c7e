#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_schema.py REPORT.json SCHEMA.json: exit code 1 with the reason unless valid."""

import json
import sys

import jsonschema


def validator_of(schema):
    """The validator of the schema. Raises SchemaError if the schema itself is invalid."""
    validator_class = jsonschema.validators.validator_for(schema)
    validator_class.check_schema(schema)
    return validator_class(schema)


def problems(report, schema):
    """A text per violation of the schema; none if the report is valid."""
    return problems_by(validator_of(schema), report)


def problems_by(validator, report):
    """Like problems(), by a validator that was made before, because making it takes longest."""
    errors = validator.iter_errors(report)
    return [f"{error.json_path}: {error.message[:500]}" for error in errors]


def load(path):
    """The JSON in a file. Refuses NaN and Infinity, which Python accepts but JSON does not."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        found = problems(load(sys.argv[1]), load(sys.argv[2]))
    except (OSError, ValueError, jsonschema.SchemaError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    if found:
        sys.exit("\n".join(f"{sys.argv[1]}: {problem}" for problem in found))


if __name__ == "__main__":
    main()
