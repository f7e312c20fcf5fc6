#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/check-includes passes on this tree and fails on trees with each kind of mistake."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = """<!-- rooms -->
| room | what it is for | may include |
| --- | --- | --- |
| `base` | the ground | - |
| `roof` | the top | `base` |
<!-- end of rooms -->
"""


def check(root):
    return subprocess.run([sys.executable, ROOT / "scripts/check-includes", root], capture_output=True, text=True, check=False)


class CheckIncludes(unittest.TestCase):
    def tree(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name, text in {"docs/design/architecture.md": TABLE, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return check(root)

    def test_this_tree_keeps_its_own_rule(self):
        result = check(ROOT)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_an_allowed_include_passes(self):
        result = self.tree({"src/roof/a.cpp": '#include "base/b.h"\n'})
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_forbidden_include_fails(self):
        result = self.tree({"src/roof/a.cpp": '#include "base/b.h"\n', "src/base/b.h": '#include "roof/a.h"\n'})
        self.assertEqual(result.returncode, 1)
        self.assertIn("src/base/b.h: 'base' may not include 'roof/a.h'", result.stderr)

    def test_test_doubles_are_for_tests_alone(self):
        used = {"src/roof/a.cpp": '#include "base/b.h"\n'}
        self.assertEqual(self.tree({**used, "src/base/b_test.cpp": '#include "testing/fake.h"\n'}).returncode, 0)
        self.assertEqual(self.tree({**used, "src/base/b.cpp": '#include "testing/fake.h"\n'}).returncode, 1)

    def test_a_room_without_a_row_fails(self):
        result = self.tree({"src/roof/a.cpp": '#include "base/b.h"\n', "src/attic/c.cpp": "\n"})
        self.assertIn("src/attic/c.cpp: its folder has no row", result.stderr)

    def test_an_edge_that_nobody_uses_fails(self):
        result = self.tree({"src/roof/a.cpp": "\n"})
        self.assertIn("the table lets 'roof' include 'base', and no file does", result.stderr)

    def test_two_types_of_one_name_fail(self):
        used = {"src/roof/a.cpp": '#include "base/b.h"\n'}
        one, other = "struct Pair {\n};\n", "namespace hypermile::wire {\nclass Pair final {\n};\n}\n"
        self.assertEqual(self.tree({**used, "src/base/b.h": one, "src/roof/c.h": other}).returncode, 0)
        result = self.tree({**used, "src/base/b.h": one, "src/roof/c.h": one})
        self.assertIn("src/roof/c.h: src/base/b.h defines another 'Pair'", result.stderr)


if __name__ == "__main__":
    unittest.main()
