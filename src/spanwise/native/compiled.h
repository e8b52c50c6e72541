/* What the files of the extension share. Each function that Python calls is described in its twin. */

#ifndef SPANWISE_COMPILED_H
#define SPANWISE_COMPILED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

/* What Python calls. */
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

/* Where the tokens of a text end. */
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
/* How many of the ends from `low` on are at most `position`, and all before `low`. */
Py_ssize_t ended(const Ends *ends, Py_ssize_t low, Py_ssize_t position);
Text text_of(PyObject *text);
/* Read some positions; -1 if one is none. */
int positions_of(PyObject *const *given, Py_ssize_t count, Py_ssize_t *positions);
/* Count a span, and a joiner after it that is no empty string or NULL; -1 where that isn't known, -2 for an error. */
Py_ssize_t exact(const Text *text, const Ends *ends, PyObject *known, const Py_ssize_t *edge, PyObject *joiner);

#endif
