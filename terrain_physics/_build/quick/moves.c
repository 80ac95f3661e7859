/* ---- a move of one mesh ---- */

/* All that a move reads and writes: each is an attribute of one before it. No attribute is found by
   code of Python, so that no signal handler comes in once the lock is taken. */
enum { OWN, WAS, BUSY, WATCHERS, TOLD_TO, MAP_READER, READING_MAPS, MAPS_EDITED, ALL_MESHES, REFITTED,
       REFITS, READERS, READING, TREE, ROWS_OF, BOXES_OF, LINKS_OF, SPOTS_OF, MOVERS, LENT, MOVED_BY,
       MOVING, MOVING_ROWS, REACHES, OF_MOVERS, LOG, LOG_ROOM, LOG_ROWS, SEEN, COUNTED, THINGS };
static const struct {
  int of, name;
} WAYS[THINGS] = {
    [WAS] = {OWN, N__before}, [BUSY] = {OWN, N__is_changing},
    [WATCHERS] = {OWN, N_watchers}, [TOLD_TO] = {WATCHERS, N__watching},
    [MAP_READER] = {OWN, N__map_set}, [READING_MAPS] = {MAP_READER, N_reader},
    [MAPS_EDITED] = {READING_MAPS, N_changed}, [ALL_MESHES] = {OWN, N_meshes},
    [REFITTED] = {ALL_MESHES, N__watch}, [REFITS] = {REFITTED, N_changed},
    [READERS] = {ALL_MESHES, N__readers}, [READING] = {READERS, N__threads},
    [TREE] = {ALL_MESHES, N__table}, [ROWS_OF] = {TREE, N__rows}, [BOXES_OF] = {TREE, N__boxes},
    [LINKS_OF] = {TREE, N__links}, [SPOTS_OF] = {TREE, N__spots},
    [MOVERS] = {ALL_MESHES, N_movers}, [LENT] = {MOVERS, N__is_lent},
    [MOVED_BY] = {MOVERS, N__readers}, [MOVING] = {MOVED_BY, N__threads},
    [MOVING_ROWS] = {MOVERS, N__rows}, [REACHES] = {MOVERS, N__reaches},
    [OF_MOVERS] = {MOVERS, N_numbers}, [LOG] = {ALL_MESHES, N_changes}, [LOG_ROOM] = {LOG, N__room},
    [LOG_ROWS] = {LOG, N_rows}, [SEEN] = {ALL_MESHES, N_told}, [COUNTED] = {OWN, N__gone}};

/* What is asked: of a matrix only the position counts unless it turns. */
typedef struct {
  PyObject *number;
  double seconds, matrix[16];
  int turns;
} Moved;

/* Read numbers of PyGLM or NumPy. */
static int read_matrix(PyObject *value, Moved *moved) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(value, &buffer, PyBUF_FORMAT | PyBUF_STRIDES)) {
    PyErr_Clear(); /* the method says so */
    return 0;
  }
  char kind = buffer.format ? buffer.format[0] : 'B';
  int is_matrix = buffer.ndim == 2 && buffer.shape[0] == 4 && buffer.shape[1] == 4;
  int is_place = buffer.ndim == 1 && buffer.shape[0] == 3, rows = is_matrix ? 4 : 3;
  int is_usual = (kind == 'd' || kind == 'f') && !buffer.format[1] && (is_matrix || is_place);
  for (int row = 0; is_usual && row < rows; row++)
    for (int column = is_matrix ? 0 : 3; column < 4; column++) {
      const char *at = (char *)buffer.buf + row * buffer.strides[0];
      if (is_matrix) at += column * buffer.strides[1];
      moved->matrix[4 * row + column] = kind == 'd' ? *(double *)at : *(float *)at;
    }
  PyBuffer_Release(&buffer);
  moved->turns = is_matrix;
  return is_usual;
}

/* The time of arguments that may end with `delta_time`. */
static int read_seconds(PyObject *arguments, PyObject *options, Moved *moved) {
  Py_ssize_t count = PyTuple_Size(arguments);
  PyObject *seconds = count == 4 ? ITEM(arguments, 3) : Py_None;
  if (count < 3 || count > 4) return 0;
  if (options && (count > 3 || PyDict_Size(options) != 1 ||
                  !(seconds = PyDict_GetItemWithError(options, NAME[N_delta_time]))))
    return 0;
  return seconds == Py_None || (number(seconds, &moved->seconds) && 1e-6 <= moved->seconds &&
                                moved->seconds <= 3600.0);
}

/* The mesh of a key, and where it goes. */
static int read_moved(Quick *quick, PyObject *key, PyObject *transform, Moved *moved) {
  double place[3];
  if (!PyLong_CheckExact(key)) return 0;
  if (PyLong_AsLongLong(key) == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return 0;
  }
  moved->number = key;
  if (tuple(transform, 3)) {
    if (!three_numbers(quick, transform, place)) return 0;
    for (int axis = 0; axis < 3; axis++) moved->matrix[4 * axis + 3] = place[axis];
  } else if (!(IS_OF(transform, VEC3) || IS_OF(transform, DVEC3) || IS_OF(transform, MAT4) ||
               IS_OF(transform, DMAT4) || Py_TYPE(transform) == &PyArray_Type) ||
             !read_matrix(transform, moved))
    return 0;
  for (int axis = 0; axis < 3; axis++) place[axis] = moved->matrix[4 * axis + 3];
  return isfinite(place[0]) && isfinite(place[1]) && isfinite(place[2]) && is_near(place);
}

/* Whether nobody else changes, reads or watches, as it usually is. */
static int is_quiet(PyObject *const *things) {
  return things[WAS] == Py_None && things[BUSY] == Py_False && things[LENT] == Py_False &&
         !PyDict_Size(things[TOLD_TO]) && !PySet_Size(things[MAPS_EDITED]) &&
         !PySet_Size(things[REFITS]) && !PyDict_Size(things[READING]) &&
         !PyDict_Size(things[MOVING]);
}

/* Where the log of changes ends; -1: it has no room for two more. */
static Py_ssize_t end_of_log(PyObject *const *things) {
  Py_ssize_t end = PyArray_DIM((PyArrayObject *)things[LOG_ROWS], 0);
  return end + 2 <= PyArray_DIM((PyArrayObject *)things[LOG_ROOM], 0) ? end : -1;
}

/* Have the kernel move the mesh; where the log ends then, -1 if it needs another way. */
static Py_ssize_t move_by_kernel(Quick *quick, PyObject *const *things, const Moved *moved,
                                 Py_ssize_t end) {
  enum { VALUES = 16, MADE = 7 };
  npy_intp sixteen = 16, row[] = {1, 12};
  PyObject *made[MADE] = {
      PyLong_FromSsize_t(PyList_Size(things[OF_MOVERS])), PyArray_SimpleNew(1, &sixteen, NPY_FLOAT64),
      PyFloat_FromDouble(moved->seconds), PyFloat_FromDouble(PyLong_AsDouble(things[SEEN]) + 1.0),
      PyLong_FromSsize_t(end), PyArray_SimpleNew(2, row, NPY_FLOAT64), NULL};
  int are_made = 1;
  for (int i = 0; i < MADE - 1; i++) are_made &= made[i] != NULL;
  if (are_made) {
    memcpy(PyArray_DATA((PyArrayObject *)made[1]), moved->matrix, sizeof(moved->matrix));
    PyObject *values[VALUES] = {
        things[ROWS_OF], things[BOXES_OF], things[LINKS_OF], things[SPOTS_OF], things[MOVING_ROWS],
        things[REACHES], made[0], moved->number, made[1], moved->turns ? Py_True : Py_False,
        KEPT(TOLERANCE), made[2], made[3], things[LOG_ROOM], made[4], made[5]};
    made[MADE - 1] = call_kernel(KEPT(MOVE), values, VALUES);
  }
  end = made[MADE - 1] ? PyLong_AsSsize_t(made[MADE - 1]) : -1;
  drop(made, MADE);
  return end;
}

/* Show the log up to its new end, and count the move. */
static PyObject *told(PyObject *const *things, Py_ssize_t end) {
  PyObject *rows = PySequence_GetSlice(things[LOG_ROOM], 0, end), *result = NULL;
  PyObject *one = PyLong_FromLong(1), *count = one ? PyNumber_Add(things[COUNTED], one) : NULL;
  if (rows && count) {
    PyArray_CLEARFLAGS((PyArrayObject *)rows, NPY_ARRAY_WRITEABLE);
    if (!PyObject_SetAttr(things[LOG], NAME[N_rows], rows) &&
        !PyObject_SetAttr(things[OWN], NAME[N__gone], count))
      result = Py_NewRef(Py_None);
  }
  drop((PyObject *[]){rows, one, count}, 3);
  return result;
}

/* Move a mesh of parts whose lock is held. */
static PyObject *move_locked(Quick *quick, PyObject *parts, const Moved *moved) {
  PyObject *things[THINGS] = {Py_NewRef(parts)}, *result = NULL;
  int found = 1;
  while (found < THINGS && (things[found] = PyObject_GetAttr(things[WAYS[found].of],
                                                             NAME[WAYS[found].name])))
    found++;
  if (found == THINGS && is_quiet(things)) {
    Py_ssize_t end = end_of_log(things);
    if (end >= 0) end = move_by_kernel(quick, things, moved, end);
    if (end >= 0) result = told(things, end);
  }
  drop(things, found);
  return result;
}

static PyObject *move_on(Quick *quick, PyObject *ground, const Moved *moved) {
  PyObject *parts = slot_of(KEPT(HELD), ground), *meshes = NULL, *lock = NULL, *result = NULL;
  if (parts && IS_OF(parts, PARTS) && (meshes = PyObject_GetAttr(parts, NAME[N_meshes])) &&
      (lock = PyObject_GetAttr(meshes, NAME[N_lock])) && take(lock)) {
    result = move_locked(quick, parts, moved);
    give_back(lock);
  }
  drop((PyObject *[]){parts, meshes, lock}, 3);
  return result;
}

/* Whether a call is one to a ground, with a usual time. */
static int is_move(Quick *quick, PyObject *arguments, PyObject *options, Moved *moved) {
  return read_seconds(arguments, options, moved) &&
         PyObject_TypeCheck(ITEM(arguments, 0), (PyTypeObject *)KEPT(GROUND));
}

/* move(self, key, transform, delta_time) */
static PyObject *move(Quick *quick, PyObject *arguments, PyObject *options) {
  Moved moved = {0};
  if (!is_move(quick, arguments, options, &moved) ||
      !read_moved(quick, ITEM(arguments, 1), ITEM(arguments, 2), &moved))
    return NULL;
  return move_on(quick, ITEM(arguments, 0), &moved);
}

/* The only item of a sequence; a new reference, NULL: there is none. */
static PyObject *only_item(PyObject *sequence) {
  int is_usual = PyList_CheckExact(sequence) || PyTuple_CheckExact(sequence) ||
                 (Py_TYPE(sequence) == &PyArray_Type && PyArray_NDIM((PyArrayObject *)sequence));
  return is_usual && PyObject_Size(sequence) == 1 ? PySequence_GetItem(sequence, 0) : NULL;
}

/* move_many(self, keys, transforms, delta_time), of one mesh */
static PyObject *move_many(Quick *quick, PyObject *arguments, PyObject *options) {
  Moved moved = {0};
  if (!is_move(quick, arguments, options, &moved)) return NULL;
  PyObject *key = only_item(ITEM(arguments, 1)), *result = NULL;
  PyObject *transform = key ? only_item(ITEM(arguments, 2)) : NULL;
  if (transform && read_moved(quick, key, transform, &moved))
    result = move_on(quick, ITEM(arguments, 0), &moved);
  drop((PyObject *[]){key, transform}, 2);
  return result;
}
