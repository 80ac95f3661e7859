/* ---- a group ---- */

/* A group in the course of an update; all but `self` is given back by `end_group`. */
typedef struct {
  PyObject *self, *data, *known, *rows;
  npy_intp count;
} Group;

static PyObject *of_group(Group *group, int name) {
  return PyDict_GetItemWithError(group->known, NAME[name]);
}

static npy_intp size_of(PyObject *table) {
  return table && PyDict_CheckExact(table) ? PyDict_Size(table) : -1;
}

/* Find the rows of all characters: those that were shown last, unless some have come or gone. */
static int begin_group(Quick *quick, PyObject *self, Group *group) {
  group->self = self;
  if (!PyObject_TypeCheck(self, (PyTypeObject *)KEPT(MOVEMENT))) return 0;
  PyObject *own = PyObject_GenericGetDict(self, NULL);
  PyObject *data = own ? PyDict_GetItemWithError(own, NAME[N__data]) : NULL;
  if (data && IS_OF(data, DATA)) group->data = Py_NewRef(data);
  Py_XDECREF(own);
  if (!group->data || !(group->known = PyObject_GenericGetDict(group->data, NULL))) return 0;
  PyObject *shown = of_group(group, N__shown), *end = of_group(group, N__end);
  if (!shown || !tuple(shown, 3) || ITEM(shown, 0) != of_group(group, N__room) || !end) return 0;
  group->rows = Py_NewRef(ITEM(shown, 1));
  if (!array(ITEM(group->rows, 0), NPY_FLOAT64, 2, IN_ORDER)) return 0;
  group->count = PyArray_DIM((PyArrayObject *)ITEM(group->rows, 0), 0);
  return group->count > 0 && group->count == size_of(of_group(group, N__places)) &&
         group->count == PyLong_AsSsize_t(end) && !size_of(of_group(group, N__adopted));
}

static void end_group(Group *group) { drop(&group->data, 3); }

static const double *row_at(Group *group, npy_intp index) {
  PyArrayObject *states = (PyArrayObject *)ITEM(group->rows, 0);
  return (double *)PyArray_DATA(states) + index * PyArray_DIM(states, 1);
}

/* Whether all have seen the ground as it is; -1: an error. */
static int have_seen(Group *group, Step *step) {
  PyObject *sizes = PyObject_GetAttr(step->queries, NAME[N_cell_sizes]);
  if (!sizes) return -1;
  int same = sizes == of_group(group, N_cell_sizes);
  double contents = PyLong_AsDouble(step->contents);
  for (npy_intp i = 0; same && i < group->count; i++)
    same = row_at(group, i)[PLACE[GROUND_VERSION]] == contents;
  Py_DECREF(sizes);
  return same;
}

/* What they touch before the update. */
static PyObject *touched_by(Quick *quick, Group *group, Step *step) {
  npy_intp width = PLACE[GROUND_TRIANGLE] + 1 - PLACE[GROUND_KIND], shape[] = {group->count, width};
  PyObject *rows = PyArray_SimpleNew(2, shape, NPY_FLOAT64), *made = NULL;
  double *out = rows ? PyArray_DATA((PyArrayObject *)rows) : NULL;
  for (npy_intp i = 0; rows && i < group->count; i++)
    memcpy(out + i * width, row_at(group, i) + PLACE[GROUND_KIND], width * sizeof(*out));
  if (rows) made = PyObject_CallFunctionObjArgs(KEPT(TOUCHED), rows, step->queries, NULL);
  Py_XDECREF(rows);
  return made;
}

static PyObject *group_result(Quick *quick, Group *group, Step *step, PyObject *before,
                              PyObject *logs) {
  PyObject *states = PyArray_NewCopy((PyArrayObject *)ITEM(group->rows, 0), NPY_CORDER);
  PyObject *fields = PyDict_New(), *made = NULL;
  if (states && fields) made = PyType_GenericAlloc((PyTypeObject *)KEPT(RESULT), 0);
  if (made &&
      (SET_SLOT(KEPT(STATES), made, states) || SET_SLOT(KEPT(SECONDS), made, step->seconds) ||
       SET_SLOT(KEPT(LOGS), made, logs) || SET_SLOT(KEPT(BEFORE), made, before) ||
       SET_SLOT(KEPT(WAITING), made, Py_None) || SET_SLOT(KEPT(MADE), made, fields)))
    Py_CLEAR(made);
  drop((PyObject *[]){states, fields}, 2);
  return made;
}

/* Their hits, if any ran into something. */
static PyObject *logs_of_group(Quick *quick, Group *group, Step *step, PyObject *any_hits) {
  if (any_hits != Py_True) return Py_NewRef(Py_None);
  return PyObject_CallFunctionObjArgs(KEPT(LOGS_OF), group->rows, step->queries, NULL);
}

/* Advance all, and make the result: what lies between is the method's. */
static PyObject *advance_group(Quick *quick, Group *group, Step *step) {
  PyObject *rows = group->rows, *of = step->queries, *done = NULL, *logs = NULL, *result = NULL;
  int seen = have_seen(group, step);
  PyObject *before =
      seen < 0 ? NULL
      : seen   ? touched_by(quick, group, step)
               : PyObject_CallMethodObjArgs(group->self, NAME[N__see_changes], rows, of, NULL);
  if (before)
    done = PyObject_CallMethodObjArgs(group->self, NAME[N__advance], rows, of, step->seconds, NULL);
  if (done) logs = logs_of_group(quick, group, step, done);
  if (logs && !SET_SLOT(KEPT(LAST), step->time, step->seconds) &&
      went_well(PyObject_CallMethodObjArgs(group->data, NAME[N_show_adopted], NULL)))
    result = group_result(quick, group, step, before, logs);
  drop((PyObject *[]){before, done, logs}, 3);
  return result;
}

/* update(self, delta_time) */
static PyObject *update_group(Quick *quick, PyObject *arguments, PyObject *options) {
  Group group = {0};
  Step step = {0};
  PyObject *result = NULL;
  if (!options && PyTuple_Size(arguments) == 2 && begin_group(quick, ITEM(arguments, 0), &group) &&
      begin_time(quick, of_group(&group, N_time), ITEM(arguments, 1), &step) &&
      begin_ground(quick, of_group(&group, N_ground), &step) &&
      !SET_SLOT(KEPT(IN_UPDATE), step.time, Py_True)) {
    result = advance_group(quick, &group, &step);
    SET_SLOT(KEPT(IN_UPDATE), step.time, Py_False); /* looks at no error */
  }
  drop(&step.time, 4);
  end_group(&group);
  return result;
}
