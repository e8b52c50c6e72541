/* What the files of the extension share. Each function that Python calls is described in its twin. */

#ifndef SPANWISE_COMPILED_H
#define SPANWISE_COMPILED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *add_blocks(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *collapsed(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *hints(PyObject *module, PyObject *text);
PyObject *is_text(PyObject *module, PyObject *words);
PyObject *misplaced(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *plain_words(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *token_ends(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *walk(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *items(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *without_tags(PyObject *module, PyObject *text);
PyObject *words_of(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* Whether an object is a class of tuples, such as a named tuple. */
int is_shape(PyObject *object);
/* Make a named tuple of fields that it takes over; a field that could not be made is NULL.
   Nothing in it leads back to it, so it is hidden from the garbage collector, which would look at it for nothing. */
PyObject *shaped(PyTypeObject *shape, PyObject **fields, int size);
/* Append what was just made, and let go of it; -1 if it could not be made. */
int append(PyObject *list, PyObject *made);
/* Move the ends of a range over the white space inside it. */
void trim(PyObject *text, Py_ssize_t *start, Py_ssize_t *end);
/* Make the parts of a list or table of ranges in characters; the rows of a table reach to its end. */
PyObject *items_of(PyObject *text, PyObject *ranges, PyTypeObject *shape);
PyObject *rows_of(PyObject *text, PyObject *ranges, Py_ssize_t end, PyTypeObject *shape);
PyObject *tokens_between(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *ended_at_each(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *exact_tokens(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

#endif
