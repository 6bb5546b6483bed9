# SPDX-License-Identifier: Apache-2.0
"""The examples in the comments of the public headers compile: code between ```cpp or ```c and ```.

    comment_examples_test.py SOURCE CXX [unittest arguments]
"""
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE, CXX = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
sys.path.insert(0, str(SOURCE / "packaging/site"))
import api  # noqa: E402

EXAMPLE = re.compile(r"^ *(?:///|\*) ```(cpp|c)\n(.*?)^ *(?:///|\*) ```", flags=re.M | re.S)
FUNCTION = "void run{number}() {{\n{code}\n}}\n"
# By the name of the header: what its example takes for granted. An … stands for code of the reader.
SURROUNDINGS = {
    "component.hpp": "inline constexpr cardan::Topic<cardan::Image> kImages{{\"/camera\"}};\n"
                     "inline constexpr cardan::Topic<cardan::Detections2D> kPeople{{\"/people\"}};\n{code}\n",
    "fusion.hpp": "void run{number}(const cardan::Sample<cardan::Image>& image) {{\n  using namespace cardan;\n{code}\n}}\n",
    "message.hpp": "namespace my {{ struct Speed {{ std::int64_t stamp; double metres_per_second; }}; }}\n{code};\n",
    "codec.hpp": "template <class T>\nstruct Codec{number} {{\n{code}\n}};\n",
}


def examples(language):
    """Header and code, as it would be with the reader's part."""
    for header in api.headers():
        for found, code in EXAMPLE.findall((SOURCE / header).read_text(encoding="utf-8")):
            if found == language:
                lines = "\n".join(re.sub(r"^ *(?:///|\*) ?", "", line) for line in code.split("\n"))
                yield header, lines.replace("(…)", "(true)").replace("…", "")


def compiled(compiler, language, standard, text):
    include = {f"-I{SOURCE / header.removesuffix(api.include_of(header))}" for header in api.headers()}
    return subprocess.run([compiler, f"-x{language}", f"-std={standard}", "-Wall", "-Wno-unused", "-Werror", *include, "-fsyntax-only", "-"],
                          input=text, text=True, stderr=subprocess.PIPE)


class Examples(unittest.TestCase):
    def test_those_of_cpp(self):
        found = list(examples("cpp"))
        self.assertGreater(len(found), 4)
        parts = ["#include <string>\n#include <chrono>\nusing namespace std::chrono_literals;\n"]
        parts += sorted({f"#include <{api.include_of(header)}>\n" for header, _ in found} | {"#include <cardan/cardan.hpp>\n"})
        for number, (header, code) in enumerate(found):
            parts.append(SURROUNDINGS.get(header.rpartition("/")[2], FUNCTION).format(number=number, code=code))
        done = compiled(CXX, "c++", "c++20", "".join(parts))
        self.assertEqual(done.returncode, 0, f"{done.stderr}\n{''.join(parts)}")

    def test_those_of_c(self):
        found = list(examples("c"))
        self.assertGreater(len(found), 2)
        parts = ["#include <stdio.h>\n", *sorted({f"#include <{api.include_of(header)}>\n" for header, _ in found})]
        for number, (_, code) in enumerate(found):
            parts.append(f"void run{number}(FILE* file) {{\n{code}\n}}\n")
        done = compiled("cc", "c", "c11", "".join(parts))
        self.assertEqual(done.returncode, 0, f"{done.stderr}\n{''.join(parts)}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
