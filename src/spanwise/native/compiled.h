/* Declarations shared by the files of the extension. Functions for Python are documented in the Python files. */

#ifndef SPANWISE_COMPILED_H
#define SPANWISE_COMPILED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

/* Functions for Python. */
PyObject *add_blocks(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *collapsed(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *ended_at(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *ended_at_each(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *ended_at_edges(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *exact_tokens(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *hints(PyObject *module, PyObject *text);
PyObject *is_text(PyObject *module, PyObject *words);
PyObject *items(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *line_starts(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *misplaced(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *plain_words(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *plans_at_sight(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *settled_alone(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *token_ends(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *tokens_between(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *visible_range(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *visible_ranges(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *walk(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *words_of(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* Whether an object is a class of tuples, such as a named tuple. */
int is_shape(PyObject *object);
/* Return a named tuple that steals the references of `fields`; NULL if one of them is NULL.
   It can't be part of a reference cycle, so it is hidden from the garbage collector to save its time. */
PyObject *shaped(PyTypeObject *shape, PyObject **fields, int size);
/* Append `made` and release the reference to it; -1 if it is NULL. */
int append(PyObject *list, PyObject *made);
/* Trim white space off both ends of a range. */
void trim(PyObject *text, Py_ssize_t *start, Py_ssize_t *end);
/* Return the parts of a list or table from ranges in characters; the last row of a table extends to its end. */
PyObject *items_of(PyObject *text, PyObject *ranges, PyTypeObject *shape);
PyObject *rows_of(PyObject *text, PyObject *ranges, Py_ssize_t end, PyTypeObject *shape);

/* The character positions where the tokens of a text end. */
typedef struct {
    Py_buffer buffer;
    const int32_t *at;
    Py_ssize_t size;
} Ends;

typedef struct {
    PyObject *text;
    int kind;
    const void *data;
    Py_ssize_t length;
} Text;

int open_ends(PyObject *given, Ends *ends);
/* Return the number of ends that are at most `position`; those before `low` are known to be. */
Py_ssize_t ended(const Ends *ends, Py_ssize_t low, Py_ssize_t position);
Text text_of(PyObject *text);
/* Read `count` positions; -1 if one is no integer. */
int positions_of(PyObject *const *given, Py_ssize_t count, Py_ssize_t *positions);
/* Count a span, and a joiner after it (NULL for none, never empty); -1 if it would need encoding, -2 for an error. */
Py_ssize_t exact(const Text *text, const Ends *ends, PyObject *known, const Py_ssize_t *edge, PyObject *joiner);

#endif
