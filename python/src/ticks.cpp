// SPDX-License-Identifier: Apache-2.0
//
// hypermile.step(), written for CPython's own calling convention, because pybind11's dispatcher
// alone would use up the time that a step may cost.
#include "ticks.h"

#include "hypermile.h"
#include "inject/tick.h"

namespace hypermile {
namespace {

// step(phase=None): the argument may be positional or named.
PyObject* step(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  const bool known =
      named == 0 || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "phase") == 0;
  if (count + named > 1 || !known) {
    PyErr_SetString(PyExc_TypeError, "step() takes one argument: phase, a str or None");
    return nullptr;
  }
  if (count + named == 0 || arguments[0] == Py_None) {
    hypermile_tick();
    Py_RETURN_NONE;
  }
  // The converted text is stored inside the str, so that it is converted once.
  const char* phase = PyUnicode_Check(arguments[0]) ? PyUnicode_AsUTF8(arguments[0]) : nullptr;
  if (phase == nullptr) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a phase is a str or None");
    return nullptr;
  }
  hypermile_tick_phase(phase);
  Py_RETURN_NONE;
}

// CPython stores functions under one signature and distinguishes them by flags.
template <class Function>
PyCFunction as_c_function(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef step_definition = {"step", as_c_function(step), METH_FASTCALL | METH_KEYWORDS,
                               "step(phase=None)\n--\n\n"
                               "An iteration begins here. Call it at the same place of every "
                               "iteration; iterations of different "
                               "phases\n(\"train\", \"eval\") are not compared with one another. "
                               "Does nothing where nobody listens."};

}  // namespace

void bind_ticks(pybind11::module_& module) {
  module.add_object("step", pybind11::reinterpret_steal<pybind11::object>(
                                PyCFunction_NewEx(&step_definition, nullptr, nullptr)));
  module.def(
      "listening", [] { return hypermile_listening() == 1; }, "Whether anyone listens to ticks.");
  module.def("listen_again", &listen_again, "Makes the next tick read HYPERMILE_RING_DIR again.");
  module.def("tell_device", &tell_device, pybind11::arg("device"),
             "Says that this process trains on that CUDA device.");
}

}  // namespace hypermile
