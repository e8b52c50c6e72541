/* The parts of lists and tables: see parts.py. */

#include "compiled.h"

#define DEEPEST 32 /* items nested deeper are text of their ancestor */
#define PART 6     /* fields of a part: start, end, parts, source_ref, header, block_id */

int is_shape(PyObject *object) {
    return PyType_Check(object) && PyType_IsSubtype((PyTypeObject *)object, &PyTuple_Type);
}

PyObject *shaped(PyTypeObject *shape, PyObject **fields, int size) {
    PyObject *made = shape->tp_alloc(shape, size);
    for (int place = 0; place < size; place++) {
        if (made && fields[place]) {
            PyTuple_SET_ITEM(made, place, fields[place]);
        } else {
            Py_CLEAR(made);
            Py_XDECREF(fields[place]);
        }
    }
#if PY_VERSION_HEX >= 0x030E0000
    if (made) ((PyTupleObject *)made)->ob_hash = -1; /* not computed yet; tp_alloc leaves 0, which would be a hash */
#endif
    if (made) PyObject_GC_UnTrack(made);
    return made;
}

int append(PyObject *list, PyObject *made) {
    if (!made) return -1;
    int failed = PyList_Append(list, made);
    Py_DECREF(made);
    return failed;
}

void trim(PyObject *text, Py_ssize_t *start, Py_ssize_t *end) {
    int width = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    while (*end > *start && Py_UNICODE_ISSPACE(PyUnicode_READ(width, data, *end - 1))) (*end)--;
    while (*end > *start && Py_UNICODE_ISSPACE(PyUnicode_READ(width, data, *start))) (*start)++;
}

static PyObject *part(PyTypeObject *shape, Py_ssize_t start, Py_ssize_t end, PyObject *inner, int header) {
    PyObject *fields[PART] = {
        PyLong_FromSsize_t(start), PyLong_FromSsize_t(end), inner, Py_NewRef(Py_None), PyBool_FromLong(header),
        Py_NewRef(Py_None)};
    return shaped(shape, fields, PART);
}

static int read_range(PyObject *ranges, Py_ssize_t number, Py_ssize_t *start, Py_ssize_t *end) {
    PyObject *range = PyList_GET_ITEM(ranges, number);
    if (!PyTuple_Check(range) || PyTuple_GET_SIZE(range) != 2) {
        PyErr_SetString(PyExc_TypeError, "a range is a pair of integers");
        return -1;
    }
    *start = PyLong_AsSsize_t(PyTuple_GET_ITEM(range, 0));
    *end = PyLong_AsSsize_t(PyTuple_GET_ITEM(range, 1));
    return PyErr_Occurred() ? -1 : 0;
}

/* Return the ranges that are not nested too deep, as a new list. */
static PyObject *shallow(PyObject *ranges) {
    Py_ssize_t size = PyList_GET_SIZE(ranges), start = 0, end = 0, open = 0;
    if (size <= DEEPEST) return Py_NewRef(ranges);
    Py_ssize_t *ends = PyMem_New(Py_ssize_t, size);
    PyObject *kept = ends ? PyList_New(0) : PyErr_NoMemory();
    for (Py_ssize_t number = 0; kept && number < size; number++) {
        int failed = read_range(ranges, number, &start, &end);
        while (open && ends[open - 1] <= start) open--;
        if (!failed && open < DEEPEST) failed = PyList_Append(kept, PyList_GET_ITEM(ranges, number));
        if (failed) Py_CLEAR(kept);
        ends[open++] = end;
    }
    PyMem_Free(ends);
    return kept;
}

/* Pop the parts that start before `end` off the end of `waiting`, the last first. */
static PyObject *children_of(PyObject *waiting, Py_ssize_t end) {
    Py_ssize_t size = PyList_GET_SIZE(waiting), first = size;
    while (first && PyLong_AsSsize_t(PyTuple_GET_ITEM(PyList_GET_ITEM(waiting, first - 1), 0)) < end) first--;
    PyObject *children = PyTuple_New(size - first);
    for (Py_ssize_t place = first; children && place < size; place++)
        PyTuple_SET_ITEM(children, size - 1 - place, Py_NewRef(PyList_GET_ITEM(waiting, place)));
    if (children && first < size && PyList_SetSlice(waiting, first, size, NULL) < 0) Py_CLEAR(children);
    return children;
}

PyObject *items_of(PyObject *text, PyObject *all, PyTypeObject *shape) {
    PyObject *ranges = shallow(all), *waiting = PyList_New(0), *made = NULL;
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), start, end;
    int failed = !ranges || !waiting;
    /* backwards, so that children come before their parent */
    for (Py_ssize_t number = failed ? 0 : PyList_GET_SIZE(ranges); number-- && !failed;) {
        failed = read_range(ranges, number, &start, &end) < 0;
        if (failed) break;
        PyObject *children = children_of(waiting, end);
        failed = !children;
        if (failed) break;
        if (start < 0) start = 0;
        if (end > length) end = length;
        trim(text, &start, &end);
        if (start < end)
            failed = append(waiting, part(shape, start, end, children, 0)) < 0;
        else
            Py_DECREF(children);
    }
    if (!failed && PyList_Reverse(waiting) == 0) made = PyList_AsTuple(waiting);
    Py_XDECREF(waiting);
    Py_XDECREF(ranges);
    return made;
}

PyObject *rows_of(PyObject *text, PyObject *ranges, Py_ssize_t end, PyTypeObject *shape) {
    PyObject *rows = PyList_New(0), *made = NULL;
    Py_ssize_t size = PyList_GET_SIZE(ranges), start, next, ignored;
    int failed = !rows;
    for (Py_ssize_t number = 0; number < size && !failed; number++) {
        next = end;
        failed = read_range(ranges, number, &start, &ignored) < 0 ||
                 (number + 1 < size && read_range(ranges, number + 1, &next, &ignored) < 0);
        if (failed) break;
        trim(text, &start, &next);
        if (start < next) failed = append(rows, part(shape, start, next, PyTuple_New(0), number == 0)) < 0;
    }
    if (!failed) made = PyList_AsTuple(rows);
    Py_XDECREF(rows);
    return made;
}

/* items(text, ranges, shape) -> tuple */
PyObject *items(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3 || !PyUnicode_Check(arguments[0]) || !PyList_Check(arguments[1]) || !is_shape(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "items takes a text, a list of ranges, and a shape");
        return NULL;
    }
    return items_of(arguments[0], arguments[1], (PyTypeObject *)arguments[2]);
}
