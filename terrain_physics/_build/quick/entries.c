/* ---- all entries ---- */

static const struct {
  const char *name;
  QuickCall call;
  QuickAsk ask;
  QuickAnswer answer;
  Py_ssize_t kept;
  PyObject **shared; /* where it is kept for all, if it is no method */
} ENTRIES[] = {{"walk", walk, NULL, NULL, OF_CHARACTERS, NULL},
               {"update", update, NULL, NULL, OF_CHARACTERS, NULL},
               {"update", update_group, NULL, NULL, OF_GROUPS, NULL},
               {"raycast", ask_ray, ask_arrays, as_ray_hit, OF_TABLES, NULL},
               {"closest_point", ask_point, ask_arrays, as_closest, OF_TABLES, NULL},
               {"contains", ask_point, ask_arrays, as_bool, OF_TABLES, NULL},
               {"signed_distance", ask_point, ask_arrays, as_found, OF_TABLES, NULL},
               {"height_at", ask_place, NULL, as_found, OF_PLACES, NULL},
               {"normal_at", ask_place, NULL, as_normal, OF_PLACES, NULL},
               {"contacts", ask_contacts, contacts_in, as_contacts, OF_SHAPES, NULL},
               {"touches", ask_touches, contacts_in, as_touching, OF_SHAPES, NULL},
               {"sweep", ask_sweep, sweep_in, as_sweep_hit, OF_SWEEPS, NULL},
               {"move", move, NULL, NULL, OF_MOVES, NULL},
               {"move_many", move_many, NULL, NULL, OF_MOVES, NULL},
               {"maps", NULL, NULL, NULL, OF_MAPS, MAP},
               {"meshes", NULL, NULL, NULL, OF_MESHES, MESH},
               {"parts", NULL, NULL, NULL, 1, &ASKED},
               {NULL, NULL, NULL, NULL, 0, NULL}};

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

/* quick(name, method, kept): what stands in for the method on its class; of kinds of ground nothing */
static PyObject *make_quick(PyObject *self, PyObject *arguments) {
  const char *name;
  PyObject *method, *kept, *parts[32];
  size_t i = 0;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "sOO!", &name, &method, &PyTuple_Type, &kept)) return NULL;
  Py_ssize_t count = PyTuple_Size(kept);
  while (ENTRIES[i].name && (strcmp(ENTRIES[i].name, name) || ENTRIES[i].kept != count)) i++;
  if (!ENTRIES[i].name)
    return PyErr_Format(PyExc_ValueError, "no entry in C is named %s and knows so much", name);
  for (Py_ssize_t k = 0; k < count; k++) parts[k] = Py_NewRef(ITEM(kept, k));
  for (Py_ssize_t k = 0; count == OF_CHARACTERS && k < PLACES; k++)
    PLACE[k] = PyLong_AsSsize_t(parts[FIRST_PLACE + k]);
  if (ENTRIES[i].shared) {
    memcpy(ENTRIES[i].shared, parts, count * sizeof(*parts));
    return Py_NewRef(Py_None);
  }
  if (!TYPE && !begin_entries(parts)) return NULL;
  Quick *made = (Quick *)PyType_GenericAlloc((PyTypeObject *)TYPE, 0);
  if (!made) return NULL;
  made->method = Py_NewRef(method);
  made->call = ENTRIES[i].call;
  made->ask = ENTRIES[i].ask;
  made->answer = ENTRIES[i].answer;
  memcpy(made->kept, parts, count * sizeof(*parts));
  return (PyObject *)made;
}

static PyMethodDef QUICK_METHODS[] = {{"quick", make_quick, METH_VARARGS, NULL}, {0}};

static int add_quick(PyObject *module) {
  if (PyModule_AddFunctions(module, QUICK_METHODS) < 0) return -1;
  return PyModule_AddStringConstant(module, "QUICK", QUICK);
}
