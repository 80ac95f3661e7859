/* An extension module for one level of processors: whether this one can run it, and what Python finds in it.

   The level's macros are PROCESSOR, MODULE_NAME, INIT and, for x86-64, X86_64_LEVEL. */

#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#ifdef X86_64_LEVEL
#include <cpuid.h>
#endif

PyObject *find_kernel(PyObject *self, PyObject *arguments);
int start(PyObject *module);

static PyMethodDef METHODS[] = {{"kernel", find_kernel, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, .m_name = MODULE_NAME, .m_size = -1,
                                    .m_methods = METHODS};

#ifdef X86_64_LEVEL
/* Written by hand: the function of compilers needs a runtime library that not all of them link. */
static int can_run(void) {
  enum { FMA = 1 << 12, SSE4_2 = 1 << 20, POPCNT = 1 << 23, OSXSAVE = 1 << 27 };
  enum { BMI1 = 1 << 3, AVX2 = 1 << 5, BMI2 = 1 << 8 };
  enum { AVX512F = 1 << 16, AVX512DQ = 1 << 17, AVX512CD = 1 << 28, AVX512BW = 1 << 30 };
  const unsigned v2 = SSE4_2 | POPCNT, v3 = FMA | OSXSAVE, v3_more = BMI1 | AVX2 | BMI2;
  const unsigned v4 = AVX512F | AVX512DQ | AVX512CD | AVX512BW | 1u << 31; /* AVX512VL */
  unsigned a, b, c, d, saved = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & v2) != v2) return 0;
  if (X86_64_LEVEL == 2) return 1;
  if ((c & v3) != v3 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  __asm__ volatile("xgetbv" : "=a"(saved), "=d"(d) : "c"(0)); /* registers that the system saves */
  if ((saved & 0x06) != 0x06 || (b & v3_more) != v3_more) return 0;
  return X86_64_LEVEL == 3 || ((saved & 0xe6) == 0xe6 && (b & v4) == v4);
}
#else
static int can_run(void) { return 1; }
#endif

PyMODINIT_FUNC INIT(void) {
  if (!can_run()) {
    PyErr_SetString(PyExc_ImportError, "the processor is below " PROCESSOR);
    return NULL;
  }
  PyObject *module = PyModule_Create(&MODULE);
  if (module && (start(module) < 0 || PyModule_AddStringConstant(module, "DIGEST", DIGEST) < 0 ||
                 PyModule_AddStringConstant(module, "COMPILED_BY", COMPILED_BY) < 0))
    Py_CLEAR(module);
  return module;
}
