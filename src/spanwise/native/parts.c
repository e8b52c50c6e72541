/* The parts of lists and tables: see parts.py. */

#include "compiled.h"

#define DEEPEST 32 /* items nested deeper are text of their ancestor */
#define PART 6     /* fields of a part: start, end, parts, source_ref, header, block_id */

int is_shape(PyObject *object) {
    /* a struct sequence has hidden fields, for which `shaped` makes no room; it can't be a base class */
    return PyType_Check(object) && PyType_IsSubtype((PyTypeObject *)object, &PyTuple_Type) &&
           PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_BASETYPE);
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

PyObject *pair(Py_ssize_t start, Py_ssize_t end) {
    PyObject *made = Py_BuildValue("(nn)", start, end);
    if (made) PyObject_GC_UnTrack(made);
    return made;
}

int position_of(PyObject *given, Py_ssize_t *position) {
    *position = PyNumber_AsSsize_t(given, NULL);
    return *position == -1 && PyErr_Occurred() ? -1 : 0;
}

int positions_of(PyObject *const *given, Py_ssize_t count, Py_ssize_t *positions) {
    for (Py_ssize_t place = 0; place < count; place++)
        if (position_of(given[place], positions + place) < 0) return -1;
    return 0;
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

int add_range(Ranges *ranges, Py_ssize_t start, Py_ssize_t end) {
    if (ranges->size == ranges->room) {
        Py_ssize_t room = ranges->room * 2 + 8;
        Range *more = PyMem_Realloc(ranges->at, (size_t)room * sizeof(Range));
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        ranges->at = more;
        ranges->room = room;
    }
    ranges->at[ranges->size++] = (Range){start, end};
    return 0;
}

/* Drop the ranges that are nested too deep. */
static int make_shallow(Ranges *ranges) {
    Py_ssize_t open = 0, kept = 0;
    if (ranges->size <= DEEPEST) return 0;
    Py_ssize_t *ends = PyMem_New(Py_ssize_t, ranges->size);
    if (!ends) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t number = 0; number < ranges->size; number++) {
        Range range = ranges->at[number];
        while (open && ends[open - 1] <= range.start) open--;
        if (open < DEEPEST) ranges->at[kept++] = range;
        ends[open++] = range.end;
    }
    ranges->size = kept;
    PyMem_Free(ends);
    return 0;
}

typedef struct {
    Py_ssize_t start;
    PyObject *made;
} Item;

/* Move the items that start before `end` off the end of `waiting` into a tuple, the last first. */
static PyObject *children_of(Item *waiting, Py_ssize_t *size, Py_ssize_t end) {
    Py_ssize_t first = *size;
    while (first && waiting[first - 1].start < end) first--;
    PyObject *children = PyTuple_New(*size - first);
    for (Py_ssize_t place = 0; children && *size > first; place++)
        PyTuple_SET_ITEM(children, place, waiting[--*size].made);
    return children;
}

PyObject *items_of(PyObject *text, Ranges *ranges, PyTypeObject *shape) {
    if (make_shallow(ranges) < 0) return NULL;
    Item *waiting = PyMem_New(Item, ranges->size);
    if (!waiting) return PyErr_NoMemory();
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), size = 0;
    int failed = 0;
    /* backwards, so that children come before their parent */
    for (Py_ssize_t number = ranges->size; number-- && !failed;) {
        Py_ssize_t start = ranges->at[number].start, end = ranges->at[number].end;
        PyObject *children = children_of(waiting, &size, end), *made = NULL;
        if (start < 0) start = 0;
        if (end > length) end = length;
        trim(text, &start, &end);
        if (children && start < end) made = part(shape, start, end, children, 0);
        else Py_XDECREF(children);
        if (made) waiting[size++] = (Item){start, made};
        failed = !children || (start < end && !made);
    }
    PyObject *all = failed ? NULL : children_of(waiting, &size, PY_SSIZE_T_MAX);
    while (size) Py_DECREF(waiting[--size].made);
    PyMem_Free(waiting);
    return all;
}

PyObject *rows_of(PyObject *text, const Ranges *ranges, Py_ssize_t end, PyTypeObject *shape) {
    PyObject *rows = PyList_New(0), *made = NULL;
    int failed = !rows;
    for (Py_ssize_t number = 0; number < ranges->size && !failed; number++) {
        Py_ssize_t start = ranges->at[number].start;
        Py_ssize_t next = number + 1 < ranges->size ? ranges->at[number + 1].start : end;
        trim(text, &start, &next);
        if (start < next) failed = append(rows, part(shape, start, next, PyTuple_New(0), number == 0)) < 0;
    }
    if (!failed) made = PyList_AsTuple(rows);
    Py_XDECREF(rows);
    return made;
}

/* Read a sequence of pairs. */
static int read_ranges(PyObject *given, Ranges *ranges) {
    PyObject *pairs = PySequence_Tuple(given);
    int failed = !pairs;
    for (Py_ssize_t number = 0; !failed && number < PyTuple_GET_SIZE(pairs); number++) {
        PyObject *both = PyTuple_GET_ITEM(pairs, number);
        Py_ssize_t edge[2];
        if (!PyTuple_Check(both) || PyTuple_GET_SIZE(both) != 2) {
            PyErr_SetString(PyExc_TypeError, "a range is a pair of integers");
            failed = 1;
        } else {
            failed = positions_of(&PyTuple_GET_ITEM(both, 0), 2, edge) < 0 || add_range(ranges, edge[0], edge[1]) < 0;
        }
    }
    Py_XDECREF(pairs);
    return failed ? -1 : 0;
}

/* items(text, ranges, shape) -> tuple */
PyObject *items(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3 || !PyUnicode_Check(arguments[0]) || !is_shape(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "items takes a text, ranges, and a shape");
        return NULL;
    }
    Ranges ranges = {0};
    PyObject *made = NULL;
    if (read_ranges(arguments[1], &ranges) == 0)
        made = items_of(arguments[0], &ranges, (PyTypeObject *)arguments[2]);
    PyMem_Free(ranges.at);
    return made;
}
