/* ---- moves of meshes ---- */

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

/* What is asked of one mesh: of a matrix only the position counts unless it turns. Or of many, in
   arrays of their own, as others may write to those given: numbers (n,), and matrices or places. */
typedef struct {
  PyObject *number;
  double seconds, matrix[16];
  int turns;
  Py_ssize_t many; /* 0: it is one */
  PyObject *numbers, *given;
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

/* Where the log of changes ends; -1: it is to be merged, or has no room for two more. */
static Py_ssize_t end_of_log(Quick *quick, PyObject *const *things) {
  Py_ssize_t end = PyArray_DIM((PyArrayObject *)things[LOG_ROWS], 0);
  int has_room = end + 2 <= PyArray_DIM((PyArrayObject *)things[LOG_ROOM], 0);
  return has_room && end < PyLong_AsSsize_t(KEPT(MOST_CHANGES)) ? end : -1;
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

/* Find room for more rows in the log of changes, as its method does: nobody sees a new room until all
   is told, or ever, if the kernel wants another way; then the method merges once more. Where they begin there; -1: an error. */
static Py_ssize_t begin_log(Quick *quick, PyObject **things, Py_ssize_t more) {
  enum { VALUES = 4 };
  PyArrayObject *rows = (PyArrayObject *)things[LOG_ROWS];
  Py_ssize_t end = PyArray_DIM(rows, 0), most = PyLong_AsSsize_t(KEPT(MOST_CHANGES)) + more;
  int is_full = end + more >= most;
  if (!is_full && end + more <= PyArray_DIM((PyArrayObject *)things[LOG_ROOM], 0)) return end;
  npy_intp size[] = {2 * (end + more) < most ? 2 * (end + more) : most, PyArray_DIM(rows, 1)};
  if (size[0] < end + more) size[0] = end + more;
  PyObject *room = PyArray_SimpleNew(2, size, NPY_FLOAT64);
  if (!room) return -1;
  Py_DECREF(things[LOG_ROOM]);
  things[LOG_ROOM] = room;
  if (!is_full) {
    memcpy(PyArray_DATA((PyArrayObject *)room), PyArray_DATA(rows), end * size[1] * sizeof(double));
    return end;
  }
  PyObject *values[VALUES] = {things[LOG_ROWS], KEPT(LATEST_CHANGES), KEPT(MOST_MERGED), room};
  PyObject *merged = call_kernel(KEPT(MERGE), values, VALUES);
  end = merged ? PyLong_AsSsize_t(merged) : -1;
  Py_XDECREF(merged);
  return end;
}

static PyObject *seconds_of_many(const Moved *moved) {
  npy_intp many = moved->many;
  PyObject *seconds = PyArray_SimpleNew(1, &many, NPY_FLOAT64);
  double *each = seconds ? PyArray_DATA((PyArrayObject *)seconds) : NULL;
  for (Py_ssize_t k = 0; each && k < many; k++) each[k] = moved->seconds;
  return seconds;
}

/* Have the kernel move many meshes; where the log ends then, -1 if they need another way. */
static Py_ssize_t move_many_by_kernel(Quick *quick, PyObject **things, const Moved *moved) {
  enum { VALUES = 16, MADE = 7 };
  npy_intp found[] = {2, moved->many}, poses[] = {moved->many, 12};
  Py_ssize_t more = 2 * moved->many + 1, end = begin_log(quick, things, more), count = -1;
  if (end < 0) return -1;
  PyObject *made[MADE] = {
      PyLong_FromSsize_t(PyList_Size(things[OF_MOVERS])), PyArray_SimpleNew(2, found, NPY_INT64),
      seconds_of_many(moved), PyFloat_FromDouble(PyLong_AsDouble(things[SEEN]) + 1.0),
      PySequence_GetSlice(things[LOG_ROOM], end, end + more),
      PyArray_SimpleNew(2, poses, NPY_FLOAT64), NULL};
  int are_made = 1;
  for (int i = 0; i < MADE - 1; i++) are_made &= made[i] != NULL;
  if (are_made) {
    PyObject *values[VALUES] = {
        things[ROWS_OF], things[BOXES_OF], things[LINKS_OF], things[SPOTS_OF], things[MOVING_ROWS],
        things[REACHES], made[0], moved->numbers, made[1], moved->given,
        moved->turns ? Py_True : Py_False, KEPT(TOLERANCE), made[2], made[3], made[4], made[5]};
    made[MADE - 1] = call_kernel(KEPT(MOVE_ALL), values, VALUES);
  }
  if (made[MADE - 1]) count = PyLong_AsSsize_t(made[MADE - 1]);
  drop(made, MADE);
  return count < 0 ? -1 : end + count;
}

/* Show the log up to its new end, and count the moves. */
static PyObject *told(PyObject *const *things, Py_ssize_t end, Py_ssize_t moves) {
  PyObject *rows = PySequence_GetSlice(things[LOG_ROOM], 0, end), *result = NULL;
  PyObject *more = PyLong_FromSsize_t(moves);
  PyObject *count = more ? PyNumber_Add(things[COUNTED], more) : NULL;
  if (rows && count) {
    PyArray_CLEARFLAGS((PyArrayObject *)rows, NPY_ARRAY_WRITEABLE);
    if (!PyObject_SetAttr(things[LOG], NAME[N__room], things[LOG_ROOM]) &&
        !PyObject_SetAttr(things[LOG], NAME[N_rows], rows) &&
        !PyObject_SetAttr(things[OWN], NAME[N__gone], count))
      result = Py_NewRef(Py_None);
  }
  drop((PyObject *[]){rows, more, count}, 3);
  return result;
}

/* Move meshes of parts whose lock is held. */
static PyObject *move_locked(Quick *quick, PyObject *parts, const Moved *moved) {
  PyObject *things[THINGS] = {Py_NewRef(parts)}, *result = NULL;
  int found = 1;
  while (found < THINGS && (things[found] = PyObject_GetAttr(things[WAYS[found].of],
                                                             NAME[WAYS[found].name])))
    found++;
  if (found == THINGS && is_quiet(things)) {
    Py_ssize_t end = -1;
    if (moved->many)
      end = move_many_by_kernel(quick, things, moved);
    else if ((end = end_of_log(quick, things)) >= 0)
      end = move_by_kernel(quick, things, moved, end);
    if (end >= 0) result = told(things, end, moved->many ? moved->many : 1);
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

/* The numbers of many meshes (n,); a new reference, NULL: others than usual, or an error. */
static PyObject *numbers_of(PyObject *keys) {
  int is_list = PyList_CheckExact(keys), is_array = Py_TYPE(keys) == &PyArray_Type;
  if (is_array ? !array(keys, NPY_INT64, 1, IN_ORDER) : !is_list && !PyTuple_CheckExact(keys))
    return NULL;
  npy_intp many = PyObject_Size(keys);
  PyObject *numbers = PyArray_SimpleNew(1, &many, NPY_INT64);
  int64_t *number = numbers ? PyArray_DATA((PyArrayObject *)numbers) : NULL;
  if (numbers && is_array)
    memcpy(number, PyArray_DATA((PyArrayObject *)keys), many * sizeof(*number));
  for (Py_ssize_t k = 0; numbers && !is_array && k < many; k++) {
    PyObject *key = is_list ? PyList_GetItem(keys, k) : ITEM(keys, k);
    if (!PyLong_CheckExact(key) || !int64(key, number + k)) Py_CLEAR(numbers);
  }
  return numbers;
}

/* Matrices or places of so many meshes, one after the other; likewise. */
static PyObject *given_of(PyObject *transforms, Moved *moved) {
  if (Py_TYPE(transforms) != &PyArray_Type) return NULL;
  PyArrayObject *values = (PyArrayObject *)transforms;
  moved->turns = PyArray_NDIM(values) == 3;
  if (!array(transforms, NPY_FLOAT64, moved->turns ? 3 : 2, IN_ORDER) ||
      PyArray_DIM(values, 0) != moved->many || PyArray_DIM(values, 1) != (moved->turns ? 4 : 3) ||
      (moved->turns && PyArray_DIM(values, 2) != 4))
    return NULL;
  npy_intp length = moved->many * (moved->turns ? 16 : 3);
  PyObject *given = PyArray_SimpleNew(1, &length, NPY_FLOAT64);
  if (given)
    memcpy(PyArray_DATA((PyArrayObject *)given), PyArray_DATA(values), length * sizeof(double));
  return given;
}

/* Move a mesh alone as `move` does. */
static PyObject *move_only(Quick *quick, PyObject *arguments, PyObject *key, Moved *moved) {
  PyObject *transform = only_item(ITEM(arguments, 2)), *result = NULL;
  if (transform && read_moved(quick, key, transform, moved))
    result = move_on(quick, ITEM(arguments, 0), moved);
  Py_XDECREF(transform);
  return result;
}

/* move_many(self, keys, transforms, delta_time) */
static PyObject *move_many(Quick *quick, PyObject *arguments, PyObject *options) {
  Moved moved = {0};
  if (!is_move(quick, arguments, options, &moved)) return NULL;
  PyObject *key = only_item(ITEM(arguments, 1)), *result = NULL;
  if (key)
    result = move_only(quick, arguments, key, &moved);
  else if ((moved.numbers = numbers_of(ITEM(arguments, 1))) &&
           (moved.many = PyArray_DIM((PyArrayObject *)moved.numbers, 0)) > 1 &&
           (moved.given = given_of(ITEM(arguments, 2), &moved)))
    result = move_on(quick, ITEM(arguments, 0), &moved);
  drop((PyObject *[]){key, moved.numbers, moved.given}, 3);
  return result;
}
