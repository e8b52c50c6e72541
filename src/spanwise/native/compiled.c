/* The extension module `spanwise.native.compiled`: the table of its functions. */

#include "compiled.h"

static PyMethodDef functions[] = {
    {"add_blocks", (PyCFunction)(void (*)(void))add_blocks, METH_FASTCALL, NULL},
    {"collapsed", (PyCFunction)(void (*)(void))collapsed, METH_FASTCALL, NULL},
    {"hints", hints, METH_O, NULL},
    {"is_text", is_text, METH_O, NULL},
    {"items", (PyCFunction)(void (*)(void))items, METH_FASTCALL, NULL},
    {"mark_hints", mark_hints, METH_O, NULL},
    {"misplaced", (PyCFunction)(void (*)(void))misplaced, METH_FASTCALL, NULL},
    {"plain_words", (PyCFunction)(void (*)(void))plain_words, METH_FASTCALL, NULL},
    {"token_ends", (PyCFunction)(void (*)(void))token_ends, METH_FASTCALL, NULL},
    {"walk", (PyCFunction)(void (*)(void))walk, METH_FASTCALL, NULL},
    {"without_hidden", (PyCFunction)(void (*)(void))without_hidden, METH_FASTCALL, NULL},
    {"words_of", (PyCFunction)(void (*)(void))words_of, METH_FASTCALL, NULL},
    {"tokens_between", (PyCFunction)(void (*)(void))tokens_between, METH_FASTCALL, NULL},
    {"ended_at_each", (PyCFunction)(void (*)(void))ended_at_each, METH_FASTCALL, NULL},
    {"exact_tokens", (PyCFunction)(void (*)(void))exact_tokens, METH_FASTCALL, NULL},
    {"ended_at", (PyCFunction)(void (*)(void))ended_at, METH_FASTCALL, NULL},
    {"ended_at_edges", (PyCFunction)(void (*)(void))ended_at_edges, METH_FASTCALL, NULL},
    {"visible_range", (PyCFunction)(void (*)(void))visible_range, METH_FASTCALL, NULL},
    {"visible_ranges", (PyCFunction)(void (*)(void))visible_ranges, METH_FASTCALL, NULL},
    {"kept_ranges", (PyCFunction)(void (*)(void))kept_ranges, METH_FASTCALL, NULL},
    {"line_starts", (PyCFunction)(void (*)(void))line_starts, METH_FASTCALL, NULL},
    {"settled_alone", (PyCFunction)(void (*)(void))settled_alone, METH_FASTCALL, NULL},
    {"plans_at_sight", (PyCFunction)(void (*)(void))plans_at_sight, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "spanwise.native.compiled", NULL, 0, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_compiled(void) { return PyModuleDef_Init(&module); }
