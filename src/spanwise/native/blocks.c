/* Adding blocks under their headings: see blocks.py. */

#include "compiled.h"

#define BLOCK 10 /* fields: kind, start, end, headings_path, level, page, parts, section_type, block_id, source_ref */
#define SEEN 6   /* fields: kind, start, end, level, title, parts */

typedef struct {
    PyObject *builder, *text, *blocks, *headings, *path, *page; /* of the builder */
    Py_ssize_t reached, longest;
    PyTypeObject *shape;
} Build;

static int read_reached(Build *build) {
    PyObject *reached = PyObject_GetAttrString(build->builder, "reached");
    int failed = !reached || position_of(reached, &build->reached) < 0;
    Py_XDECREF(reached);
    if (failed || build->reached >= 0) return failed ? -1 : 0;
    PyErr_SetString(PyExc_ValueError, "a builder is before its text");
    return -1;
}

/* Write the position and the path back to the builder. */
static int write_back(Build *build) {
    PyObject *reached = PyLong_FromSsize_t(build->reached);
    int failed = !reached || PyObject_SetAttrString(build->builder, "reached", reached) < 0 ||
                 PyObject_SetAttrString(build->builder, "path", build->path) < 0;
    Py_XDECREF(reached);
    return failed ? -1 : 0;
}

/* Let the builder fill the gap before a block, if it holds visible text. */
static int fill(Build *build, Py_ssize_t end) {
    Py_ssize_t start = build->reached, visible = end;
    if (end > PyUnicode_GET_LENGTH(build->text)) {
        PyErr_SetString(PyExc_ValueError, "a block starts after the end of the text");
        return -1;
    }
    if (start < visible) trim(build->text, &start, &visible);
    if (start >= visible) return 0;
    if (write_back(build) < 0) return -1;
    PyObject *filled = PyObject_CallMethod(build->builder, "fill", "n", end);
    Py_XDECREF(filled);
    return filled ? read_reached(build) : -1;
}

/* Return a heading that is open, borrowed; NULL if it is no pair of a level and a name. */
static PyObject *heading_at(const Build *build, Py_ssize_t place) {
    PyObject *heading = PyList_GET_ITEM(build->headings, place);
    if (PyTuple_Check(heading) && PyTuple_GET_SIZE(heading) == 2 && PyLong_Check(PyTuple_GET_ITEM(heading, 0)) &&
        PyUnicode_Check(PyTuple_GET_ITEM(heading, 1)))
        return heading;
    PyErr_SetString(PyExc_TypeError, "the headings of a builder are pairs of a level and a name");
    return NULL;
}

/* Close the headings that one of a level ends; an integer is read without running Python code. */
static int close_headings(Build *build, Py_ssize_t own) {
    Py_ssize_t size = PyList_GET_SIZE(build->headings), kept = size, level;
    for (; kept; kept--) {
        PyObject *heading = heading_at(build, kept - 1);
        if (!heading || position_of(PyTuple_GET_ITEM(heading, 0), &level) < 0) return -1;
        if (level < own) break;
    }
    return PyList_SetSlice(build->headings, kept, size, NULL);
}

/* Set the path of the headings that are open; an empty one has no name. */
static int set_path(Build *build) {
    PyObject *names = PyList_New(0);
    for (Py_ssize_t place = 0; names && place < PyList_GET_SIZE(build->headings); place++) {
        PyObject *heading = heading_at(build, place), *name = heading ? PyTuple_GET_ITEM(heading, 1) : NULL;
        if (!name || (PyUnicode_GET_LENGTH(name) && PyList_Append(names, name) < 0)) Py_CLEAR(names);
    }
    PyObject *path = names ? PyList_AsTuple(names) : NULL;
    Py_XDECREF(names);
    if (!path) return -1;
    Py_SETREF(build->path, path);
    return 0;
}

static int open_heading(Build *build, PyObject *level, PyObject *title) {
    Py_ssize_t own;
    if (position_of(level, &own) < 0 || close_headings(build, own) < 0) return -1;
    PyObject *name = PyUnicode_Substring(title, 0, build->longest);
    if (!name || append(build->headings, Py_BuildValue("(nN)", own, name)) < 0) return -1;
    return set_path(build);
}

static int add_block(Build *build, PyObject *seen) {
    if (!PyTuple_Check(seen) || PyTuple_GET_SIZE(seen) != SEEN || !PyUnicode_Check(PyTuple_GET_ITEM(seen, 4))) {
        PyErr_SetString(PyExc_TypeError, "a block has a kind, start, end, level, title and parts");
        return -1;
    }
    PyObject *start = PyTuple_GET_ITEM(seen, 1), *end = PyTuple_GET_ITEM(seen, 2), *level = PyTuple_GET_ITEM(seen, 3);
    Py_ssize_t edge[2];
    if (positions_of(&PyTuple_GET_ITEM(seen, 1), 2, edge) < 0) return -1;
    if (edge[0] < 0 || edge[1] < edge[0]) {
        PyErr_SetString(PyExc_ValueError, "a block has 0 <= start <= end");
        return -1;
    }
    if (fill(build, edge[0]) < 0) return -1;
    build->reached = edge[1];
    if (level != Py_None && open_heading(build, level, PyTuple_GET_ITEM(seen, 4)) < 0) return -1;
    PyObject *fields[BLOCK] = {
        Py_NewRef(PyTuple_GET_ITEM(seen, 0)), Py_NewRef(start), Py_NewRef(end), Py_NewRef(build->path),
        Py_NewRef(level), Py_NewRef(build->page), Py_NewRef(PyTuple_GET_ITEM(seen, 5)), Py_NewRef(Py_None),
        Py_NewRef(Py_None), Py_NewRef(Py_None)};
    return append(build->blocks, shaped(build->shape, fields, BLOCK));
}

static int add_all(Build *build, PyObject *found) {
    PyObject *all = PySequence_Tuple(found);
    int failed = !all;
    for (Py_ssize_t place = 0; !failed && place < PyTuple_GET_SIZE(all); place++)
        failed = add_block(build, PyTuple_GET_ITEM(all, place)) < 0;
    Py_XDECREF(all);
    return failed ? -1 : write_back(build);
}

static int open_builder(Build *build) {
    const char *names[] = {"text", "blocks", "headings", "path", "page"};
    PyObject **places[] = {&build->text, &build->blocks, &build->headings, &build->path, &build->page};
    for (int number = 0; number < 5; number++)
        if (!(*places[number] = PyObject_GetAttrString(build->builder, names[number]))) return -1;
    if (PyUnicode_Check(build->text) && PyList_Check(build->blocks) && PyList_Check(build->headings) &&
        PyTuple_Check(build->path))
        return 0;
    PyErr_SetString(PyExc_TypeError, "add_blocks takes a builder");
    return -1;
}

/* add_blocks(builder, found, shape, longest) */
PyObject *add_blocks(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 4 || !is_shape(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "add_blocks takes a builder, blocks, a shape, and a length");
        return NULL;
    }
    Build build = {.builder = arguments[0], .shape = (PyTypeObject *)arguments[2]};
    int failed = position_of(arguments[3], &build.longest) < 0 || open_builder(&build) < 0 ||
                 read_reached(&build) < 0 || add_all(&build, arguments[1]) < 0;
    Py_XDECREF(build.text);
    Py_XDECREF(build.blocks);
    Py_XDECREF(build.headings);
    Py_XDECREF(build.path);
    Py_XDECREF(build.page);
    return failed ? NULL : Py_NewRef(Py_None);
}
