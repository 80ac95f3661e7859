/* Replays a tape of kernel calls, and compares results and memory: see `record.py`.

   It comes behind the declarations of the kernels and the table of them that `host.py` writes. */

static char *FOUND;
static int64_t FOUND_SIZE;

static void put(const void *value, int64_t size) {
  memcpy(FOUND + FOUND_SIZE, value, size);
  FOUND_SIZE += size;
}

static void put_float(double value) { put(&value, 8); }
static void put_integer(int64_t value) { put(&value, 8); }

static void release(Memory *memory) {
  if (memory && --memory->references == 0) NRT_MemInfo_call_dtor(memory);
}

enum { MOST_BLOCKS = 2048, MOST_WORDS = 512, MOST_FOUND = 1 << 22, MOST_ROOM = 1 << 26 };
static char *ROOM;
static int64_t USED;

/* Return memory that is free again at the next call. */
static void *room(int64_t size) {
  void *memory = ROOM + USED;
  USED += (size + 127) & ~(int64_t)63;
  if (USED > MOST_ROOM) exit(2);
  return memory;
}

static void take(void *place, int64_t size) {
  if (size && fread(place, size, 1, stdin) != 1) exit(3);
}

static int64_t number(void) {
  int64_t value;
  take(&value, 8);
  return value;
}

enum { NUMBER, FLOAT64, FLOAT32, ADDRESS, NOTHING };

static char *BLOCKS[MOST_BLOCKS], *BEFORE[MOST_BLOCKS], *AFTER[MOST_BLOCKS];
static int64_t SIZES[MOST_BLOCKS];
static Word WORDS[MOST_WORDS];

/* Put the addresses of this process where the recorded one had its own. */
static void put_addresses(char **contents) {
  for (int64_t left = number(); left > 0; left--) {
    int64_t block = number(), place = number(), named = number(), inside = number();
    int64_t address = (int64_t)(uintptr_t)(BLOCKS[named] + inside);
    double as_float = (double)address;
    memcpy(contents[block] + place, number() ? (void *)&as_float : (void *)&address, 8);
  }
}

static int64_t take_words(void) {
  int64_t count = number();
  if (count > MOST_WORDS) exit(4);
  for (int64_t i = 0; i < count; i++) {
    int64_t kind = number(), value = number(), inside = number();
    double real;
    memcpy(&real, &value, 8);
    memset(&WORDS[i], 0, sizeof(Word));
    if (kind == NUMBER) WORDS[i].i = value;
    if (kind == FLOAT64) WORDS[i].d = real;
    if (kind == FLOAT32) WORDS[i].f = (float)real;
    if (kind == ADDRESS) WORDS[i].p = BLOCKS[value] + inside;
  }
  return count;
}

/* Tell whether memory is as expected; if not, say where it differs first. */
static int is_equal(const char *found, const char *expected, int64_t size, int block) {
  for (int64_t i = 0; i < size; i++)
    if (found[i] != expected[i]) {
      printf("block %d differs from byte %d of %d: ", block, (int)i, (int)size);
      return 0;
    }
  return 1;
}

/* Replay one call; return whether all is as it was recorded. The result counts as block -1. */
static int replay(int64_t *kernel) {
  USED = 0;
  *kernel = number();
  int64_t blocks = number();
  if (blocks > MOST_BLOCKS) exit(5);
  for (int64_t i = 0; i < blocks; i++) {
    SIZES[i] = number();
    BLOCKS[i] = room(SIZES[i]);
    take(BEFORE[i] = room(SIZES[i]), SIZES[i]);
    take(AFTER[i] = room(SIZES[i]), SIZES[i]);
  }
  put_addresses(BEFORE);
  put_addresses(AFTER);
  take_words();
  int64_t size = number();
  char *expected = room(size);
  take(expected, size);
  for (int64_t i = 0; i < blocks; i++) memcpy(BLOCKS[i], BEFORE[i], SIZES[i]);
  FOUND_SIZE = 0;
  int equal = KERNELS[*kernel](WORDS) == 0 && FOUND_SIZE == size;
  equal = equal && is_equal(FOUND, expected, size, -1);
  for (int64_t i = 0; equal && i < blocks; i++) equal = is_equal(BLOCKS[i], AFTER[i], SIZES[i], i);
  return equal;
}

int main(void) {
#ifdef _WIN32
  _setmode(0, _O_BINARY);
#endif
  FOUND = malloc(MOST_FOUND);
  ROOM = (char *)(((uintptr_t)malloc(MOST_ROOM + 64) + 63) & ~(uintptr_t)63);
  int64_t equal = 0, calls = number(), kernel;
  for (int64_t i = 0; i < calls; i++) {
    if (replay(&kernel))
      equal++;
    else
      printf("call %d of kernel_%d differs\n", (int)i, (int)kernel);
    fflush(stdout);
  }
  printf("%d of %d calls are equal\n", (int)equal, (int)calls);
  return 0;
}
