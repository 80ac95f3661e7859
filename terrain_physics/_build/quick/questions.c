/* ---- questions to a ground, above all to a map alone ---- */

static int three_numbers(Quick *quick, PyObject *value, double *found) {
  Py_buffer buffer;
  if (tuple(value, 3))
    return number(ITEM(value, 0), &found[0]) && number(ITEM(value, 1), &found[1]) &&
           number(ITEM(value, 2), &found[2]);
  int is_vector = PyObject_TypeCheck(value, (PyTypeObject *)KEPT(VEC3)); /* also one that is live */
  const float *numbers = is_vector ? floats_of(value, &buffer) : NULL;
  if (!numbers) return 0;
  for (int i = 0; i < 3; i++) found[i] = numbers[i];
  PyBuffer_Release(&buffer);
  return isfinite(found[0]) && isfinite(found[1]) && isfinite(found[2]);
}

static int is_near(const double *at) {
  return at[0] * at[0] + at[1] * at[1] + at[2] * at[2] < 1e60;
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
  return ray[6] >= 0.0 && is_near(ray);
}

/* Answers of kernels: the number of a triangle, its cell and its row come last. */

static PyObject *as_bool(Quick *quick, PyObject *found, PyObject *made_of) {
  (void)quick, (void)made_of;
  return PyBool_FromLong(PyObject_IsTrue(found));
}

static PyObject *as_found(Quick *quick, PyObject *found, PyObject *made_of) {
  (void)quick, (void)made_of;
  return Py_NewRef(found);
}

/* The material of what the kernel found; a new reference. */
static PyObject *material_of(PyObject *made_of, PyObject *found) {
  Py_ssize_t row = PyTuple_Size(found) - 1;
  PyObject *cell = ITEM(found, row - 1);
  if (PyLong_AsSsize_t(ITEM(found, row)) < 0) return Py_NewRef(cell); /* of a mesh */
  PyObject *made = PySequence_GetItem(made_of, PyLong_AsSsize_t(ITEM(found, row)));
  PyObject *material = made == Py_None ? PyLong_FromLong(0)
                       : made ? PyObject_CallMethod(made, "one", "OO", ITEM(found, row - 2), cell)
                              : NULL;
  Py_XDECREF(made);
  return material;
}

/* A hit with these parts, which this takes. */
static PyObject *new_hit(Quick *quick, PyObject *parts) {
  PyObject *made = NULL; /* by Python: since 3.14 a tuple keeps a hash */
  if (parts) made = PyObject_CallFunctionObjArgs(KEPT(NEW_HIT), KEPT(HIT), parts, NULL);
  Py_XDECREF(parts);
  return made;
}

#define SHARED(place) Py_NewRef(ITEM(found, place))
#define VECTOR(place) PyObject_Call(KEPT(VEC3), ITEM(found, place), NULL)
#define NONE Py_NewRef(Py_None)

/* Of distance, point, normal and the rest; NaN: none. */
static PyObject *as_ray_hit(Quick *quick, PyObject *found, PyObject *made_of) {
  if (isnan(PyFloat_AsDouble(ITEM(found, 0)))) return NONE;
  PyObject *material = material_of(made_of, found);
  PyObject *point = material ? VECTOR(1) : NULL, *normal = point ? VECTOR(2) : NULL;
  return new_hit(quick, from_tuple(8, SHARED(0), point, normal, SHARED(3), material, NONE, NONE,
                                   Py_NewRef(Py_False)));
}

/* Of distance, point and the rest. */
static PyObject *as_closest(Quick *quick, PyObject *found, PyObject *made_of) {
  PyObject *material = material_of(made_of, found), *point = material ? VECTOR(1) : NULL;
  return new_hit(quick, from_tuple(6, point, SHARED(0), SHARED(2), material, NONE, NONE));
}

/* Ask arrays that nobody edits meanwhile. */
static PyObject *ask_arrays(Quick *quick, PyObject *arrays, const double *numbers, int count) {
  enum { FIRST = 2, MOST = 9 };
  PyObject *table = table_of(quick, arrays), *found = NULL, *result = NULL;
  PyObject *made_of = table ? slot_of(KEPT(MADE_OF), arrays) : NULL;
  PyObject *values[MOST] = {table, KEPT(ALL_LAYERS)};
  int k = 0;
  while (made_of && k < count && (values[FIRST + k] = PyFloat_FromDouble(numbers[k]))) k++;
  if (k == count && (found = call_kernel(KEPT(KERNEL), values, FIRST + count)))
    result = quick->answer(quick, found, made_of);
  drop(values + FIRST, k);
  drop((PyObject *[]){table, made_of, found}, 3);
  return result;
}

/* Ask the arrays of a map alone, whose lock is held. */
static PyObject *ask_table(Quick *quick, PyObject *queries, PyObject *storage,
                           const double *numbers, int count) {
  PyObject *arrays = arrays_of(queries, storage);
  PyObject *result = quick->ask(quick, arrays, numbers, count);
  Py_XDECREF(arrays);
  return result;
}

/* What another ground is asked. */
typedef struct {
  Quick *quick;
  const double *numbers;
  int count;
} Asked;

static PyObject *answer_asked(PyObject *self, PyObject *arrays) {
  const Asked *asked = PyCapsule_GetPointer(self, NULL);
  if (!asked) return NULL; /* the call has ended */
  PyObject *result = asked->quick->ask(asked->quick, arrays, asked->numbers, asked->count);
  return result || PyErr_Occurred() ? result : Py_NewRef(Py_NotImplemented);
}

static PyMethodDef ANSWER_ASKED = {"answer", answer_asked, METH_O, NULL};

/* Have a ground of several parts give its arrays, as its method `asked` does. */
static PyObject *ask_parts(Quick *quick, PyObject *queries, const double *numbers, int count) {
  Asked asked = {quick, numbers, count};
  PyObject *known = PyCapsule_New(&asked, NULL, NULL), *result = NULL;
  PyObject *answer = known ? PyCFunction_New(&ANSWER_ASKED, known) : NULL;
  if (answer) result = PyObject_CallMethodObjArgs(queries, NAME[N_asked], answer, NULL);
  if (known) PyCapsule_SetName(known, "answered"); /* whoever has it in a traceback gets an error */
  drop((PyObject *[]){known, answer}, 2);
  if (result == Py_NotImplemented) Py_CLEAR(result);
  return result;
}

/* Ask what is no map alone. */
static PyObject *ask_other(Quick *quick, PyObject *queries, const double *numbers, int count) {
  PyObject *arrays = mesh_arrays_of(queries), *result = NULL;
  if (!arrays && (PyObject *)Py_TYPE(queries) != ASKED) return NULL;
  PyObject *naming = PyObject_GetAttr(queries, NAME[N_naming]);
  if (naming && (KEPT(NO_NAMES) == Py_None || naming == KEPT(NO_NAMES)))
    result = arrays ? quick->ask(quick, arrays, numbers, count)
                    : ask_parts(quick, queries, numbers, count);
  drop((PyObject *[]){naming, arrays}, 2);
  return result;
}

/* What is asked about a map alone, whose lock is held, by some numbers. */
typedef PyObject *(*Question)(Quick *quick, PyObject *queries, PyObject *storage,
                              const double *numbers, int count);

/* Ask a map alone; where it has names, answers that tell these are the method's. */
static PyObject *ask_map(Quick *quick, PyObject *queries, PyObject *storage, Question question,
                         const double *numbers, int count) {
  PyObject *source = slot_of(MAP[SOURCE], queries), *lock = slot_of(MAP[LOCK], storage);
  PyObject *named = source ? slot_of(KEPT(NAMING), source) : NULL;
  PyObject *result = NULL;
  if (named && lock && (KEPT(NO_NAMES) == Py_None || named == KEPT(NO_NAMES)) && take(lock)) {
    result = question(quick, queries, storage, numbers, count);
    give_back(lock);
  }
  drop((PyObject *[]){source, named, lock}, 3);
  return result;
}

static PyObject *ask(Quick *quick, PyObject *surface, Question question, const double *numbers,
                     int count) {
  PyObject *queries = slot_of(KEPT(QUERIES), surface), *result = NULL;
  PyObject *storage = queries ? storage_of(queries) : NULL;
  if (storage)
    result = ask_map(quick, queries, storage, question, numbers, count);
  else if (queries && quick->ask)
    result = ask_other(quick, queries, numbers, count);
  drop((PyObject *[]){queries, storage}, 2);
  return result;
}

static int is_surface(Quick *quick, PyObject *arguments) {
  return PyTuple_Size(arguments) > 0 &&
         PyObject_TypeCheck(ITEM(arguments, 0), (PyTypeObject *)KEPT(SURFACE));
}

/* raycast(self, ray) and raycast(self, origin, direction), with max_distance */
static PyObject *ask_ray(Quick *quick, PyObject *arguments, PyObject *options) {
  double ray[7];
  if (!is_surface(quick, arguments) || !ray_of(quick, arguments, options, ray)) return NULL;
  return ask(quick, ITEM(arguments, 0), ask_table, ray, 7);
}

/* contains(self, point) and others that are about a point */
static PyObject *ask_point(Quick *quick, PyObject *arguments, PyObject *options) {
  double point[3];
  if (options || PyTuple_Size(arguments) != 2 || !is_surface(quick, arguments) ||
      !three_numbers(quick, ITEM(arguments, 1), point) || !is_near(point))
    return NULL;
  return ask(quick, ITEM(arguments, 0), ask_table, point, 3);
}

/* ---- what the surface of a map alone answers ---- */

/* What the kernel finds for some numbers, and another value unless it is NULL. */
static PyObject *ask_surface(Quick *quick, PyObject *storage, const double *numbers, int count,
                             PyObject *last) {
  enum { FIRST = 3, MOST = 8 };
  PyObject *views = slot_of(MAP[VIEWS], storage), *found = NULL; /* heights, cells, bounds, frame */
  if (!views) return NULL;
  PyObject *values[MOST] = {ITEM(views, 0), ITEM(views, 1), ITEM(views, 3)};
  int k = FIRST, end = FIRST + count;
  while (k < end && (values[k] = PyFloat_FromDouble(*numbers))) k++, numbers++;
  values[end] = last;
  if (k == end) found = call_kernel(KEPT(KERNEL), values, end + (last != NULL));
  drop(values + FIRST, k - FIRST);
  Py_DECREF(views);
  return found;
}

static PyObject *ask_at(Quick *quick, PyObject *queries, PyObject *storage, const double *place,
                        int count) {
  (void)queries;
  PyObject *found = ask_surface(quick, storage, place, count, NULL);
  PyObject *result = found ? quick->answer(quick, found, NULL) : NULL;
  Py_XDECREF(found);
  return result;
}

static PyObject *as_normal(Quick *quick, PyObject *found, PyObject *unused) {
  (void)unused;
  PyObject *vector = PyObject_Call(KEPT(VEC3), found, NULL);
  PyObject *result = vector ? PyNumber_Add(vector, KEPT(NO_NUMBER)) : NULL; /* no negative zeros */
  Py_XDECREF(vector);
  return result;
}

/* height_at(self, x, z) and normal_at(self, x, z) */
static PyObject *ask_place(Quick *quick, PyObject *arguments, PyObject *options) {
  double place[3] = {0};
  if (options || PyTuple_Size(arguments) != 3 || !is_surface(quick, arguments) ||
      !number(ITEM(arguments, 1), &place[0]) || !number(ITEM(arguments, 2), &place[1]) ||
      !is_near(place))
    return NULL;
  return ask(quick, ITEM(arguments, 0), ask_at, place, 2);
}

/* ---- contacts of one shape ---- */

enum { OF_BALL = 4, OF_CAPSULE = 7, OF_BOX = 15 }; /* numbers, as the shape's row has them */

static int read_numbers(PyObject *shape, int name, int count, double *numbers) {
  PyObject *values = PyObject_GetAttr(shape, NAME[name]);
  int k = 0;
  if (values && tuple(values, count))
    while (k < count && number(ITEM(values, k), &numbers[k])) k++;
  Py_XDECREF(values);
  return k == count;
}

static int read_radius(PyObject *shape, double *radius) {
  PyObject *value = PyObject_GetAttr(shape, NAME[N_radius]);
  int is_usual = value && number(value, radius);
  Py_XDECREF(value);
  return is_usual;
}

/* The row of a box that is not turned. */
static int read_aligned(PyObject *box, double *row) {
  double low[3], high[3];
  if (!read_numbers(box, N_lower64, 3, low) || !read_numbers(box, N_upper64, 3, high)) return 0;
  for (int axis = 0; axis < 3; axis++) {
    row[axis] = 0.5 * low[axis] + 0.5 * high[axis];
    row[3 + axis] = 0.5 * high[axis] - 0.5 * low[axis];
  }
  for (int k = 0; k < 9; k++) row[6 + k] = k % 4 == 0;
  return 1;
}

/* The row of a shape: of how many numbers; 0: of another shape, or of one that is far off. */
static int shape_of(Quick *quick, PyObject *shape, double *row) {
  int count = 0;
  if (IS_OF(shape, BALL) && read_numbers(shape, N_center64, 3, row) && read_radius(shape, &row[3]))
    count = OF_BALL;
  else if (IS_OF(shape, PILL) && read_numbers(shape, N_a64, 3, row) &&
           read_numbers(shape, N_b64, 3, row + 3) && read_radius(shape, &row[6]))
    count = OF_CAPSULE;
  else if (IS_OF(shape, TURNED_BOX) && read_numbers(shape, N_center64, 3, row) &&
           read_numbers(shape, N_half_extents64, 3, row + 3) &&
           read_numbers(shape, N_rotation64, 9, row + 6))
    count = OF_BOX;
  else if (IS_OF(shape, ALIGNED_BOX) && read_aligned(shape, row))
    count = OF_BOX;
  for (int k = 0; k < count; k++)
    if (!(fabs(row[k]) < 1e30)) return 0;
  return count;
}

/* A row of numbers as kernels take it. */
static PyObject *new_row(const double *numbers, npy_intp count) {
  PyObject *row = PyArray_SimpleNew(1, &count, NPY_FLOAT64);
  if (!row) return NULL;
  memcpy(PyArray_DATA((PyArrayObject *)row), numbers, count * sizeof(*numbers));
  PyArray_CLEARFLAGS((PyArrayObject *)row, NPY_ARRAY_WRITEABLE);
  return row;
}

static PyObject *kind_of(Quick *quick, int count) {
  return KEPT(count == OF_BALL ? KIND_OF_BALL : count == OF_CAPSULE ? KIND_OF_PILL : KIND_OF_BOX);
}

/* The contacts that a kernel found, of these materials: of one shape, so whole numbers and floats
   are in two arrays. */
static PyObject *as_contacts(Quick *quick, PyObject *found, PyObject *materials) {
  PyObject *arrays[] = {ITEM(found, 0), ITEM(found, 1), materials};
  for (int i = 0; i < (materials == Py_None ? 2 : 3); i++)
    PyArray_CLEARFLAGS((PyArrayObject *)arrays[i], NPY_ARRAY_WRITEABLE);
  PyObject *made = PyType_GenericAlloc((PyTypeObject *)KEPT(CONTACTS), 0);
  if (made &&
      (SET_SLOT(KEPT(INTS), made, arrays[0]) || SET_SLOT(KEPT(FLOATS), made, arrays[1]) ||
       SET_SLOT(KEPT(MATERIAL), made, materials)))
    Py_CLEAR(made);
  return made;
}

static PyObject *as_touching(Quick *quick, PyObject *found, PyObject *unused) {
  (void)quick, (void)unused;
  return PyBool_FromLong(PyArray_DIM((PyArrayObject *)ITEM(found, 0), 1) > 0);
}

/* Whether this is what a kernel found, and no sign that there are too many cells for it. */
static int is_answer(PyObject *found) {
  if (!found) return 0;
  PyArrayObject *ints = (PyArrayObject *)ITEM(found, 0);
  return PyArray_DIM(ints, 1) != 1 || *(npy_int64 *)PyArray_DATA(ints) >= 0;
}

/* What the kernel of other shapes finds. */
static PyObject *find_contacts(Quick *quick, PyObject *storage, const double *row, int count,
                               PyObject *keeps_deepest) {
  PyObject *views = slot_of(MAP[VIEWS], storage), *numbers = new_row(row, count), *found = NULL;
  if (views && numbers) {
    PyObject *values[] = {ITEM(views, 0), ITEM(views, 1), ITEM(views, 3), kind_of(quick, count),
                          numbers, keeps_deepest};
    found = call_kernel(KEPT(OF_OTHERS), values, 6);
  }
  drop((PyObject *[]){views, numbers}, 2);
  return found;
}

/* Behind the numbers of a shape stands whether only the deepest is wanted. */
#define DEEPEST (row[count] ? Py_True : Py_False)

/* Ask for contacts with all that there is in arrays, unless they are too many for the kernel. */
static PyObject *contacts_in(Quick *quick, PyObject *arrays, const double *row, int count) {
  PyObject *table = table_of(quick, arrays), *numbers = table ? new_row(row, count) : NULL;
  PyObject *found = NULL, *materials = NULL, *result = NULL;
  if (numbers) {
    PyObject *values[] = {table, KEPT(ALL_LAYERS), kind_of(quick, count), numbers, DEEPEST};
    found = call_kernel(KEPT(OF_GROUNDS), values, 5);
  }
  if (found && PyArray_DIM((PyArrayObject *)ITEM(found, 0), 0))
    materials = KEPT(MATERIALS_OF) == Py_None
                    ? NONE
                    : PyObject_CallFunctionObjArgs(KEPT(MATERIALS_OF), arrays, ITEM(found, 0), NULL);
  if (materials) result = quick->answer(quick, found, materials);
  drop((PyObject *[]){table, numbers, found, materials}, 4);
  return result;
}

/* Ask the kernel of one shape: of a map that is all surface and of one material, or of all else. */
static PyObject *ask_shape(Quick *quick, PyObject *queries, PyObject *storage, const double *row,
                           int count) {
  PyObject *made_of = NULL, *found = NULL, *result = NULL;
  if (is_bare(queries, storage)) made_of = slot_of(MAP[MATERIALS], storage);
  if (made_of != Py_None) {
    result = ask_table(quick, queries, storage, row, count);
  } else {
    found = count == OF_BALL ? ask_surface(quick, storage, row, count, DEEPEST)
                             : find_contacts(quick, storage, row, count, DEEPEST);
    if (is_answer(found)) result = quick->answer(quick, found, Py_None);
  }
  drop((PyObject *[]){made_of, found}, 2);
  return result;
}

/* Whether only the deepest is wanted, as `keep` says: 1 or 0; -1: something else is there. */
static int keeps_deepest(PyObject *options) {
  if (!options || !PyDict_Size(options)) return 0;
  PyObject *keep = PyDict_Size(options) == 1 ? PyDict_GetItemWithError(options, NAME[N_keep]) : NULL;
  return keep == NAME[N_deepest] ? 1 : keep == NAME[N_all] ? 0 : -1;
}

static PyObject *ask_one_shape(Quick *quick, PyObject *arguments, int keeps_deepest) {
  double row[OF_BOX + 1];
  if (PyTuple_Size(arguments) != 2 || !is_surface(quick, arguments)) return NULL;
  int count = shape_of(quick, ITEM(arguments, 1), row);
  row[count] = keeps_deepest;
  return count ? ask(quick, ITEM(arguments, 0), ask_shape, row, count) : NULL;
}

/* contacts(self, shape), with keep */
static PyObject *ask_contacts(Quick *quick, PyObject *arguments, PyObject *options) {
  int keeps = keeps_deepest(options);
  return keeps < 0 ? NULL : ask_one_shape(quick, arguments, keeps);
}

/* touches(self, shape) */
static PyObject *ask_touches(Quick *quick, PyObject *arguments, PyObject *options) {
  return options ? NULL : ask_one_shape(quick, arguments, 1);
}

/* ---- the sweep of one shape ---- */

/* Of distance, fraction, point, normal and the rest; NaN: none. */
static PyObject *as_sweep_hit(Quick *quick, PyObject *found, PyObject *made_of) {
  if (isnan(PyFloat_AsDouble(ITEM(found, 0)))) return NONE;
  PyObject *material = material_of(made_of, found);
  PyObject *point = material ? VECTOR(2) : NULL, *normal = point ? VECTOR(3) : NULL;
  return new_hit(quick, from_tuple(9, SHARED(1), SHARED(0), normal, point, SHARED(4), material, NONE,
                                   NONE, Py_NewRef(Py_False)));
}

/* Have arrays know how their triangles are connected; of a surface alone there is nothing to do. */
static int have_skins(Quick *quick, PyObject *arrays) {
  PyObject *find = slot_of(KEPT(FIND_SKINS), arrays);
  int is_done = find && (find == KEPT(NO_SKINS) || went_well(PyObject_CallNoArgs(find)));
  Py_XDECREF(find);
  return is_done;
}

/* Ask for the first touch; behind the numbers of the shape stand those of its motion. */
static PyObject *sweep_in(Quick *quick, PyObject *arrays, const double *row, int count) {
  enum { FIRST = 4, MOST = 7 };
  PyObject *table = table_of(quick, arrays), *found = NULL, *result = NULL;
  PyObject *made_of = table && have_skins(quick, arrays) ? slot_of(KEPT(MADE_OF), arrays) : NULL;
  PyObject *numbers = made_of ? new_row(row, count) : NULL;
  PyObject *values[MOST] = {table, KEPT(ALL_LAYERS), kind_of(quick, count), numbers};
  int k = FIRST;
  while (numbers && k < MOST && (values[k] = PyFloat_FromDouble(row[count + k - FIRST]))) k++;
  if (k == MOST && (found = call_kernel(KEPT(KERNEL), values, MOST)))
    result = quick->answer(quick, found, made_of);
  drop(values + FIRST, k - FIRST);
  drop((PyObject *[]){table, made_of, numbers, found}, 4);
  return result;
}

/* Scale a motion to as many meters as options tell, unless there are none. */
static int scale_motion(double *motion, PyObject *options) {
  PyObject *reach = NULL;
  double far;
  if (!options) return 1;
  if (PyDict_Size(options) == 1) reach = PyDict_GetItemWithError(options, NAME[N_max_distance]);
  if (!reach || !number(reach, &far) || far < 0.0 || !unit(motion)) return 0;
  for (int i = 0; i < 3; i++) motion[i] *= far;
  return 1;
}

/* sweep(self, shape, motion), with max_distance */
static PyObject *ask_sweep(Quick *quick, PyObject *arguments, PyObject *options) {
  double row[OF_BOX + 3];
  if (PyTuple_Size(arguments) != 3 || !is_surface(quick, arguments)) return NULL;
  int count = shape_of(quick, ITEM(arguments, 1), row);
  if (!count || !three_numbers(quick, ITEM(arguments, 2), row + count) ||
      !scale_motion(row + count, options) || !is_near(row + count))
    return NULL;
  return ask(quick, ITEM(arguments, 0), ask_table, row, count);
}
