/* The conversion of Python's values in and out, behind `memory.c`.

   It includes nothing but Python's stable interface and NumPy's, so that one file serves all Pythons. It is
   compiled once for a system; `module.c` is what differs between levels of processors. */

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <stdarg.h>
#include <string.h>
#include <structmember.h>

/* ---- arguments: each tells whether a value is of the type, exactly ---- */

enum { IN_ORDER = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED };

static inline int array(PyObject *value, int type, int dimensions, int flags) {
  if (!PyArray_Check(value)) return 0;
  PyArrayObject *values = (PyArrayObject *)value;
  int found = PyArray_TYPE(values);
  if (found == NPY_LONGLONG) found = NPY_INT64; /* types of one size: systems differ in which */
  if (found == NPY_ULONGLONG) found = NPY_UINT64;
  if (found == NPY_INT) found = NPY_INT32;
  if (found == NPY_UINT) found = NPY_UINT32;
  return found == type && PyArray_NDIM(values) == dimensions &&
         (PyArray_FLAGS(values) & flags) == flags && PyArray_ISNOTSWAPPED(values);
}

static inline int float64(PyObject *value, double *number) {
  if (!PyFloat_Check(value)) return 0;
  *number = PyFloat_AsDouble(value);
  return 1;
}

static inline int float32(PyObject *value, float *number) {
  if (!PyArray_IsScalar(value, Float32)) return 0;
  PyArray_ScalarAsCtype(value, number);
  return 1;
}

static inline int boolean(PyObject *value, uint8_t *flag) {
  *flag = value == Py_True;
  if (*flag || value == Py_False) return 1;
  if (!PyArray_IsScalar(value, Bool)) return 0;
  PyArray_ScalarAsCtype(value, flag);
  return 1;
}

/* A Python integer is an int64, or a uint64 if it is too large; NumPy's have their own type. */
static inline int int64(PyObject *value, int64_t *number) {
  if (PyLong_CheckExact(value)) {
    int overflow;
    *number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow;
  }
  if (!PyArray_IsScalar(value, Int64) && !PyArray_IsScalar(value, LongLong)) return 0;
  PyArray_ScalarAsCtype(value, number);
  return 1;
}

static inline int uint64(PyObject *value, uint64_t *number) {
  if (PyLong_CheckExact(value)) {
    int overflow;
    PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow <= 0) return 0;
    *number = PyLong_AsUnsignedLongLong(value);
    if (!PyErr_Occurred()) return 1;
    PyErr_Clear();
    return 0;
  }
  if (!PyArray_IsScalar(value, UInt64) && !PyArray_IsScalar(value, ULongLong)) return 0;
  PyArray_ScalarAsCtype(value, number);
  return 1;
}

#define NUMPY_SCALAR(name, c_type, numpy_type)                   \
  static inline int name(PyObject *value, c_type *number) {      \
    if (!PyArray_IsScalar(value, numpy_type)) return 0;          \
    PyArray_ScalarAsCtype(value, number);                        \
    return 1;                                                    \
  }
NUMPY_SCALAR(int8, int8_t, Int8)
NUMPY_SCALAR(int16, int16_t, Int16)
NUMPY_SCALAR(int32, int32_t, Int32)
NUMPY_SCALAR(uint8, uint8_t, UInt8)
NUMPY_SCALAR(uint16, uint16_t, UInt16)
NUMPY_SCALAR(uint32, uint32_t, UInt32)

static inline int tuple(PyObject *value, Py_ssize_t count) {
  return PyTuple_CheckExact(value) && PyTuple_Size(value) == count;
}

/* Kernels read its fields by place, so that the class need not be known. */
static inline int named_tuple(PyObject *value, Py_ssize_t count) {
  return PyTuple_Check(value) && PyTuple_Size(value) == count;
}

/* ---- results ---- */

static void release(Memory *memory) {
  if (memory && __atomic_sub_fetch(&memory->references, 1, __ATOMIC_ACQ_REL) == 0)
    NRT_MemInfo_call_dtor(memory);
}

/* An array as machine code holds it; shape and strides follow. */
typedef struct {
  Memory *memory;
  PyObject *parent;
  int64_t count, item_size;
  char *data;
  int64_t lengths[];
} Array;

static void release_capsule(PyObject *capsule) { release(PyCapsule_GetPointer(capsule, NULL)); }

static int is_whole(PyObject *parent, const Array *values, int dimensions) {
  if (!parent || !PyArray_Check(parent)) return 0;
  PyArrayObject *other = (PyArrayObject *)parent;
  size_t size = dimensions * sizeof(npy_intp);
  return PyArray_DATA(other) == values->data && PyArray_NDIM(other) == dimensions &&
         !memcmp(PyArray_DIMS(other), values->lengths, size) &&
         !memcmp(PyArray_STRIDES(other), values->lengths + dimensions, size);
}

static PyObject *from_array(const Array *values, int dimensions, int type, int flags) {
  if (is_whole(values->parent, values, dimensions)) {
    release(values->memory);
    return Py_NewRef(values->parent);
  }
  npy_intp *shape = (npy_intp *)values->lengths;
  PyObject *owner = values->memory   ? PyCapsule_New(values->memory, NULL, release_capsule)
                    : values->parent ? Py_NewRef(values->parent)
                                     : NULL;
  PyObject *made = PyArray_New(&PyArray_Type, dimensions, shape, type, shape + dimensions,
                               values->data, 0, flags | NPY_ARRAY_ALIGNED, NULL);
  if (!made || (owner && PyArray_SetBaseObject((PyArrayObject *)made, owner) < 0)) {
    Py_XDECREF(made);
    return NULL;
  }
  PyArray_UpdateFlags((PyArrayObject *)made, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
  return made;
}

static PyObject *from_tuple(int count, ...) {
  PyObject *made = PyTuple_New(count);
  va_list parts;
  va_start(parts, count);
  for (int i = 0; i < count; i++) {
    PyObject *part = va_arg(parts, PyObject *);
    if (part && made)
      PyTuple_SetItem(made, i, part);
    else {
      Py_CLEAR(made);
      Py_XDECREF(part);
    }
  }
  va_end(parts);
  return made;
}

/* An exception of a kernel: (class, arguments or None, place), pickled. */
typedef struct {
  const char *pickled;
  int32_t size;
  const char *hash;
  void *unwrap;
  int32_t is_dynamic;
} Raised;

enum { NO_MATCH, DONE, FAILED };
enum { STATUS_RAISED = 1, STATUS_ERROR_IS_SET = -1 };

static int failed(int32_t status, const Raised *raised) {
  PyObject *parts = NULL;
  if (status == STATUS_ERROR_IS_SET && PyErr_Occurred()) return FAILED;
  if (status >= STATUS_RAISED && raised && !raised->is_dynamic) {
    PyObject *pickle = PyImport_ImportModule("pickle");
    if (pickle)
      parts = PyObject_CallMethod(pickle, "loads", "y#", raised->pickled, (Py_ssize_t)raised->size);
    Py_XDECREF(pickle);
  }
  if (parts && PyTuple_Check(parts) && PyTuple_Size(parts) >= 2) {
    PyObject *arguments = PyTuple_GetItem(parts, 1);
    PyErr_SetObject(PyTuple_GetItem(parts, 0), arguments == Py_None ? NULL : arguments);
  } else {
    PyErr_Clear();
    PyErr_Format(PyExc_RuntimeError, "a compiled function ended with status %d", (int)status);
  }
  Py_XDECREF(parts);
  return FAILED;
}

/* A function's `self` is called if no machine code fits the types. */
static PyObject *call_fallback(PyObject *fallback, PyObject *const *values, Py_ssize_t count) {
  PyObject *arguments = PyTuple_New(count);
  if (!arguments) return NULL;
  for (Py_ssize_t i = 0; i < count; i++) PyTuple_SetItem(arguments, i, Py_NewRef(values[i]));
  PyObject *result = PyObject_Call(fallback, arguments, NULL);
  Py_DECREF(arguments);
  return result;
}

/* ---- what `module.c` asks ---- */

typedef struct {
  const char *module;
  PyMethodDef method;
} Kernel;

static Kernel KERNELS[];
static int add_quick(PyObject *module);

/* kernel(module within its package, name, fallback, module): the compiled function, or None */
PyObject *find_kernel(PyObject *self, PyObject *arguments) {
  const char *within, *name;
  PyObject *fallback, *module;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "ssOO", &within, &name, &fallback, &module)) return NULL;
  for (Kernel *k = KERNELS; k->module; k++)
    if (!strcmp(k->method.ml_name, name) && !strcmp(k->module, within))
      return PyCFunction_NewEx(&k->method, fallback, module);
  return Py_NewRef(Py_None);
}

/* Make a module ready. */
int start(PyObject *module) { return _import_array() < 0 ? -1 : add_quick(module); }
