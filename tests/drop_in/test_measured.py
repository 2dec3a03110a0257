"""Measured rows of the LLK suite's performance tests: which tests they are of, and what is compared with them."""

import os
import sys

import pytest

from tensim.cli.survey import _errors, _print_errors
from tensim.drop_in import measured
from tensim.library import survey
from tensim.sim.errors import UsageError

OPERATIONS = """\
arch,ttkernel_op,engine,input_format,output_format,fp32_dest_acc,extra_config,unit,cycles
blackhole,mul_tiles,math (FPU),Float32,Bfp8_b,0,math_fidelity=HiFi2,per tile,40
blackhole,mul_tiles,unpack (two operand tiles),Bfp8_b,Float16_b,1,,per tile,50
blackhole,reduce_tile,math (FPU),Float32,Float32,0,mathop=ReduceRow;pool=Max;math_fidelity=HiFi4,per input tile,85
blackhole,reduce_tile,math (FPU),Float32,Float32,0,mathop=ReduceRow;pool=Max;math_fidelity=LoFi,per input tile,85
blackhole,gelu_tile,math (SFPU),Float16_b,Float16_b,0,,per call,20
blackhole,gelu_tile,math (SFPU),Float32,Float32,1,unpack_to_dest possible,per call,20
blackhole,add_binary_tile,math (SFPU),Float16_b,Float16_b,0,,per call,20
blackhole,mul_tiles_init,math,Float16_b,Float16_b,0,HiFi4,per call,86
"""
KERNELS = """\
arch,test,fp32_dest_acc,input_format,output_format,math_fidelity,tiles,dest_sync,dst_index,in0_tile_rows,loop_factor,zone,cycles_median_of_10
wormhole_b0,perf_matmul,,bf16,bfp8,HiFi2,4,Half,,32,64,TILE_LOOP,12594
wormhole_b0,perf_math_matmul,Yes,fp32(tf32),bfp8,LoFi,2,Half,0,1,1024,KERNEL,1000
"""
FORMATS = {"input": "Float16_b", "output": "Float16_b"}


@pytest.fixture
def files(tmp_path):
    """Files of both kinds of rows."""
    for name, text in (("operations.csv", OPERATIONS), ("kernels.csv", KERNELS)):
        (tmp_path / name).write_text(text)
    return tmp_path / "operations.csv", tmp_path / "kernels.csv"


def record(choice, run, cycles, **more):
    """A test of a survey: 2 loops of 4 tiles that take `cycles` each."""
    times = [
        {"marker": "TILE_LOOP", "loop_factor": 2, "tile_cnt": 4, f"mean({run})": 8 * cycles},
        {"marker": "KERNEL", f"mean({run})": 8 * cycles + 100},
    ]
    values = dict(choice.values) | {"num_faces": "4"}
    return {"test": f"{choice.function}[some]", "outcome": "passed", "values": values, "times": times} | more


def test_rows_are_of_tests_of_their_chip(files):
    points = measured.points_of(files, "blackhole")
    assert [point.row.partition(":")[2] for point in points] == ["1", "2", "3", "5", "6", "7"]
    product = dict(points[0].test.values)
    assert product["math_fidelity"] == "HiFi2" and product["dest_acc"] == "No" and "input" not in product
    assert dict(points[1].test.values)["input"] == "Bfp8_b" and points[1].run == "UNPACK_ISOLATE"
    assert dict(points[2].test.values)["reduce_dim"] == "Row" and dict(points[2].test.values)["pool_type"] == "Max"
    assert [point.less is None for point in points] == [True, True, True, False, True, False]
    kernel, = measured.points_of(files, "wormhole_b0")  # fmt: skip
    assert {"input": "Float32", "in0_tile_r_dim": "1", "ct_dim": "2"}.items() <= dict(kernel.test.values).items()


def test_a_file_of_other_rows_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("arch,cycles\nblackhole,3\n")
    with pytest.raises(UsageError, match=r"other.csv has no rows that the LLK suite measures"):
        measured.points_of([tmp_path / "other.csv"], "blackhole")


def test_what_is_compared_is_in_the_units_of_the_row(files):
    """A tile's share of the loop; a face of a function of one operand, without the copy; two tiles are one call of two operands."""
    product, _, _, gelu, direct, add = measured.points_of(files, "blackhole")
    kernel, = measured.points_of(files, "wormhole_b0")  # fmt: skip
    copy = record(gelu.less, gelu.run, 20)
    assert product.simulated([record(product.test, product.run, 44)]) == 44
    assert gelu.simulated([record(gelu.test, gelu.run, 120), copy]) == 25
    assert direct.simulated([record(direct.test, direct.run, 120)]) == 30
    assert add.simulated([record(add.test, add.run, 120), copy]) == 200
    assert kernel.simulated([record(kernel.test, kernel.run, 100)]) == 900
    assert gelu.simulated([record(gelu.test, gelu.run, 120)]) is None
    assert product.simulated([record(product.test, product.run, 44, outcome="failed")]) is None


def test_groups_of_errors_come_worst_first(files, capsys):
    points = measured.points_of(files, "blackhole")
    tests = [record(points[0].test, "MATH_ISOLATE", 44), record(points[1].test, "UNPACK_ISOLATE", 40)]
    result = _errors(measured.compared(points, tests))
    assert list(result["groups"]) == ["products, unpack", "products, math"]
    _print_errors(result)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "products, unpack        1     20.0     20.0     20.0    -20.0",
        "products, math          1     10.0     10.0     10.0    +10.0",
        "4 measured rows have no test of the suite any more, or one that did not pass",
    ]


CONFIGURATION = """
import json

import pytest


class Frame(list):
    '''What the survey uses of a data frame: rows by position, columns by name, JSON.'''

    def __iter__(self):
        return iter(self.row(0))

    def row(self, number):
        return list.__getitem__(self, number)

    def __getitem__(self, chosen):
        rows = list.__getitem__(self, chosen if isinstance(chosen, slice) else slice(None))
        return Frame(rows if isinstance(chosen, slice) else [{name: row[name] for name in chosen} for row in rows])

    def to_json(self, orient):
        return json.dumps([self.row(number) for number in range(len(self))])


class Report:
    def __init__(self):
        self.rows = []

    def frame(self):
        return Frame(self.rows)


@pytest.fixture(scope="module", autouse=True)
def perf_report():
    return Report()


def pytest_addoption(parser):
    parser.addoption("--run-simulator", action="store_true")
"""
TESTS = """
from dataclasses import dataclass
from enum import Enum

import pytest

Fidelity = Enum("Fidelity", ["LoFi", "HiFi2"])


@dataclass
class Config:
    rows: int
    dims: tuple


@pytest.mark.parametrize("fidelity", Fidelity)
@pytest.mark.parametrize("config", [Config(rows, (rows, 32)) for rows in (16, 32)], ids="ab")
def test_perf_sum(config, fidelity, perf_report):
    row = {"rows": config.rows, "loop_factor": 4, "tile_cnt": config.rows, "marker": "KERNEL", "mean(L1_TO_L1)": 7.5}
    perf_report.rows.append(row)
"""


def test_a_survey_runs_the_chosen_tests_and_keeps_their_times(tmp_path, monkeypatch):
    for name, text in (("conftest", CONFIGURATION), ("perf_sum", TESTS), ("perf_other", TESTS)):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(survey._Attempt, "_command", lambda self, path: [sys.executable, str(survey.CHILD), str(path)])
    monkeypatch.setenv(measured.RUNS, "")
    choices = [(("rows", "32"), ("fidelity", "HiFi2")), (("dims[0]", "16"),)]
    points = [
        measured.Point(
            "f.csv:1", "sums", 8.0, measured.Choice("perf_sum.py::test_perf_sum", values), "L1_TO_L1", "KERNEL"
        )
        for values in choices
    ]
    plan = measured.selected(survey.Survey(tmp_path, sys.executable, None, (), 10, 20), points)
    assert plan.patterns == ("perf_sum.py",) and os.environ[measured.RUNS] == "L1_TO_L1"
    results = survey.Results(plan, tmp_path / "kept")
    survey.run(plan, results)
    tests = list(results.tests.values())
    assert [(test["values"]["rows"], test["values"]["fidelity"]) for test in tests] == [("16", "LoFi"), ("32", "HiFi2")]
    assert tests[1]["times"] == [{"loop_factor": 4, "tile_cnt": 32, "marker": "KERNEL", "mean(L1_TO_L1)": 7.5}]
    assert survey.Results(plan, tmp_path / "kept").tests == results.tests
    assert [point.simulated(tests) for point in points] == [7.5 / 128, 7.5 / 64]
