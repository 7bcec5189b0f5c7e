#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Invalid input: one message, exit code 2 on every rank, and no files."""

import os
import shlex
import unittest
import unittest.mock

import harness

# Runs the program, writes its exit code to a folder, and waits until every rank has done so. Otherwise the launcher
# would end the other ranks at the first failure.
NOTE_EXIT_CODE = """
folder=$1; ranks=$2; shift 2
"$@"
code=$?
echo $code > "$folder/.$$" && mv "$folder/.$$" "$folder/$$"
tries=0
while [ $(ls "$folder" | wc -l) -lt $ranks ] && [ $tries -lt 100 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
exit $code
"""

FILES = {
    "empty.yaml": b"",
    "comments.yaml": b"# orders: [7]\n",
    "text.yaml": b"just text\n",
    "broken.yaml": b"mesh:\n  elements: [4, 4\norders: [1]\n",
    "brace.yaml": b"orders: [1]\nsolver: {order: 3\nproblem: nekbone\n",
    "quote.yaml": b"orders: [1]\nreport:\n  json: 'a.json\n",
    "many.yaml": b"orders: [1" + 300_000 * b",1" + b"]\n",
    "binary.yaml": b"\x7fELF\x02\x01\x01" + bytes(range(128, 256)),
    "key.yaml": b"# A comment\nsolver:\n  order: 3\n  tolerence: 1.0e-8\n",
    "type.yaml": b"orders: [1]\nmesh:\n  elements: [4, four, 4]\n",
    "path.yaml": b"mesh.elements: [4, 4, 4]\n",
    "tab.yaml": b"solver:\n\torder: 3\n",
    "nul.yaml": b"orders: [1]\nsolver: {order: \x003}\n",
    "utf16.yaml": "orders: [1]\n".encode("utf-16"),
    "twice.yaml": b"orders: [1]\nproblem: taylor-green\norders: [2]\n",
    # At order 1 all elements are valid; at order 4 the elements at the kinks fold.
    "kershaw.yaml": b"problem: manufactured\norders: [1, 4]\nsolver: {order: 1}\nmesh:\n"
                    b"  elements: 5\n  periodic: false\n  deformation: kershaw\n",
    "report.yaml": b"orders: [1]\nreport:\n  json: missing/report.json\n",
}


def changed(*values):
    """Arguments of the smoke test with these keys set."""
    return ["smoke.yaml", *(word for value in values for word in ("--set", value))]


# The mistake, the command line, and the required parts of the message, in any order.
CASES = [
    ("unknown key", ["key.yaml"], ["key.yaml:4", "solver.tolerence", "unknown", "'tolerance'"]),
    ("unknown section", changed("solvr.order=3"), ["--set", "solvr", "'solver'"]),
    ("key of another section", changed("mesh.order=3"), ["mesh.order", "'solver.order'"]),
    ("key given twice", ["twice.yaml"], ["twice.yaml:3", "orders", "twice.yaml:1"]),
    ("wrong type", ["type.yaml"], ["type.yaml:3", "mesh.elements", "'four'", "integer"]),
    ("number for a list", changed("mesh.elements=[4,4]"), ["mesh.elements", "given [4, 4]", "3"]),
    ("text for a number", changed("operator.lambda=big"), ["operator.lambda", "'big'", "number"]),
    ("fraction for an integer", changed("solver.order=3.5"), ["solver.order", "'3.5'", "integer"]),
    ("text for a truth value", changed("mesh.periodic=maybe"),
     ["mesh.periodic", "'maybe'", "true or false"]),
    ("path for a key", ["path.yaml"], ["path.yaml:1", "mesh: {elements: ...}", "--set"]),
    ("indented by a tab", ["tab.yaml"], ["tab.yaml:2", "tab"]),
    ("NUL byte", ["nul.yaml"], ["nul.yaml:2", "NUL byte"]),
    ("UTF-16", ["utf16.yaml"], ["utf16.yaml", "not UTF-8 but UTF-16"]),
    ("section for a value", changed("solver.order={a: 1}"), ["solver.order", "a mapping"]),
    ("out of range", changed("solver.order=32"), ["solver.order", "'32'", "1 to 31"]),
    ("negative", changed("solver.tolerance=-1e-8"), ["solver.tolerance", "'-1e-8'", ">= 0"]),
    ("not finite", changed("operator.lambda=.inf"), ["operator.lambda", "'.inf'", "finite"]),
    ("misspelt word", changed("solver.preconditioner=jacoby"), ["'jacoby'", "none, jacobi"]),
    ("misspelt strategy", changed("gather_scatter.strategies=[host-pairwize]"),
     ["gather_scatter.strategies", "'host-pairwize'", "'host-pairwise'"]),
    ("order given twice", changed("orders=[3,3]"), ["orders", "3 twice"]),
    ("too many elements", changed("mesh.elements=[2000000,2000000,2000000]"),
     ["mesh.elements", "2000000", "2^40"]),
    ("misspelt partition", changed("mesh.partition=slab"),
     ["mesh.partition", "'slab'", "'slabs'", "list of 3"]),
    ("partition of two directions", changed("mesh.partition=[1,1]"), ["mesh.partition", "given [1, 1]"]),
    ("grid for other ranks", changed("mesh.partition=[2,5,1]"),
     ["mesh.partition", "[2, 5, 1]", "product", "such as ["]),
    ("negative budget", changed("gather_scatter.tuning.grid_budget_seconds=-1"),
     ["grid_budget_seconds", ">= 0"]),
    ("kershaw and periodic", changed("mesh.deformation=kershaw"),
     ["mesh.deformation", "kershaw", "mesh.periodic", "false"]),
    ("problem and boundary", changed("problem=manufactured"), ["manufactured", "mesh.periodic"]),
    ("vectors where CG solves", changed("gather_scatter.components=3"),
     ["--set gather_scatter.components=3", "taylor-green", "one component", "problem none"]),
    ("floats where CG solves", changed("gather_scatter.precision=single"),
     ["--set gather_scatter.precision=single", "taylor-green", "precision double", "problem none"]),
    ("too many components", changed("problem=none", "gather_scatter.components=65"),
     ["gather_scatter.components", "'65'", "1 to 64"]),
    ("missing file", ["missing.yaml"], ["missing.yaml", "no such file", "inputs/smoke.yaml"]),
    ("misspelt command", ["doctr"], ["doctr", "did you mean", "nekbone-k doctor"]),
    ("folder", ["folder"], ["folder: is a folder"]),
    ("empty file", ["empty.yaml"], ["empty.yaml", "empty"]),
    ("only comments", ["comments.yaml"], ["comments.yaml", "empty"]),
    ("text", ["text.yaml"], ["text.yaml:1", "'just text'", "mapping"]),
    ("not YAML", ["broken.yaml"], ["broken.yaml:2: not YAML: the bracket [ is never closed; add ]"]),
    ("open brace", ["brace.yaml"], ["brace.yaml:2: not YAML: the bracket { is never closed; add }"]),
    ("open quote", ["quote.yaml"], ["quote.yaml:3: not YAML: the quote ' is never closed; add '"]),
    ("too many values", ["many.yaml"], ["many.yaml:1: orders: too many values", "at most 100000"]),
    ("binary", ["binary.yaml"], ["binary.yaml"]),
    ("--set without =", changed("solver.order"), ["--set solver.order", "'='", "key.path=value"]),
    ("--set with a blank", changed("solver.order 3"), ["--set solver.order 3", "write --set solver.order=3"]),
    ("--set of two words", ["smoke.yaml", "--set", "solver.order", "3"],
     ["--set solver.order: given no '='; write --set solver.order=3"]),
    ("blanks around =", ["smoke.yaml", "--set", "solver.order", "=", "3"],
     ["--set solver.order: given no '='; write --set solver.order=3"]),
    ("--set of two words before the input", ["--set=solver.tolerance", "-1", "smoke.yaml"],
     ["--set solver.tolerance: given no '='; write --set solver.tolerance=-1"]),
    ("--set without = before the input", ["--set", "solver.order", "smoke.yaml"],
     ["--set solver.order: given no '='; write --set key.path=value"]),
    ("--set without = before an option", ["smoke.yaml", "--set", "solver.order", "--dry-run"],
     ["--set solver.order: given no '='; write --set key.path=value"]),
    ("--set without a key", changed("=3"), ["--set =3", "key.path=value"]),
    ("--set without a value", changed("solver.order="), ["--set solver.order=", "value"]),
    ("--set of no YAML", changed("orders=[1"), ["--set orders=[1", "not YAML: the bracket [ is never closed"]),
    ("--set below a value", changed("solver.order.x=1"), ["solver.order", "no keys"]),
    ("--set at the end", ["smoke.yaml", "--set"], ["--set: given no value", "key.path=value"]),
    ("--set= for --set", ["--set=", "smoke.yaml"], ["--set: given no value"]),
    ("--report= for --report", ["--report=", "smoke.yaml"], ["--report: given no value"]),
    ("unknown option", ["smoke.yaml", "--frobnicate"], ["'--frobnicate'", "--help"]),
    ("misspelt option", ["smoke.yaml", "--dryrun"], ["'--dryrun'", "did you mean --dry-run?"]),
    ("option in one letter", ["-x", "smoke.yaml"], ["unknown option '-x'"]),
    ("option without a letter", ["smoke.yaml", "-"], ["unknown option '-'"]),
    ("two inputs", ["smoke.yaml", "key.yaml"],
     ["only one input file", "'smoke.yaml' and also 'key.yaml'", "--help"]),
    ("two reports", ["smoke.yaml", "--report", "a.json", "--report", "b.json"],
     ["--report: given twice, 'a.json' and 'b.json'"]),
    ("--report at the end", ["smoke.yaml", "--report"], ["--report: given no value", "FILE"]),
    ("option for a report", ["smoke.yaml", "--report", "--dry-run"],
     ["--report: given the option '--dry-run'"]),
    ("two lengths of the report", ["smoke.yaml", "--brief", "--full"], ["--brief and --full", "one of them"]),
    ("two keys for --help", ["--help", "solver.order", "orders"],
     ["--help: given 'solver.order' and 'orders'", "one key, such as --help solver.order"]),
    ("three keys for --help", ["--help=solver.order", "--full", "orders", "mesh"],
     ["--help: given 'solver.order' and 'orders'", "one key, such as --help solver.order"]),
    ("two keys for --help after the input", ["smoke.yaml", "-h", "solver.order", "orders"],
     ["--help: given 'solver.order' and 'orders'", "one key, such as --help solver.order"]),
    ("no input", [], ["no input", "--help"]),
    ("report in no folder", ["smoke.yaml", "--report", "missing/report.json"],
     ["nekbone-k: --report: ", "missing/report.json", "does not exist"]),
    ("report in no folder, in the file", ["report.yaml"],
     ["report.yaml:3: report.json: ", "missing/report.json", "does not exist"]),
    ("report in no folder, by --set", changed("report.json=missing/report.json"),
     ["--set report.json=missing/report.json: report.json: ", "does not exist"]),
    ("report below a file", ["smoke.yaml", "--report", "key.yaml/report.json"],
     ["key.yaml/report.json", "not a folder"]),
    ("report is a folder", ["smoke.yaml", "--report", "folder"], ["'folder'", "folder"]),
    ("report over the input", ["smoke.yaml", "--report", "./smoke.yaml"],
     ["--report: the JSON report would be written to './smoke.yaml', which is the input"]),
    ("journal over the input", changed("gather_scatter.tuning.journal=smoke.yaml"),
     ["gather_scatter.tuning.journal", "the journal would be written to 'smoke.yaml'", "is the input"]),
    ("cache over the report", changed("gather_scatter.tuning.mode=cached") +
     ["--set", "gather_scatter.tuning.cache=x.json", "--report", "x.json"],
     ["gather_scatter.tuning.cache", "'x.json'", "which is the JSON report"]),
    ("cache over the report, by another path", changed("gather_scatter.tuning.mode=cached") +
     ["--set", "gather_scatter.tuning.cache=folder/../x.json", "--report", "x.json"],
     ["gather_scatter.tuning.cache", "'folder/../x.json'", "which is the JSON report"]),
    ("cache over the journal", changed("gather_scatter.tuning.mode=cached",
                                       "gather_scatter.tuning.cache=nekbone-k-journal.jsonl"),
     ["gather_scatter.tuning.cache", "'nekbone-k-journal.jsonl'", "which is the journal"]),
    ("report without a name", ["smoke.yaml", "--report", ""], ["report", "empty"]),
]


class BadInput(harness.CliTest):
    """Every case on one rank and on several ranks."""

    def folder_with_files(self):
        """A folder for runs, with the files of the cases."""
        folder = self.new_folder()
        (folder / "folder").mkdir()
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
        return folder

    def check(self, run, fragments):
        """Exit code 2, one message with these parts, and no new files."""
        self.assertEqual(run.code, 2, str(run))
        self.assertEqual(run.out, "", str(run))
        self.assertEqual(run.err.count(harness.MESSAGE), 1, f"messages{run}")
        [message] = run.messages()
        for fragment in fragments:
            self.assertIn(fragment, message, str(run))
        self.assertTrue(message.isprintable() and "\ufffd" not in message,
                        f"not UTF-8 or for a terminal alone{run}")
        self.assert_no_traces(run)
        self.assert_files(run, "folder", *FILES)
        self.assertEqual(list((run.folder / "folder").iterdir()), [], str(run))

    def check_cases(self, ranks, cases):
        """Runs cases, several at a time."""
        runs = harness.side_by_side(
            [lambda arguments=arguments: self.run_program(ranks, *arguments,
                                                          folder=self.folder_with_files())
             for _, arguments, _ in cases], workers=4)
        for (name, _, fragments), run in zip(cases, runs):
            with self.subTest(name, ranks=ranks):
                self.check(run, fragments)

    def test_one_rank(self):
        # Without a launcher, because some take seconds to end a failed job.
        self.check_cases(0, CASES)

    def test_three_ranks(self):
        self.check_cases(3, CASES)

    def test_more_ranks_than_elements(self):
        self.check_cases(3, [("more ranks", changed("mesh.elements=[2,1,1]"),
                              ["mesh.elements", "2 x 1 x 1", "3 ranks", "at most 2"])])

    def test_grid_that_does_not_fit(self):
        self.check_cases(3, [
            ("more blocks than elements", changed("mesh.partition=[1,3,1]", "mesh.elements=[3,2,2]"),
             ["mesh.partition", "[1, 3, 1]", "3 ranks", "[3, 2, 2]", "such as [3, 1, 1]"]),
            ("no grid at all", changed("mesh.elements=[2,2,2]", "mesh.partition=[3,1,1]"),
             ["mesh.partition", "there are none", "bisection"]),
            ("slabs", changed("mesh.elements=[2,2,2]", "mesh.partition=slabs"),
             ["mesh.partition", "3 ranks", "[2, 2, 2]", "at most 2 ranks"])])

    def test_ranks_per_node(self):
        for ranks, value in ((0, "nonsense"), (3, "0")):
            with unittest.mock.patch.dict(os.environ, NEKBONE_K_RANKS_PER_NODE=value):
                self.check_cases(ranks, [(value, ["smoke.yaml"],
                                          ["NEKBONE_K_RANKS_PER_NODE", f"'{value}'", "positive"])])

    def test_elements_turned_inside_out(self):
        # Whether the order is tuned or solved, and also in a dry run.
        wrong = ["kershaw.yaml:7: mesh.deformation", "order 4", "inside out", "epsilon"]
        solved_at = ["kershaw.yaml", "--set", "orders=[1]", "--set", "solver.order=4"]
        self.check_cases(3, [("dry run", ["kershaw.yaml", "--dry-run"], wrong)])
        for ranks, arguments in ((0, ["kershaw.yaml"]), (3, solved_at)):
            run = self.run_program(ranks, *arguments, folder=self.folder_with_files())
            self.assertIn("checking the mesh", run.err, str(run))
            run.err = run.err.replace("nekbone-k: checking the mesh\n", "")
            self.check(run, wrong)

        for fix in ("mesh.elements=[5,4,6]", "mesh.epsilon=0.51", "orders=[1]"):
            run = self.run_program(0, "kershaw.yaml", "--dry-run", "--set", fix,
                                   folder=self.folder_with_files())
            self.assertEqual(run.code, 0, f"what was said to help does not{run}")

    def test_exit_code_of_every_rank(self):
        # One case for each place that detects errors.
        names = ["unknown key", "out of range", "kershaw and periodic", "missing file",
                 "--set without =", "unknown option", "no input", "report in no folder"]
        cases = [case for case in CASES if case[0] in names]
        self.assertEqual(len(cases), len(names))
        for ranks in (1, 3):
            runs = harness.side_by_side([lambda arguments=arguments: self.noted(ranks, arguments)
                                         for _, arguments, _ in cases], workers=4)
            for (name, _, fragments), (run, codes) in zip(cases, runs):
                with self.subTest(name, ranks=ranks):
                    self.check(run, fragments)
                    self.assertEqual(codes, ranks * [2], f"exit codes of the ranks{run}")

    def noted(self, ranks, arguments):
        """Runs the program. Returns the run and the exit codes of the ranks."""
        codes = self.new_folder() / "codes"
        codes.mkdir()
        command = [*shlex.split(harness.options.mpiexec), "-n", str(ranks),
                   "sh", "-c", NOTE_EXIT_CODE, "sh", str(codes), str(ranks),
                   harness.options.nekbone_k, *arguments]
        run = self.run_command(command, self.folder_with_files())
        return run, [int(path.read_text()) for path in codes.iterdir()]

    @unittest.skipIf(os.geteuid() == 0, "permissions do not hold for root")
    def test_no_permission(self):
        folder = self.folder_with_files()
        folder.chmod(0o555)
        self.addCleanup(folder.chmod, 0o755)
        run = self.run_program(3, "smoke.yaml", folder=folder)
        self.check(run, ["cannot write the report", "smoke.json", "--report"])


if __name__ == "__main__":
    harness.main()
