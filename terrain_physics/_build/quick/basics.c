/* ---- single calls: the usual case of some methods, in C ----

   An entry stands in for a method of Python on its class. It reads the values, has the method's
   kernels compute, and makes the result. Where anything is unusual, such as a type or an owner, it
   calls the method instead. So all errors are the method's, and rules are the kernels'.
   Python gives what an entry knows, in an order that is in this file alone: see `_kernels/_quick.py`.
   The files of this folder are one source: these basics, characters, groups, questions, moves, and
   all entries. */

typedef struct Quick Quick;
static PyObject *TYPE, *NOTHING, *BIND; /* that of `Quick`, an empty tuple, the class of methods */

/* An entry returns NULL and sets no error to have the method called. */
typedef PyObject *(*QuickCall)(Quick *quick, PyObject *arguments, PyObject *options);

/* What a method returns for what its kernel found on a map, with these materials. */
typedef PyObject *(*QuickAnswer)(Quick *quick, PyObject *found, PyObject *made_of);

/* What arrays of a ground answer, which nobody edits meanwhile, to a question of some numbers. */
typedef PyObject *(*QuickAsk)(Quick *quick, PyObject *arrays, const double *numbers, int count);

/* What stands in for a method; classes hold it as long as the process lives. */
struct Quick {
  PyObject head;
  PyObject *method; /* a function of Python, as which this one shows itself */
  PyObject *references; /* weak ones: `WeakMethod` makes them */
  QuickCall call;
  QuickAsk ask; /* NULL: it is no question, or only to a map alone */
  QuickAnswer answer;
  PyObject *kept[32];
};

static PyObject *quick_call(PyObject *self, PyObject *arguments, PyObject *options) {
  Quick *quick = (Quick *)self;
  PyObject *result = quick->call(quick, arguments, options);
  if (result || PyErr_Occurred()) return result;
  return PyObject_Call(quick->method, arguments, options);
}

static PyObject *quick_bound(PyObject *self, PyObject *object, PyObject *type) {
  (void)type;
  if (!object || object == Py_None) return Py_NewRef(self);
  return PyObject_CallFunctionObjArgs(BIND, self, object, NULL);
}

static PyObject *quick_attribute(PyObject *self, PyObject *name) {
  return PyObject_GetAttr(((Quick *)self)->method, name); /* its class and signature, too */
}

static PyObject *quick_doc(PyObject *self, void *unused) { /* `help` asks the type for it */
  (void)unused;
  return PyObject_GetAttrString(((Quick *)self)->method, "__doc__");
}

static PyGetSetDef QUICK_DOC[] = {{"__doc__", quick_doc, NULL, NULL, NULL}, {0}};
static PyMemberDef QUICK_MEMBERS[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Quick, references), READONLY, NULL}, {0}};
static PyType_Slot QUICK_SLOTS[] = {
    {Py_tp_call, quick_call}, {Py_tp_descr_get, quick_bound}, {Py_tp_getattro, quick_attribute},
    {Py_tp_getset, QUICK_DOC}, {Py_tp_members, QUICK_MEMBERS}, {0, NULL}};
static PyType_Spec QUICK_SPEC = {
    "terrain_physics._kernels.Quick", sizeof(Quick), 0, Py_TPFLAGS_DEFAULT |
    Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION, QUICK_SLOTS};

/* ---- reading and writing objects of Python ---- */

#define WORDS(_)                                                                                   \
  _(_group) _(_owner) _(_own_rules) _(_time) _(_position) _(_velocity) _(_numbers) _(_ground)      \
  _(_idle) _(shown) _(written) _(contents) _(streaming) _(ground_arrays) _(_see_changes)           \
  _(_run_alone) _(_keep_idle) _(_slept_on) _(_adopt_owner) _(_show_owner) _(max_distance)          \
  _(origin64) _(direction64) _(asked) _(naming) _(center64) _(radius) _(keep) _(deepest) _(all)    \
  _(delta_time) _(_before) _(_is_changing) _(meshes) _(watchers) _(_watching) _(_map_set)         \
  _(reader) _(changed) _(lock) _(_watch) _(_readers) _(_threads) _(_table) _(movers) _(changes)    \
  _(_is_lent) _(_rows) _(_boxes) _(_links) _(_spots) _(_reaches) _(numbers) _(_room) _(rows)       \
  _(told) _(_gone) _(_data) _(_places) _(_adopted) _(_shown) _(_end) _(time) _(ground)             \
  _(cell_sizes) _(_advance) _(show_adopted) _(a64) _(b64) _(half_extents64) _(rotation64)         \
  _(lower64) _(upper64)
#define AS_NUMBER(word) N_##word,
#define AS_TEXT(word) #word,
enum { WORDS(AS_NUMBER) NAMES };
static const char *const TEXT[] = {WORDS(AS_TEXT)};
static PyObject *NAME[NAMES];

/* What Python keeps for the entries, in this order: for all; for characters and groups; for moves;
   for questions; of maps; of meshes. */
enum { VEC3, SURFACE, QUERIES, OF_ACQUIRE, OF_RELEASE, OF_METHODS, GROUND_ARRAYS, TABLE, COMMON };
enum { MOVEMENT = COMMON, ROWS, FRAME_TIME, MAX_DELTA, IN_UPDATE, LAST, RESULT, SECONDS, WAITING,
       OF_UPDATES };
enum { LIVE_VEC3 = OF_UPDATES, DRIVE, VALUES, MET, UPDATE, ALONE, ZERO, ONE, EMPTY_ROW,
       FIRST_PLACE };
enum { DATA = OF_UPDATES, STATES, LOGS, BEFORE, MADE, LOGS_OF, TOUCHED, OF_GROUPS };
enum { GROUND = COMMON, HELD, PARTS, MOVE, TOLERANCE, DVEC3, MAT4, DMAT4, MOVE_ALL, MERGE, MOST_CHANGES,
       LATEST_CHANGES, MOST_MERGED, OF_MOVES };
enum { POSITION, VELOCITY, GROUND_VERSION, CONTACT_SIGNATURE, GROUND_KIND, GROUND_TRIANGLE,
       PLACES };
#define OF_CHARACTERS (FIRST_PLACE + PLACES)
enum { NAMING = COMMON, NO_NAMES, KERNEL, MADE_OF, ALL_LAYERS, NEW_HIT, HIT, OF_ANY_QUESTION };
enum { RAY = OF_ANY_QUESTION, OF_TABLES };
enum { NO_NUMBER = OF_ANY_QUESTION, OF_PLACES };
enum { BALL = OF_ANY_QUESTION, PILL, TURNED_BOX, ALIGNED_BOX, KIND_OF_BALL, KIND_OF_PILL,
       KIND_OF_BOX, OF_ANY_SHAPE };
enum { OF_OTHERS = OF_ANY_SHAPE, OF_GROUNDS, MATERIALS_OF, CONTACTS, INTS, FLOATS, MATERIAL,
       OF_SHAPES };
enum { FIND_SKINS = OF_ANY_SHAPE, NO_SKINS, OF_SWEEPS };
enum { MAP_QUERIES, KEEPER, SOURCE, SOLID_MAP, BARE_AT, KNOWN_AT, KNOWN, STORAGE, MAP_STORAGE, VERSION,
       LOCK, ARRAYS, VIEWS, MATERIALS, OF_MAPS };
static PyObject *MAP[OF_MAPS]; /* NULL as long as no map is loaded */
enum { MESH_QUERIES, MESHES, MESH_STORAGE, SHOWN, MESH_TABLE, VIEW, MESH_VIEW, OF_MESHES };
static PyObject *MESH[OF_MESHES]; /* the same of meshes */
static PyObject *ASKED; /* the class of queries whose method `asked` gives arrays, or NULL */
static Py_ssize_t PLACE[PLACES]; /* of columns that C itself reads */
#define ITEM PyTuple_GetItem
#define KEPT(name) (quick->kept[name])
#define IS_OF(object, name) ((PyObject *)Py_TYPE(object) == KEPT(name))

/* A field of a class with slots, by the descriptor of the slot. */
static descrgetfunc GET_SLOT;
static descrsetfunc SET_SLOT;

static PyObject *slot_of(PyObject *descriptor, PyObject *object) {
  return GET_SLOT(descriptor, object, (PyObject *)Py_TYPE(object));
}

/* Whether a call went well, whose result is of no concern. */
static int went_well(PyObject *result) {
  Py_XDECREF(result);
  return result != NULL;
}

static int number(PyObject *value, double *number) {
  if (!PyFloat_CheckExact(value) && !PyLong_CheckExact(value)) return 0;
  *number = PyFloat_AsDouble(value);
  if (*number != -1.0 || !PyErr_Occurred()) return isfinite(*number);
  PyErr_Clear(); /* it is too large: the method says so */
  return 0;
}

/* A lock is taken and given back by C alone, so that no signal handler comes between. */
static PyTypeObject *RLOCK; /* whose both are; NULL if this Python's have other forms */
static PyCFunctionWithKeywords ACQUIRE;
static PyCFunction RELEASE;

static int take(PyObject *lock) { /* unless a signal handler raises */
  return went_well(Py_TYPE(lock) == RLOCK ? ACQUIRE(lock, NOTHING, NULL)
                                         : PyObject_CallMethod(lock, "acquire", NULL));
}

static void give_back(PyObject *lock) {
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  went_well(Py_TYPE(lock) == RLOCK ? RELEASE(lock, NULL)
                                  : PyObject_CallMethod(lock, "release", NULL));
  if (type) PyErr_Restore(type, error, trace);
}

static void drop(PyObject **objects, int count) {
  for (int i = 0; i < count; i++) Py_XDECREF(objects[i]);
}

/* The storage of a map that is no part of a ground; NULL: another ground. */
static PyObject *storage_of(PyObject *queries) {
  if ((PyObject *)Py_TYPE(queries) != MAP[MAP_QUERIES]) return NULL;
  PyObject *source = slot_of(MAP[SOURCE], queries), *storage = NULL;
  if (source && (PyObject *)Py_TYPE(source) == MAP[SOLID_MAP])
    storage = slot_of(MAP[STORAGE], source);
  if (storage && (PyObject *)Py_TYPE(storage) != MAP[MAP_STORAGE]) Py_CLEAR(storage);
  Py_XDECREF(source);
  return storage;
}

/* Whether what is known of a map, whose lock is held, is of now: a slot tells its version. */
static int is_of_now(PyObject *queries, PyObject *storage, int place) {
  PyObject *source = slot_of(MAP[SOURCE], queries);
  PyObject *both[] = {source ? slot_of(MAP[place], source) : NULL, slot_of(MAP[VERSION], storage)};
  Py_XDECREF(source);
  int are_equal = both[0] && both[1] && PyObject_RichCompareBool(both[0], both[1], Py_EQ) == 1;
  drop(both, 2);
  return are_equal;
}

/* Whether it is known to be all surface now. */
static int is_bare(PyObject *queries, PyObject *storage) {
  return is_of_now(queries, storage, BARE_AT);
}

/* The arrays of a map with sides, which were made of arrays of a surface; NULL: of others. */
static PyObject *arrays_with_sides(PyObject *queries, PyObject *surface) {
  PyObject *source = slot_of(MAP[SOURCE], queries), *arrays = NULL;
  PyObject *known = source ? slot_of(MAP[KNOWN], source) : NULL;
  if (known && ITEM(known, 0) == surface) arrays = Py_NewRef(ITEM(known, 2));
  drop((PyObject *[]){source, known}, 2);
  return arrays;
}

/* The arrays of a map, whose lock is held. */
static PyObject *arrays_of(PyObject *queries, PyObject *storage) {
  PyObject *surface = slot_of(MAP[ARRAYS], storage), *arrays = NULL;
  if (is_bare(queries, storage)) return surface;
  if (is_of_now(queries, storage, KNOWN_AT)) arrays = arrays_with_sides(queries, surface);
  Py_XDECREF(surface);
  return arrays ? arrays : PyObject_GetAttr(queries, NAME[N_ground_arrays]);
}

/* The arrays of a mesh that is no part of a ground, if they are as it is now; NULL: others. */
static PyObject *mesh_arrays_of(PyObject *queries) {
  enum { STORED, TABLED, SEEN, NOW, OBJECTS };
  if ((PyObject *)Py_TYPE(queries) != MESH[MESH_QUERIES]) return NULL;
  PyObject *own[OBJECTS] = {slot_of(MESH[MESHES], queries)}, *arrays = NULL;
  if (own[STORED] && (PyObject *)Py_TYPE(own[STORED]) == MESH[MESH_STORAGE] &&
      (arrays = slot_of(MESH[SHOWN], own[STORED])) &&
      (own[TABLED] = slot_of(MESH[MESH_TABLE], own[STORED])) &&
      (own[SEEN] = slot_of(MESH[VIEW], own[TABLED])))
    own[NOW] = slot_of(MESH[MESH_VIEW], arrays);
  if (!own[NOW] || own[NOW] != own[SEEN]) Py_CLEAR(arrays);
  drop(own, OBJECTS);
  return arrays;
}

static PyObject *table_of(Quick *quick, PyObject *arrays) {
  return arrays && IS_OF(arrays, GROUND_ARRAYS) ? slot_of(KEPT(TABLE), arrays) : NULL;
}

/* Where the three floats of a vec3 lie, until the buffer is released; NULL: an error. */
static float *floats_of(PyObject *vector, Py_buffer *buffer) {
  if (PyObject_GetBuffer(vector, buffer, PyBUF_FORMAT | PyBUF_WRITABLE)) return NULL;
  if (buffer->len == 12 && buffer->format && *buffer->format == 'f') return buffer->buf;
  PyErr_SetString(PyExc_SystemError, "a vec3 of PyGLM holds no three floats");
  PyBuffer_Release(buffer);
  return NULL;
}

static PyObject *call_kernel(PyObject *kernel, PyObject *const *values, Py_ssize_t count) {
  typedef PyObject *(*Kept)(PyObject *, PyObject *const *, Py_ssize_t);
  Kept function = (Kept)(void (*)(void))PyCFunction_GetFunction(kernel);
  return function(PyCFunction_GetSelf(kernel), values, count);
}
