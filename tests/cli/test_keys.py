#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The input keys: --help KEY, --list-keys, and the files that list them."""

import json
import os
import re
import shutil
import subprocess
import unittest
import unittest.mock

import harness

import check_schema

# Files that ci/update-keys.sh updates.
UPDATED = ["docs/input.md", "docs/report.schema.json", "inputs/tgv64.yaml"]


class Help(harness.CliTest):
    """--help KEY."""

    def said(self, ranks, *arguments):
        """The program's stdout. Stderr must be empty."""
        run = self.run_program(ranks, *arguments)
        self.assertEqual(run.code, 0, str(run))
        self.assertEqual(run.err, "", str(run))
        self.assert_readable(run)
        self.assert_files(run)
        return run.out

    def test_of_a_key(self):
        text = self.said(0, "--help", "solver.tolerance")
        self.assertRegex(text, r"\Asolver\.tolerance\n  type +number\n  allowed +a number >= 0 and < 1\n"
                               r"  default +0\n  meaning +CG stops")
        self.assertEqual(self.said(0, "-h", "solver.tolerance"), text)
        self.assertEqual(self.said(0, "--help=solver.tolerance"), text)
        self.assertEqual(self.said(2, "--help", "solver.tolerance"), text)
        self.assertEqual(self.said(0, "smoke.yaml", "--help", "solver.tolerance"), text)
        self.assertEqual(self.said(0, "--help", "solver.tolerance", "--full"), text)

    def test_of_a_section(self):
        text = self.said(0, "--help", "gather_scatter.tuning")
        keys = re.findall(r"^(\S+)\n", text, re.MULTILINE)
        self.assertEqual(keys[0], "gather_scatter.tuning")
        self.assertIn("gather_scatter.tuning.early_stop", keys)
        self.assertTrue(all(key.startswith("gather_scatter.tuning") for key in keys), text)

    def test_without_a_key_is_about_the_command_line(self):
        text = self.said(0, "--help")
        self.assertIn("--list-keys", text)
        for arguments in (["smoke.yaml", "--help"], ["--help", "--dry-run"], ["--set", "a=b", "-h"]):
            self.assertEqual(self.said(0, *arguments), text, str(arguments))

    def test_of_an_unknown_key_names_the_nearest(self):
        for ranks, key, nearest in [(0, "solver.tolerence", "'solver.tolerance'"), (0, "tolerance", "'solver.tolerance'"),
                                    (2, "solvr", "'solver'"), (0, "smoke.yaml", "--list-keys")]:
            with self.subTest(key):
                run = self.run_program(ranks, "--help", key)
                self.assertEqual(run.code, 2, str(run))
                self.assertEqual(run.out, "", str(run))
                [message] = run.messages()
                self.assertIn(f"--help {key}: no such key of the input file", message)
                self.assertIn(nearest, message)
                self.assert_no_traces(run)

    def test_neither_mpi_nor_kokkos_starts(self):
        """--help works on a login node. Kokkos, which starts first, would fail in this environment."""
        with unittest.mock.patch.dict(os.environ, KOKKOS_DEVICE_ID="abc"):
            self.assertEqual(self.run_program(0, "smoke.yaml", "--dry-run").code, 4)
            for arguments in (["--help"], ["--help", "orders"], ["--list-keys"], ["smoke.yaml", "--list-keys"],
                              ["--list-strategies"], ["--version"], ["doctor", "--help"]):
                self.said(0, *arguments)
            self.assertEqual(self.run_program(0, "--help", "qwxz").code, 2)


class List(harness.CliTest):
    """--list-keys."""

    def listed(self, *arguments, folder=None):
        run = self.run_program(0, *arguments, folder=folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertEqual(run.err, "", str(run))
        return run.out

    def test_is_an_input_of_defaults(self):
        folder = self.new_folder()
        (folder / "all.yaml").write_text(self.listed("--list-keys"), encoding="utf-8")
        (folder / "none.yaml").write_text("{}\n", encoding="utf-8")
        self.listed("all.yaml", "--dry-run", folder=folder)
        for name in ("all.yaml", "none.yaml"):
            self.assertEqual(self.listed(name, "--list-keys", folder=folder), self.listed("--list-keys"), name)

    def test_of_an_input_has_its_values(self):
        text = self.listed("smoke.yaml", "--list-keys", "--set", "solver.iterations=7")
        for line in ("  elements: [6, 4, 4]", "  iterations: 7", "  strategies: [all]", "  json: smoke.json"):
            self.assertIn(f"\n{line}\n", text)
        keys = r"^( *[a-z_]+:)"
        self.assertEqual(re.findall(keys, text, re.MULTILINE),
                         re.findall(keys, self.listed("--list-keys"), re.MULTILINE))

    def test_of_an_input_for_several_ranks(self):
        folder = self.new_folder()
        (folder / "pinned.yaml").write_text("mesh: {elements: [4, 4, 4], partition: [2, 2, 1]}\n")
        run = self.run_program(0, "pinned.yaml", "--list-keys", folder=folder)
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"(?m)^  partition: \[2, 2, 1\]$", str(run))

    def test_of_settings_alone(self):
        run = self.run_program(0, "--list-keys", "--set", "solver.order=3")
        self.assertEqual(run.code, 0, str(run))
        self.assertRegex(run.out, r"(?m)^  order: 3$", str(run))

    def test_of_an_input_that_is_wrong(self):
        for arguments, words in [(["missing.yaml", "--list-keys"], "missing.yaml: no such file"),
                                 (["smoke.yaml", "--list-keys", "--set", "solver.order=99"], "given '99'"),
                                 (["--list-keys=html"], "allowed: one of yaml, markdown, schema, report-schema")]:
            run = self.run_program(0, *arguments)
            self.assertEqual(run.code, 2, str(run))
            self.assertEqual(run.out, "", str(run))
            [message] = run.messages()
            self.assertIn(words, message)

    def test_as_a_schema(self):
        schema = json.loads(self.listed("--list-keys=report-schema"))
        self.assertEqual(check_schema.load(harness.options.source / "docs/report.schema.json")["properties"]["input"],
                         schema)

        def input_of(part):
            if "default" in part:
                return part["default"]
            return {key: input_of(value) for key, value in part["properties"].items()}

        self.assertEqual(check_schema.problems(input_of(schema), schema), [])

    def test_as_a_schema_for_editors(self):
        schema = json.loads(self.listed("--list-keys=schema"))
        for given in ({}, {"orders": 3}, {"orders": [3, 5]}, {"mesh": {"elements": 4, "periodic": [True, False, True]}},
                      {"mesh": {"partition": "auto"}}, {"gather_scatter": {"strategies": "all", "tuning": {}}},
                      {"solver": {"multigrid": {"orders": "auto"}}}, {"solver": {"multigrid": {"orders": [7, 3, 1]}}}):
            self.assertEqual(check_schema.problems(given, schema), [], str(given))
        for given in ({"order": 3}, {"orders": "all"}, {"orders": []}, {"mesh": {"elements": [4, 4]}}, {"mesh": 4},
                      {"solver": {"tolerance": 1}}):
            self.assertNotEqual(check_schema.problems(given, schema), [], str(given))

    def test_has_the_keys_whose_places_the_run_names(self):
        known = {path: part for path, part in self.paths_of(json.loads(self.listed("--list-keys=schema")))}
        sources = (harness.options.source / "src").rglob("*.cpp")
        named = {key for source in sources
                 for key in re.findall(r'input\(?\)?\.place\("([^"]+)"\)', source.read_text(encoding="utf-8"))}
        self.assertIn("report.json", named)
        self.assertEqual([key for key in sorted(named) if key not in known], [])

    def paths_of(self, schema, before=""):
        for name, part in schema.get("properties", {}).items():
            yield before + name, part
            yield from self.paths_of(part, before + name + ".")

    def test_is_in_the_commented_example(self):
        example = (harness.options.source / "inputs/tgv64.yaml").read_text(encoding="utf-8")
        text = self.listed("--list-keys")
        keys = r"^( *[a-z_]+):"
        self.assertEqual(re.findall(keys, example, re.MULTILINE), re.findall(keys, text, re.MULTILINE))
        defaults = r"^ *# Default: (.*?)\. (?:Allowed|One of):"
        self.assertEqual(re.findall(defaults, example, re.MULTILINE), re.findall(defaults, text, re.MULTILINE))
        self.assertIn("[8, 8, 8]", re.findall(defaults, text, re.MULTILINE))


class Pages(harness.CliTest):
    """Files that ci/update-keys.sh keeps up to date."""

    def update(self, root, *arguments):
        return subprocess.run(["bash", root / "ci/update-keys.sh", *arguments, harness.options.nekbone_k],
                              capture_output=True, text=True, timeout=harness.TIMEOUT_S)

    def test_are_up_to_date(self):
        done = self.update(harness.options.source, "--check")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_are_brought_up_to_date(self):
        source, root = harness.options.source, self.new_folder()
        for name in ["ci/update-keys.sh", *UPDATED]:
            (root / name).parent.mkdir(exist_ok=True)
            shutil.copy(source / name, root / name)
        for name, old, new in [("docs/input.md", "`solver.order`", "`solver.ordre`"),
                               ("docs/report.schema.json", '"audit_others"', '"audit_other"'),
                               ("inputs/tgv64.yaml", "  iterations:", "  # iterations:")]:
            text = (root / name).read_text(encoding="utf-8")
            self.assertIn(old, text)
            (root / name).write_text(text.replace(old, new), encoding="utf-8")
        done = self.update(root, "--check")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for name in UPDATED:
            self.assertIn(f"{name}: out of date", done.stdout)
        done = self.update(root)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in UPDATED:
            self.assertEqual((root / name).read_text(encoding="utf-8"), (source / name).read_text(encoding="utf-8"), name)


if __name__ == "__main__":
    harness.main()
