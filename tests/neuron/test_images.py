"""The catalogue of images holds what the sources state, and its schema catches faults."""

from __future__ import annotations

import json
import re
from importlib import resources

import pytest

from lanesort.cli.neuron_images import images
from lanesort.errors import ArgumentValueError, FileError
from lanesort.neuron.image_records import RECORDS, Image, KernelTable, Log, NotClaimed
from lanesort.neuron.images import catalogue, parse_catalogue

# Statements about images and headers that each section of the two readings makes.
BY_SECTION = {
    "seed 000": {
        "§0": 17,
        "§1": 2,
        "§2": 6,
        "§3": 17,
        "§4": 8,
        "§4.1": 5,
        "§4.2": 6,
        "§4.4": 2,
        "§4.5": 5,
        "§5.2": 1,
        "§5.3": 5,
        "§5.4": 6,
        "§5.5": 1,
        "§5.6": 6,
        "§6b": 1,
        "§7": 12,
        "§8": 2,
        "§9": 2,
        "§10": 13,
    },
    "seed 003": {
        "§0": 10,
        "§1": 10,
        "§2": 8,
        "§3": 6,
        "§3.1": 1,
        "§3.2": 5,
        "§4.2": 2,
        "§4.3": 1,
        "§4.4": 3,
        "§5": 2,
        "§6": 3,
        "§7": 4,
        "§7.1": 5,
        "§7.2": 5,
        "§8": 8,
        "§9": 10,
        "§10": 2,
    },
}
GOOD = """
schema = 1
[container]
name = "n"
path = "p"
package = "p"
release = "r"
format = "f"
size = 1
sha256_starts = "a"
sha256_ends = "b"
accessor_pattern = "x"
embedded = 1
embedded_format = "e"
section = "s"
{where}
[[image]]
id = "one"
generation = "cayman"
sequencer = "NX"
{where}
"""
WHERE = 'how = "observed"\nsurely = "high"\nsource = "seed 000 §1"'


def text(extra=""):
    return GOOD.format(where=WHERE) + extra


@pytest.fixture(scope="module")
def file_text():
    return (resources.files("lanesort.neuron") / "images.toml").read_text("utf-8")


def test_every_section_of_the_sources_has_its_records():
    expected = {
        f"{seed} {section}": count for seed, counts in BY_SECTION.items() for section, count in counts.items()
    }
    assert catalogue().by_section() == expected


@pytest.mark.parametrize("seed", ["000", "003"])
def test_every_address_size_and_primitive_of_the_sources_is_there(golden, file_text, seed):
    found = list((golden.parent / "seeds").glob(f"{seed}_*.txt"))
    if not found:
        pytest.skip("no source documents beside the golden data")
    source = found[0].read_text("utf-8")
    numbers = {int(n, 16) for n in re.findall(r"\b0x([0-9a-fA-F]{2,8})\b", source)}
    known = {int(n, 16) for n in re.findall(r"\b0x([0-9a-fA-F]{2,8})\b", file_text)}
    known |= {int(n) for n in re.findall(r"= (\d+)\b", file_text)}
    assert not {hex(n) for n in numbers - known}
    primitives = set(re.findall(r"\bivp_\w+", source)) - {"ivp_load_block"}  # a name of its pseudocode
    assert not {name for name in primitives if name not in file_text}


def test_digests_and_addresses_fit_each_other():
    extisa = [image for image in catalogue().of(Image) if image.sequencer.startswith("EXTISA_0 MAIN")]
    assert [image.sha256_starts for image in extisa] == ["910d41c3", "39416fbf", "39416fbf"]
    for table in catalogue().of(KernelTable):
        assert table.row < table.rows
        assert len(table.opcodes) in (0, table.rows)
        assert not table.opcodes or table.opcodes[table.row] == 0xF2
        if table.float_body is not None:
            assert table.int_body - table.float_body == 0x240
    assert catalogue().file_offset(0x010014E0) == 0x15E0
    with pytest.raises(ArgumentValueError, match="below the images' base"):
        catalogue().file_offset(0x1000)


def test_log_lines_are_those_that_the_device_prints():
    lines = {log.text for log in catalogue().of(Log)}
    assert "P%i: DECODE_SORT : num_items = %d, num_active_channels = %d, is_ascending = %d" in lines
    assert "S: NonzeroWithCount: num_elements=%d" in lines
    assert len(catalogue().of(NotClaimed)) == 22


def test_an_unknown_image_is_named():
    assert catalogue().image("cayman-extisa-3").size == 0x6974
    with pytest.raises(ArgumentValueError, match="no image 'cayman'"):
        catalogue().image("cayman")


def test_how_and_how_surely_have_a_default():
    short = text().replace('how = "observed"\n', "", 1).replace('surely = "high"\n', "")
    small = parse_catalogue('default = { how = "carried", surely = "low" }' + short, "small")
    assert (small.container.how, small.container.surely) == ("carried", "low")
    assert (small.image("one").how, small.image("one").surely) == ("observed", "low")


def test_a_small_catalogue_is_read():
    assert parse_catalogue(text(), "small").image("one").offset is None


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (text("offset = true"), r"image 1: offset: True is not of type int"),
        (text("colour = 'red'"), r"image 1: colour: no such key"),
        (text().replace('id = "one"\n', ""), r"image 1: id: missing"),
        (text().replace('"cayman"', '"trn2"'), r"generation: 'trn2'; accepted are tonga"),
        (text().replace('"observed"', '"seen"'), r"how: 'seen'; accepted are documented"),
        (text().replace("seed 000 §1", "somewhere"), r"source: 'somewhere'; write it as"),
        (text().replace("schema = 1", "schema = 2"), r"schema is 2; this release reads 1"),
        (text('\n[[picture]]\nid = "x"'), r"picture: no such kind"),
        (text().replace("[[image]]", "[image]"), r"image: is a dict; it is a list of records"),
        (
            text() + text().partition("[[image]]")[1] + text().partition("[[image]]")[2],
            r"id 'one' is used twice",
        ),
        (
            text('\n[[census]]\nimage = "two"\nwhat = "w"\nhits = 1\n' + WHERE),
            r"census: no image has the id 'two'",
        ),
        (text().replace('name = "n"', "name = [1]"), r"container: name: \[1\] is not of type str"),
        ('default = { generation = "cayman" }' + text(), r"default: .*; it may give how and surely"),
        ("default = 1" + text(), r"default: 1; it may give"),
        ("schema = ", r"bad: not TOML"),
        ("schema = 1\ncontainer = 3", r"container: is a int; a record is a table"),
    ],
)
def test_faults_are_named_with_their_place(fault, says):
    with pytest.raises(FileError, match=says):
        parse_catalogue(fault, "bad")


def test_the_command_prints_all_kinds(capsys):
    assert images() == 0
    printed = capsys.readouterr().out
    assert "libnrtucode_internal.so" in printed
    for kind in RECORDS:
        assert f"\n{kind}\n" in printed
    assert "trampoline=0x100484c" in printed


def test_the_command_filters_counts_and_prints_json(capsys):
    images("image", generation="sunda", json=True)
    printed = json.loads(capsys.readouterr().out)
    assert [image["sort_body"] for image in printed["image"]] == ["present", "stub"]
    images(counts=True, json=True)
    assert json.loads(capsys.readouterr().out) == dict(catalogue().by_section())
    images(counts=True)
    assert "seed 003 §7.2" in capsys.readouterr().out
    images(json=True)
    assert json.loads(capsys.readouterr().out)["container"][0]["embedded"] == 17
    with pytest.raises(ArgumentValueError, match="no kind of record is called 'pictures'"):
        images("pictures")
