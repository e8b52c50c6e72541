/* Declarations shared by the files of the extension. Functions for Python are documented in the Python files. */

#ifndef SPANWISE_COMPILED_H
#define SPANWISE_COMPILED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <string.h>

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
PyObject *kept_ranges(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *line_starts(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *mark_hints(PyObject *module, PyObject *text);
PyObject *misplaced(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *plain_words(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *plans_at_sight(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *settled_alone(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *token_ends(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *tokens_between(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *visible_range(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *visible_ranges(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *walk(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *without_hidden(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *words_of(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* Every argument that may be changed while Python code runs (an `__index__`, an iterator, a finalizer) is copied into
   a tuple or an array of our own first, and values taken from dictionaries are owned while they are used. Lists grow
   by `append`: one with empty places could be found through the garbage collector. */

/* Read an integer; one beyond the range of Py_ssize_t is moved to its end, as a slice does. -1 if it is none. */
int position_of(PyObject *given, Py_ssize_t *position);
int positions_of(PyObject *const *given, Py_ssize_t count, Py_ssize_t *positions);

/* Whether an object is a class of tuples, such as a named tuple. */
int is_shape(PyObject *object);
/* Return a named tuple that steals the references of `fields`; NULL if one of them is NULL.
   It can't be part of a reference cycle, so it is hidden from the garbage collector to save its time. */
PyObject *shaped(PyTypeObject *shape, PyObject **fields, int size);
/* Return a pair of integers, hidden from the garbage collector too. */
PyObject *pair(Py_ssize_t start, Py_ssize_t end);
/* Append `made` and release the reference to it; -1 if it is NULL. */
int append(PyObject *list, PyObject *made);
/* Trim white space off both ends of a range. */
void trim(PyObject *text, Py_ssize_t *start, Py_ssize_t *end);

typedef struct {
    Py_ssize_t start, end;
} Range;

/* A list of ranges that grows; all zeros is an empty one. Its memory is released by PyMem_Free(ranges.at). */
typedef struct {
    Range *at;
    Py_ssize_t size, room;
} Ranges;

int add_range(Ranges *ranges, Py_ssize_t start, Py_ssize_t end);
/* Return the parts of a list or table from ranges in characters; the last row of a table extends to its end. */
PyObject *items_of(PyObject *text, Ranges *ranges, PyTypeObject *shape);
PyObject *rows_of(PyObject *text, const Ranges *ranges, Py_ssize_t end, PyTypeObject *shape);

/* The bytes of a text, and their positions in characters. */
typedef struct {
    const char *bytes;
    Py_ssize_t length; /* in bytes */
    Py_ssize_t *known; /* the character position of every 64th byte; NULL for ASCII */
} Characters;

int know_characters(Characters *characters, PyObject *text);
Py_ssize_t character_at(const Characters *characters, Py_ssize_t place);

/* An event of the Markdown parser with what it says; all objects are owned, and NULL where there is none. */
typedef struct {
    PyObject *name, *said;
    PyObject *tag, *more; /* of what starts: its name and attributes */
    Py_ssize_t start, end;
} Event;

int open_event(Py_ssize_t length, PyObject *pair, Event *event);
void release_event(Event *event);
/* Whether a string is a word. */
static inline int is_word(PyObject *name, const char *word, Py_ssize_t length) {
    if (PyUnicode_GET_LENGTH(name) != length) return 0;
    if (!PyUnicode_IS_COMPACT_ASCII(name)) return PyUnicode_CompareWithASCIIString(name, word) == 0;
    return memcmp(PyUnicode_1BYTE_DATA(name), word, (size_t)length) == 0;
}
#define IS(name, word) is_word(name, word, (Py_ssize_t)sizeof(word) - 1)

/* Collects what a page shows of a text from one event after the other; all zeros after `release_kept`. */
typedef struct {
    const Characters *text;
    Ranges ranges;
    PyObject *changed, *tags;
    char *ordered; /* the lists that are open, and whether each has numbers */
    Py_ssize_t depth, room;
    int in_code;
    Py_ssize_t reached; /* the end of the last cell */
} Kept;

int begin_kept(Kept *kept, const Characters *text);
int take_kept(Kept *kept, const Event *event);
PyObject *found_kept(const Kept *kept);
void release_kept(Kept *kept);

/* The character positions where the tokens of a text end: 32-bit integers at any address. */
typedef struct {
    Py_buffer buffer;
    const char *bytes;
    Py_ssize_t size;
} Ends;

typedef struct {
    PyObject *text;
    int kind;
    const void *data;
    Py_ssize_t length;
} Text;

/* A search for one position after the other, fast where they ascend; it begins as zeros. */
typedef struct {
    Py_ssize_t reached, before;
} Cursor;

int open_ends(PyObject *given, Ends *ends);
/* Return the number of ends that are at most `position`; those before `low` are known to be. */
Py_ssize_t ended(const Ends *ends, Py_ssize_t low, Py_ssize_t position);
Py_ssize_t ended_next(const Ends *ends, Cursor *cursor, Py_ssize_t position);
Text text_of(PyObject *text);
/* Whether a token always begins at a place in a text that stands after a character. */
int begins_after(Py_UCS4 before, const Text *text, Py_ssize_t place);
/* Count a span, and a joiner after it (NULL for none, never empty); -1 if it would need encoding, -2 for an error. */
Py_ssize_t exact(const Text *text, const Ends *ends, PyObject *known, const Py_ssize_t *edge, PyObject *joiner);

/* What is removed from a text, and where the shown text goes on after it: three arrays of 64-bit integers. */
typedef struct {
    Py_buffer starts, ends, places;
    Py_ssize_t size;
} Places;

int open_places(PyObject *const *given, Places *places);
void close_places(Places *places);
/* Return the place of a position in the shown text; -1 inside a range that is shown as another text. */
Py_ssize_t place_of(const Places *places, Py_ssize_t position);

#endif
