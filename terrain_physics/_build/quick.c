/* ---- single calls: the usual case of some methods, in C ----

   An entry stands in for a method of Python on its class. It reads the values, has the method's
   kernels compute, and makes the result. Where anything is unusual, such as a type or an owner, it
   calls the method instead. So all errors are the method's, and rules are the kernels'.
   Python gives what an entry knows, in an order that is here alone: see `_kernels/_quick.py`. */

typedef struct Quick Quick;
static PyObject *TYPE, *NOTHING, *BIND; /* that of `Quick`, an empty tuple, the class of methods */

/* An entry returns NULL and sets no error to have the method called. */
typedef PyObject *(*QuickCall)(Quick *quick, PyObject *arguments, PyObject *options);

/* What stands in for a method; classes hold it as long as the process lives. */
struct Quick {
  PyObject head;
  PyObject *method; /* a function of Python, as which this one shows itself */
  PyObject *references; /* weak ones: `WeakMethod` makes them */
  QuickCall call;
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
  _(_run_alone) _(_keep_idle) _(max_distance) _(origin64) _(direction64)
#define AS_NUMBER(word) N_##word,
#define AS_TEXT(word) #word,
enum { WORDS(AS_NUMBER) NAMES };
static const char *const TEXT[] = {WORDS(AS_TEXT)};
static PyObject *NAME[NAMES];

/* What Python keeps for the entries, in this order: for all; for characters; for rays; of maps. */
enum { VEC3, SURFACE, QUERIES, OF_ACQUIRE, OF_RELEASE, OF_METHODS, GROUND_ARRAYS, TABLE, COMMON };
enum { MOVEMENT = COMMON, ROWS, LIVE_VEC3, DRIVE, FRAME_TIME, MAX_DELTA, IN_UPDATE, LAST, RESULT,
       VALUES, SECONDS, WAITING, MET, UPDATE, ALONE, ZERO, ONE, EMPTY_ROW, FIRST_PLACE };
enum { POSITION, VELOCITY, GROUND_VERSION, CONTACT_SIGNATURE, PLACES };
#define OF_CHARACTERS (FIRST_PLACE + PLACES)
enum { RAY = COMMON, RAY_HIT, NEW_HIT, NAMING, NO_NAMES, MADE_OF, ALL_LAYERS, CAST, OF_RAYS };
enum { MAP_QUERIES, KEEPER, BARE_AT, STORAGE, MAP_STORAGE, VERSION, LOCK, ARRAYS, OF_MAPS };
static PyObject *MAP[OF_MAPS]; /* NULL as long as no map is loaded */
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
  PyObject *storage = slot_of(MAP[STORAGE], queries);
  if (storage && (PyObject *)Py_TYPE(storage) != MAP[MAP_STORAGE]) Py_CLEAR(storage);
  return storage;
}

/* The arrays of a map, whose lock is held, and their table; at once if it is all surface now. */
static PyObject *arrays_of(Quick *quick, PyObject *queries, PyObject *storage, PyObject **table) {
  PyObject *both[] = {slot_of(MAP[BARE_AT], queries), slot_of(MAP[VERSION], storage)};
  int is_bare = both[0] && both[1] && PyObject_RichCompareBool(both[0], both[1], Py_EQ) == 1;
  drop(both, 2);
  PyObject *arrays = is_bare ? slot_of(MAP[ARRAYS], storage)
                             : PyObject_GetAttr(queries, NAME[N_ground_arrays]);
  *table = arrays && IS_OF(arrays, GROUND_ARRAYS) ? slot_of(KEPT(TABLE), arrays) : NULL;
  return arrays;
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

/* ---- a character ---- */

/* A vector that the game may write to; what is not NULL is given back by `end_live`. */
typedef struct {
  PyObject *known;
  Py_buffer live_buffer, shown_buffer;
  float *live, *shown;
  int written;
} Live;

/* A character in the course of a call; all but `self` is given back by `end_hero`. */
typedef struct {
  PyObject *self, *known, *numbers;
  double *row;
  Live at, moves;
} Hero;

static PyObject *known_of(Hero *hero, int name) {
  return PyDict_GetItemWithError(hero->known, NAME[name]);
}

static int begin_live(Quick *quick, PyObject *vector, Live *live) {
  if (!vector || !IS_OF(vector, LIVE_VEC3)) return 0;
  if (!(live->known = PyObject_GenericGetDict(vector, NULL))) return 0;
  PyObject *shown = PyDict_GetItemWithError(live->known, NAME[N_shown]);
  live->written = PyDict_GetItemWithError(live->known, NAME[N_written]) != Py_False;
  return shown && IS_OF(shown, VEC3) && (live->shown = floats_of(shown, &live->shown_buffer)) &&
         (live->live = floats_of(vector, &live->live_buffer));
}

static void end_live(Live *live) {
  PyBuffer_Release(&live->shown_buffer);
  PyBuffer_Release(&live->live_buffer);
  Py_XDECREF(live->known);
}

static int as_shown(const Live *vector) { /* not with a NaN */
  const float *a = vector->live, *b = vector->shown;
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Show new values where the old ones lie; nobody else has them. */
static int show(Live *live, const double *new) {
  PyObject *vector = live->live_buffer.obj; /* another thread may have shown something meanwhile */
  if (PyDict_GetItemWithError(live->known, NAME[N_shown]) != live->shown_buffer.obj)
    return !went_well(PyObject_CallMethod(vector, "show", "((ddd))", new[0], new[1], new[2]));
  for (int i = 0; i < 3; i++)
    live->live[i] = live->shown[i] = (float)new[i] + 0.0f; /* no negative zeros */
  if (PyDict_GetItemWithError(live->known, NAME[N_written]) == Py_False) return 0;
  return PyDict_SetItem(live->known, NAME[N_written], Py_False);
}

/* Whether this is a character alone, as it usually is. */
static int begin_hero(Quick *quick, PyObject *self, Hero *hero) {
  hero->self = self;
  if (!PyObject_TypeCheck(self, (PyTypeObject *)KEPT(MOVEMENT))) return 0;
  if (!(hero->known = PyObject_GenericGetDict(self, NULL))) return 0;
  PyObject *group = known_of(hero, N__group);
  return !group || group == Py_None;
}

/* Read its numbers, and what the game may have written: after all Python that a signal handler
   comes into, so that its writes are seen. */
static int read_hero(Quick *quick, Hero *hero, int with_position) {
  PyObject *numbers = known_of(hero, N__numbers);
  if (!numbers || !IS_OF(numbers, ROWS)) return 0;
  hero->numbers = Py_NewRef(numbers);
  PyObject *state = ITEM(numbers, 0);
  if (!array(state, NPY_FLOAT64, 1, IN_ORDER | NPY_ARRAY_WRITEABLE)) return 0;
  hero->row = PyArray_DATA((PyArrayObject *)state);
  return (!with_position || begin_live(quick, known_of(hero, N__position), &hero->at)) &&
         begin_live(quick, known_of(hero, N__velocity), &hero->moves);
}

static void end_hero(Hero *hero) {
  Py_XDECREF(hero->known);
  Py_XDECREF(hero->numbers);
  end_live(&hero->at);
  end_live(&hero->moves);
}

/* Have the kernel give a character a velocity. */
static int drive(Quick *quick, Hero *hero, const double *velocity) {
  PyObject *values[4] = {ITEM(hero->numbers, 0)};
  for (int i = 0; i < 3; i++) values[1 + i] = PyFloat_FromDouble(velocity[i]);
  int done = values[1] && values[2] && values[3] && went_well(call_kernel(KEPT(DRIVE), values, 4));
  drop(values + 1, 3);
  return done ? 0 : -1;
}

/* walk(self, vx, vz) */
static PyObject *walk(Quick *quick, PyObject *arguments, PyObject *options) {
  double velocity[3];
  Hero hero = {0};
  PyObject *result = NULL;
  if (options || PyTuple_Size(arguments) != 3 || !number(ITEM(arguments, 1), &velocity[0]) ||
      !number(ITEM(arguments, 2), &velocity[2]))
    return NULL;
  if (begin_hero(quick, ITEM(arguments, 0), &hero) && read_hero(quick, &hero, 0)) {
    float now = hero.moves.live[1];
    velocity[1] = now == hero.moves.shown[1] ? hero.row[PLACE[VELOCITY] + 1] : now;
    if (isfinite(velocity[1]) && !drive(quick, &hero, velocity) && !show(&hero.moves, velocity))
      result = Py_NewRef(Py_None);
  }
  end_hero(&hero);
  return result;
}

/* An update in its course; all but `seconds` is counted, and NULL where it is not there. */
typedef struct {
  PyObject *seconds, *time, *queries, *storage, *contents;
} Step;

/* Find the ground, and the number of its contents. */
static int begin_ground(Quick *quick, PyObject *ground, Step *step) {
  if (!ground || !PyObject_TypeCheck(ground, (PyTypeObject *)KEPT(SURFACE)) ||
      !(step->queries = slot_of(KEPT(QUERIES), ground)))
    return 0;
  step->storage = storage_of(step->queries);
  PyObject *keeper = step->storage ? slot_of(MAP[KEEPER], step->queries) : NULL;
  Py_XDECREF(keeper);
  if (keeper == Py_None)
    step->contents = slot_of(MAP[VERSION], step->storage);
  else {
    PyObject *streaming = PyObject_GetAttr(step->queries, NAME[N_streaming]);
    Py_XDECREF(streaming);
    if (streaming != Py_None) return 0;
    step->contents = PyObject_GetAttr(step->queries, NAME[N_contents]);
  }
  return step->contents && PyLong_CheckExact(step->contents);
}

static int begin_step(Quick *quick, Hero *hero, PyObject *seconds, Step *step) {
  step->seconds = seconds;
  if (!PyFloat_CheckExact(seconds) || known_of(hero, N__owner) != Py_None) return 0;
  PyObject *rules = known_of(hero, N__own_rules), *time = known_of(hero, N__time);
  if (!rules || !tuple(rules, 0) || !time || !IS_OF(time, FRAME_TIME)) return 0;
  step->time = Py_NewRef(time);
  PyObject *longest = slot_of(KEPT(MAX_DELTA), time);
  int fits = longest && PyFloat_AsDouble(seconds) > 0.0 &&
             PyObject_RichCompareBool(seconds, longest, Py_LE) == 1; /* not a NaN */
  Py_XDECREF(longest);
  return fits && begin_ground(quick, known_of(hero, N__ground), step);
}

static int same_bytes(PyObject *kept, PyObject *row) {
  PyArrayObject *now = (PyArrayObject *)row;
  return PyBytes_Size(kept) == PyArray_DIM(now, 0) * 8 &&
         !memcmp(PyBytes_AsString(kept), PyArray_DATA(now), PyBytes_Size(kept));
}

/* The result of a body at rest again, if nothing was written and the ground is the same. */
static PyObject *idle_result(Hero *hero, Step *step, PyObject *idle) {
  enum { NUMBERS, CHANGED, CONTENTS, LASTED, KEPT_RESULT, IDLE_SIZE };
  static const int PARTS[] = {0, 1, 3};
  if (!named_tuple(idle, IDLE_SIZE) || ITEM(idle, CHANGED) != Py_False ||
      hero->at.written || hero->moves.written || !as_shown(&hero->moves) ||
      PyObject_RichCompareBool(ITEM(idle, CONTENTS), step->contents, Py_EQ) != 1 ||
      PyObject_RichCompareBool(ITEM(idle, LASTED), step->seconds, Py_EQ) != 1)
    return NULL;
  PyObject *numbers = ITEM(idle, NUMBERS);
  for (int i = 0; i < 3; i++)
    if (!same_bytes(ITEM(numbers, i), ITEM(hero->numbers, PARTS[i]))) return NULL;
  return Py_NewRef(ITEM(idle, KEPT_RESULT));
}

/* Take over a velocity that the game wrote: 0; -1: an error, or nothing that is usual. */
static int adopt(Quick *quick, Hero *hero) {
  double velocity[3];
  const Live *moves = &hero->moves;
  if (as_shown(moves)) return moves->written ? -1 : 0;
  for (int i = 0; i < 3; i++) {
    int is_new = moves->live[i] != moves->shown[i];
    velocity[i] = is_new ? moves->live[i] : hero->row[PLACE[VELOCITY] + i];
    if (!isfinite(velocity[i])) return -1;
  }
  return drive(quick, hero, velocity);
}

/* Run the kernel on a map alone, whose lock is held. */
static PyObject *run_locked(Quick *quick, Hero *hero, Step *step) {
  PyObject *table, *arrays = arrays_of(quick, step->queries, step->storage, &table);
  PyObject *numbers = hero->numbers, *done = NULL;
  if (table) {
    PyObject *values[] = {ITEM(numbers, 0), ITEM(numbers, 3),
                          ITEM(numbers, 1), ITEM(numbers, 4),
                          KEPT(ALONE), step->seconds, KEPT(ZERO), KEPT(ONE), table};
    done = call_kernel(KEPT(UPDATE), values, 9);
  }
  Py_XDECREF(table);
  Py_XDECREF(arrays);
  return done;
}

/* Tell whether it ran into something. On other grounds there is more to do as a lock is taken. */
static PyObject *run(Quick *quick, Hero *hero, Step *step) {
  if (!step->storage)
    return PyObject_CallMethodObjArgs(hero->self, NAME[N__run_alone], step->queries,
                                      step->seconds, NULL);
  PyObject *lock = slot_of(MAP[LOCK], step->storage), *done = NULL;
  if (lock && take(lock)) {
    done = run_locked(quick, hero, step);
    give_back(lock);
  }
  Py_XDECREF(lock);
  return done;
}

static PyObject *row_copied(Quick *quick, const double *row) {
  Py_buffer buffer; /* of an array of its own that has as many numbers */
  PyObject *values = PySequence_Repeat(KEPT(EMPTY_ROW), 1);
  if (!values || PyObject_GetBuffer(values, &buffer, PyBUF_WRITABLE)) {
    Py_XDECREF(values);
    return NULL;
  }
  memcpy(buffer.buf, row, buffer.len);
  PyBuffer_Release(&buffer);
  return values;
}

/* Its hits, and the ground that they are on. */
static PyObject *log_of(Hero *hero, Step *step) {
  PyArrayObject *hits = (PyArrayObject *)ITEM(hero->numbers, 4);
  PyObject *rows = PyBytes_FromStringAndSize(PyArray_DATA(hits), PyArray_DIM(hits, 0) * 8);
  PyObject *log = rows ? PyTuple_Pack(2, rows, step->queries) : NULL;
  Py_XDECREF(rows);
  return log;
}

static PyObject *result_of(Quick *quick, Hero *hero, Step *step, int ran_into) {
  PyObject *values = row_copied(quick, hero->row), *made = NULL;
  PyObject *met = ran_into ? log_of(hero, step) : Py_NewRef(Py_None);
  if (values && met) made = PyType_GenericAlloc((PyTypeObject *)KEPT(RESULT), 0);
  if (made &&
      (SET_SLOT(KEPT(VALUES), made, values) || SET_SLOT(KEPT(SECONDS), made, step->seconds) ||
       SET_SLOT(KEPT(WAITING), made, Py_False) || SET_SLOT(KEPT(MET), made, met)))
    Py_CLEAR(made);
  drop((PyObject *[]){values, met}, 2);
  return made;
}

/* Advance, show what came of it, and make the result. */
static PyObject *advance(Quick *quick, Hero *hero, Step *step) {
  if (hero->row[PLACE[GROUND_VERSION]] != PyLong_AsDouble(step->contents) &&
      !went_well(PyObject_CallMethodObjArgs(hero->self, NAME[N__see_changes], step->queries,
                                            step->contents, NULL)))
    return NULL;
  PyObject *done = run(quick, hero, step);
  if (!went_well(done) || show(&hero->at, hero->row + PLACE[POSITION]) ||
      show(&hero->moves, hero->row + PLACE[VELOCITY]) ||
      SET_SLOT(KEPT(LAST), step->time, step->seconds))
    return NULL;
  PyObject *result = result_of(quick, hero, step, done == Py_True);
  if (result && done != Py_True && hero->row[PLACE[CONTACT_SIGNATURE]] != 0.0 &&
      !went_well(PyObject_CallMethodObjArgs(hero->self, NAME[N__keep_idle], step->contents,
                                            step->seconds, result, NULL)))
    Py_CLEAR(result);
  return result;
}

/* update(self, delta_time) */
static PyObject *update(Quick *quick, PyObject *arguments, PyObject *options) {
  Hero hero = {0};
  Step step = {0};
  PyObject *result = NULL;
  if (!options && PyTuple_Size(arguments) == 2 && begin_hero(quick, ITEM(arguments, 0), &hero) &&
      begin_step(quick, &hero, ITEM(arguments, 1), &step) && read_hero(quick, &hero, 1) &&
      as_shown(&hero.at)) {
    PyObject *idle = known_of(&hero, N__idle);
    if (idle && idle != Py_None)
      result = idle_result(&hero, &step, idle);
    else if (!SET_SLOT(KEPT(IN_UPDATE), step.time, Py_True)) {
      if (!adopt(quick, &hero)) result = advance(quick, &hero, &step);
      SET_SLOT(KEPT(IN_UPDATE), step.time, Py_False); /* looks at no error */
    }
  }
  drop(&step.time, 4);
  end_hero(&hero);
  return result;
}

/* ---- a ray on a map alone ---- */

static int three_numbers(Quick *quick, PyObject *value, double *found) {
  Py_buffer buffer;
  if (tuple(value, 3))
    return number(ITEM(value, 0), &found[0]) && number(ITEM(value, 1), &found[1]) &&
           number(ITEM(value, 2), &found[2]);
  const float *numbers = IS_OF(value, VEC3) ? floats_of(value, &buffer) : NULL;
  if (!numbers) return 0;
  for (int i = 0; i < 3; i++) found[i] = numbers[i];
  PyBuffer_Release(&buffer);
  return isfinite(found[0]) && isfinite(found[1]) && isfinite(found[2]);
}

/* As `checks.unit`. */
static int unit(double *way) {
  double largest = fmax(fabs(way[0]), fmax(fabs(way[1]), fabs(way[2])));
  if (largest == 0.0) return 0;
  for (int i = 0; i < 3; i++) way[i] /= largest;
  double length = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
  for (int i = 0; i < 3; i++) way[i] /= length;
  return 1;
}

/* The origin, the unit direction and the reach of a ray. */
static int ray_of(Quick *quick, PyObject *arguments, PyObject *options, double *ray) {
  Py_ssize_t count = PyTuple_Size(arguments), next = 3;
  if (count < 2) return 0;
  PyObject *first = ITEM(arguments, 1), *reach = NULL;
  if (IS_OF(first, RAY)) {
    PyObject *origin = PyObject_GetAttr(first, NAME[N_origin64]);
    PyObject *way = origin ? PyObject_GetAttr(first, NAME[N_direction64]) : NULL;
    int is_usual = way && three_numbers(quick, origin, ray) && three_numbers(quick, way, ray + 3);
    Py_XDECREF(origin);
    Py_XDECREF(way);
    if (!is_usual) return 0;
    next = 2;
  } else if (count < 3 || !three_numbers(quick, first, ray) ||
             !three_numbers(quick, ITEM(arguments, 2), ray + 3) || !unit(ray + 3))
    return 0;
  if (count > next + 1 || (options && (count > next || PyDict_Size(options) != 1))) return 0;
  if (options && !(reach = PyDict_GetItemWithError(options, NAME[N_max_distance]))) return 0;
  if (count > next) reach = ITEM(arguments, next);
  ray[6] = INFINITY;
  if (reach && !number(reach, &ray[6])) return 0;
  return ray[6] >= 0.0 && ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2] < 1e60;
}

/* The material of what the kernel found; a new reference. */
static PyObject *material_of(PyObject *made_of, PyObject *found) {
  if (PyLong_AsSsize_t(ITEM(found, 5)) < 0) return Py_NewRef(ITEM(found, 4)); /* of a mesh */
  PyObject *made = tuple(made_of, 1) ? ITEM(made_of, 0) : NULL;
  if (made == Py_None) return PyLong_FromLong(0);
  return made ? PyObject_CallMethod(made, "one", "OO", ITEM(found, 3), ITEM(found, 4)) : NULL;
}

/* What the kernel found: distance, point, normal, triangle, cell, row. */
static PyObject *hit_of(Quick *quick, PyObject *found, PyObject *made_of) {
  if (isnan(PyFloat_AsDouble(ITEM(found, 0)))) return Py_NewRef(Py_None);
  PyObject *material = material_of(made_of, found);
  PyObject *point = material ? PyObject_Call(KEPT(VEC3), ITEM(found, 1), NULL) : NULL;
  PyObject *normal = point ? PyObject_Call(KEPT(VEC3), ITEM(found, 2), NULL) : NULL;
  PyObject *parts = from_tuple(8, Py_NewRef(ITEM(found, 0)), point, normal, Py_NewRef(ITEM(found, 3)),
                               material, Py_NewRef(Py_None), Py_NewRef(Py_None), Py_NewRef(Py_False));
  PyObject *made = NULL; /* by Python: since 3.14 a tuple keeps a hash */
  if (parts) made = PyObject_CallFunctionObjArgs(KEPT(NEW_HIT), KEPT(RAY_HIT), parts, NULL);
  Py_XDECREF(parts);
  return made;
}

/* Ask the map, whose lock is held. */
static PyObject *cast(Quick *quick, PyObject *queries, PyObject *storage, const double *ray) {
  enum { FIRST = 2, COUNT = 9 };
  PyObject *table, *arrays = arrays_of(quick, queries, storage, &table);
  PyObject *made_of = table ? slot_of(KEPT(MADE_OF), arrays) : NULL;
  PyObject *values[COUNT] = {table, KEPT(ALL_LAYERS)}, *found = NULL, *result = NULL;
  int left = made_of ? COUNT - FIRST : -1;
  for (; left > 0 && (values[COUNT - left] = PyFloat_FromDouble(*ray)); left--) ray++;
  if (!left && (found = call_kernel(KEPT(CAST), values, COUNT))) result = hit_of(quick, found, made_of);
  drop(values + FIRST, COUNT - FIRST);
  drop((PyObject *[]){table, arrays, made_of, found}, 4);
  return result;
}

/* raycast(self, ray) and raycast(self, origin, direction), with max_distance */
static PyObject *raycast(Quick *quick, PyObject *arguments, PyObject *options) {
  enum { ASKED, NAMED, STORED, HELD, OBJECTS };
  double ray[7];
  PyObject *surface = PyTuple_Size(arguments) ? ITEM(arguments, 0) : NULL;
  PyObject *own[OBJECTS] = {NULL}, *result = NULL;
  if (!surface || !PyObject_TypeCheck(surface, (PyTypeObject *)KEPT(SURFACE)) ||
      !ray_of(quick, arguments, options, ray))
    return NULL;
  if ((own[ASKED] = slot_of(KEPT(QUERIES), surface)) && (own[STORED] = storage_of(own[ASKED])) &&
      (own[NAMED] = slot_of(KEPT(NAMING), own[ASKED])) && own[NAMED] == KEPT(NO_NAMES) &&
      (own[HELD] = slot_of(MAP[LOCK], own[STORED])) && take(own[HELD])) {
    result = cast(quick, own[ASKED], own[STORED], ray);
    give_back(own[HELD]);
  }
  drop(own, OBJECTS);
  return result;
}

static const struct {
  const char *name;
  QuickCall call;
  Py_ssize_t kept;
} ENTRIES[] = {
    {"walk", walk, OF_CHARACTERS}, {"update", update, OF_CHARACTERS}, {"raycast", raycast, OF_RAYS},
    {"maps", NULL, OF_MAPS},       {NULL, NULL, -1}};

/* Find what all entries have in common. */
static int begin_entries(PyObject *const *kept) {
  PyObject *taking = kept[OF_ACQUIRE], *giving = kept[OF_RELEASE];
  if (PyCFunction_Check(taking) && PyCFunction_GetFlags(taking) == (METH_VARARGS | METH_KEYWORDS) &&
      PyCFunction_Check(giving) && PyCFunction_GetFlags(giving) == METH_NOARGS) {
    ACQUIRE = (PyCFunctionWithKeywords)(void (*)(void))PyCFunction_GetFunction(taking);
    RELEASE = PyCFunction_GetFunction(giving);
    RLOCK = Py_TYPE(PyCFunction_GetSelf(taking));
  }
  GET_SLOT = (descrgetfunc)PyType_GetSlot(Py_TYPE(kept[QUERIES]), Py_tp_descr_get);
  SET_SLOT = (descrsetfunc)PyType_GetSlot(Py_TYPE(kept[QUERIES]), Py_tp_descr_set);
  BIND = kept[OF_METHODS];
  for (int i = 0; i < NAMES; i++)
    if (!(NAME[i] = PyUnicode_InternFromString(TEXT[i]))) return 0;
  return (NOTHING = PyTuple_New(0)) && (TYPE = PyType_FromSpec(&QUICK_SPEC));
}

/* quick(name, method, kept): what stands in for the method on its class; of "maps" nothing */
static PyObject *make_quick(PyObject *self, PyObject *arguments) {
  const char *name;
  PyObject *method, *kept, *parts[32];
  size_t i = 0;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "sOO!", &name, &method, &PyTuple_Type, &kept)) return NULL;
  while (ENTRIES[i].name && strcmp(ENTRIES[i].name, name)) i++;
  Py_ssize_t count = ENTRIES[i].kept;
  if (PyTuple_Size(kept) != count)
    return PyErr_Format(PyExc_ValueError, "no entry in C is named %s and knows so much", name);
  for (Py_ssize_t k = 0; k < count; k++) parts[k] = Py_NewRef(ITEM(kept, k));
  for (Py_ssize_t k = 0; count == OF_CHARACTERS && k < PLACES; k++)
    PLACE[k] = PyLong_AsSsize_t(parts[FIRST_PLACE + k]);
  if (!ENTRIES[i].call) {
    memcpy(MAP, parts, sizeof(MAP));
    return Py_NewRef(Py_None);
  }
  if (!TYPE && !begin_entries(parts)) return NULL;
  Quick *made = (Quick *)PyType_GenericAlloc((PyTypeObject *)TYPE, 0);
  if (!made) return NULL;
  made->method = Py_NewRef(method);
  made->call = ENTRIES[i].call;
  memcpy(made->kept, parts, count * sizeof(*parts));
  return (PyObject *)made;
}

static PyMethodDef QUICK_METHODS[] = {{"quick", make_quick, METH_VARARGS, NULL}, {0}};

static int add_quick(PyObject *module) {
  if (PyModule_AddFunctions(module, QUICK_METHODS) < 0) return -1;
  return PyModule_AddStringConstant(module, "QUICK", QUICK);
}
