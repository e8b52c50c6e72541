/* What the files of the extension share. */

#ifndef SPANWISE_COMPILED_H
#define SPANWISE_COMPILED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *token_ends(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *tokens_between(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *ended_at_each(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *exact_tokens(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

#endif
