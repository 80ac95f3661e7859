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
  PyObject *self, *known, *numbers, *owner;
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
  Py_XDECREF(hero->owner);
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

/* Whether this is a usual time of an update. */
static int begin_time(Quick *quick, PyObject *time, PyObject *seconds, Step *step) {
  step->seconds = seconds;
  if (!PyFloat_CheckExact(seconds) || !time || !IS_OF(time, FRAME_TIME)) return 0;
  step->time = Py_NewRef(time);
  PyObject *longest = slot_of(KEPT(MAX_DELTA), time);
  int fits = longest && PyFloat_AsDouble(seconds) > 0.0 &&
             PyObject_RichCompareBool(seconds, longest, Py_LE) == 1; /* not a NaN */
  Py_XDECREF(longest);
  return fits;
}

static int begin_step(Quick *quick, Hero *hero, PyObject *seconds, Step *step) {
  PyObject *rules = known_of(hero, N__own_rules);
  if (!known_of(hero, N__owner) || !rules || !tuple(rules, 0)) return 0;
  hero->owner = Py_NewRef(known_of(hero, N__owner));
  return begin_time(quick, known_of(hero, N__time), seconds, step) &&
         begin_ground(quick, known_of(hero, N__ground), step);
}

static int same_bytes(PyObject *kept, PyObject *row) {
  PyArrayObject *now = (PyArrayObject *)row;
  return PyBytes_Size(kept) == PyArray_DIM(now, 0) * 8 &&
         !memcmp(PyBytes_AsString(kept), PyArray_DATA(now), PyBytes_Size(kept));
}

enum { NUMBERS, CHANGED, CONTENTS, LASTED, KEPT_RESULT, IDLE_SIZE };

/* Whether nothing but the ground may have changed since an update of a body at rest. */
static int is_left_as(Hero *hero, Step *step, PyObject *idle) {
  static const int PARTS[] = {0, 1, 3};
  if (!named_tuple(idle, IDLE_SIZE) || ITEM(idle, CHANGED) != Py_False ||
      hero->at.written || hero->moves.written || !as_shown(&hero->moves) ||
      PyObject_RichCompareBool(ITEM(idle, LASTED), step->seconds, Py_EQ) != 1)
    return 0;
  PyObject *numbers = ITEM(idle, NUMBERS);
  for (int i = 0; i < 3; i++)
    if (!same_bytes(ITEM(numbers, i), ITEM(hero->numbers, PARTS[i]))) return 0;
  return 1;
}

/* The result of a body at rest again, if nothing was written, and nothing near has changed. */
static PyObject *idle_result(Quick *quick, Hero *hero, Step *step, PyObject *idle) {
  if (!is_left_as(hero, step, idle)) return NULL;
  if (PyObject_RichCompareBool(ITEM(idle, CONTENTS), step->contents, Py_EQ) == 1)
    return Py_NewRef(ITEM(idle, KEPT_RESULT));
  if (SET_SLOT(KEPT(IN_UPDATE), step->time, Py_True)) return NULL;
  PyObject *slept = PyObject_CallMethodObjArgs(hero->self, NAME[N__slept_on], idle, step->queries,
                                               step->contents, NULL);
  SET_SLOT(KEPT(IN_UPDATE), step->time, Py_False); /* looks at no error */
  PyObject *result = slept && slept != Py_None ? Py_NewRef(ITEM(slept, KEPT_RESULT)) : NULL;
  Py_XDECREF(slept);
  return result;
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
  PyObject *arrays = arrays_of(step->queries, step->storage), *table = table_of(quick, arrays);
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

static PyObject *result_of(Quick *quick, Hero *hero, Step *step, PyObject *values, int ran_into) {
  PyObject *made = NULL;
  PyObject *met = ran_into ? log_of(hero, step) : Py_NewRef(Py_None);
  if (met) made = PyType_GenericAlloc((PyTypeObject *)KEPT(RESULT), 0);
  if (made &&
      (SET_SLOT(KEPT(VALUES), made, values) || SET_SLOT(KEPT(SECONDS), made, step->seconds) ||
       SET_SLOT(KEPT(WAITING), made, Py_False) || SET_SLOT(KEPT(MET), made, met)))
    Py_CLEAR(made);
  Py_XDECREF(met);
  return made;
}

/* Take over where the owner is, if the game wrote nothing else: 0; -1 as of `adopt`. */
static int adopt_owner(Hero *hero) {
  if (hero->owner == Py_None) return 0;
  if (!as_shown(&hero->moves) || hero->moves.written ||
      !went_well(PyObject_CallMethodObjArgs(hero->self, NAME[N__adopt_owner], hero->owner, NULL)))
    return -1;
  int is_same = known_of(hero, N__numbers) == hero->numbers; /* the owner's code may do anything */
  return is_same && as_shown(&hero->at) && as_shown(&hero->moves) ? 0 : -1;
}

/* Show where the body has come. */
static int show_place(Hero *hero) {
  if (show(&hero->at, hero->row + PLACE[POSITION]) || show(&hero->moves, hero->row + PLACE[VELOCITY]))
    return -1;
  if (hero->owner == Py_None) return 0;
  return went_well(PyObject_CallMethodObjArgs(hero->self, NAME[N__show_owner], NULL)) ? 0 : -1;
}

/* Advance, show what came of it, and make the result. */
static PyObject *advance(Quick *quick, Hero *hero, Step *step) {
  if (hero->row[PLACE[GROUND_VERSION]] != PyLong_AsDouble(step->contents) &&
      !went_well(PyObject_CallMethodObjArgs(hero->self, NAME[N__see_changes], step->queries,
                                            step->contents, NULL)))
    return NULL;
  PyObject *done = run(quick, hero, step), *result = NULL;
  PyObject *values = went_well(done) ? row_copied(quick, hero->row) : NULL;
  if (values && !show_place(hero) && !SET_SLOT(KEPT(LAST), step->time, step->seconds))
    result = result_of(quick, hero, step, values, done == Py_True);
  Py_XDECREF(values);
  if (result && done != Py_True && hero->owner == Py_None &&
      hero->row[PLACE[CONTACT_SIGNATURE]] != 0.0 &&
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
      result = idle_result(quick, &hero, &step, idle);
    else if (!SET_SLOT(KEPT(IN_UPDATE), step.time, Py_True)) {
      if (!adopt_owner(&hero) && !adopt(quick, &hero)) result = advance(quick, &hero, &step);
      SET_SLOT(KEPT(IN_UPDATE), step.time, Py_False); /* looks at no error */
    }
  }
  drop(&step.time, 4);
  end_hero(&hero);
  return result;
}
