#!/usr/bin/env python3
"""Takes the pictures of the page that the documents show, in headless Chromium.

usage: take_pictures.py ALLOCSCOPE [COMPILER]

Writes docs/pictures/*.png; look at each of them afterwards. It needs the packages chromium,
binutils, nlohmann-json3-dev and iso-codes. With the plugins of LLVM in /usr/lib/bfd-plugins, nm
shows what docs/reading_a_report.md tells about it.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import chromium
import page_view

HERE = pathlib.Path(__file__).resolve().parents[2]
PICTURES = HERE / "docs" / "pictures"
DOCUMENTS = [f"/usr/share/iso-codes/json/iso_{name}.json" for name in ("3166-2", "639-3", "639-5")]


def make_catalogue(folder, compiler):
    """examples/11_page.cpp under the name that its page shows."""
    source = folder / "catalogue.cpp"
    shutil.copy(HERE / "examples" / "11_page.cpp", source)
    program = folder / "catalogue"
    subprocess.run([compiler, "-std=c++17", "-O1", "-g",
                    f"-ffile-prefix-map={folder}=/src/catalogue", f"-I{HERE / 'include'}", source,
                    "-o", program, "-ldl"], check=True)
    return program


def take_catalogue(page, path):
    page.resize(1440, 900)
    page.prefer("light")
    page.open(path)
    page.settle()
    page.picture(PICTURES / "page_light.png")
    page.prefer("dark")
    page.click("#metrics button:nth-child(3)")
    page_view.click_box(page, "catalogue::library::add")
    page.click("#search")
    page.type("word")
    page.settle()
    page.mouse_to(*page_view.place_of_box(page, "catalogue::word_index::add"))
    page.settle()
    page.picture(PICTURES / "page_dark.png")


def take_nm(page, path):
    page.resize(1280, 830)
    page.prefer("light")
    page.open(path)
    page.mouse_to(1, 1)
    page.settle()
    page.picture(PICTURES / "nm_page.png")


def main():
    allocscope = sys.argv[1]
    compiler = sys.argv[2] if len(sys.argv) > 2 else "g++"
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        program = make_catalogue(folder, compiler)
        written = folder / "catalogue.html"
        subprocess.run([program, written, *DOCUMENTS], check=True)
        # As if it were installed: the folder of today says nothing.
        written.write_text(written.read_text().replace(str(program), "/opt/catalogue/catalogue"))
        subprocess.run([allocscope, "run", "--output", folder / "nm.allocscope", "--",
                        "nm", "-C", program], check=True, stdout=subprocess.DEVNULL)
        for words in (["convert", folder / "nm.allocscope", folder / "nm.html"],
                      ["show", "--rows", "0", folder / "nm.allocscope"],
                      ["show", "--by", "module", "--rows", "3", folder / "nm.allocscope"]):
            subprocess.run([allocscope, *words], check=True)
        page = chromium.Page(chromium.find())
        take_catalogue(page, written)
        take_nm(page, folder / "nm.html")
        assert not page.messages, page.messages
        page.close()


if __name__ == "__main__":
    main()
