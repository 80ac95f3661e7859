/* numba's runtime: counted blocks of memory, laid out as machine code reads them, and what it calls of C.

   It knows nothing of Python. Machine code takes sizes for 64 bits wide on each system, browsers' of 32 bits too,
   and those call no function by another type than its own. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Destructor)(void *data, uint64_t size, void *info);
typedef void (*ListDestructor)(void *data);
typedef struct {
  uint64_t references;
  Destructor destructor;
  void *info;
  void *data;
  uint64_t size;
  void *external;
} Memory;

Memory *NRT_MemInfo_alloc_aligned(uint64_t size, uint32_t align) {
  Memory *memory = malloc(sizeof(Memory) + size + align);
  if (!memory) return NULL;
  uintptr_t data = (uintptr_t)(memory + 1);
  data += (align - data % align) % align;
  *memory = (Memory){1, NULL, NULL, (void *)data, size, NULL};
  return memory;
}

Memory *NRT_MemInfo_alloc(uint64_t size) { return NRT_MemInfo_alloc_aligned(size, 16); }

void NRT_MemInfo_call_dtor(Memory *memory) {
  if (memory->destructor) memory->destructor(memory->data, memory->size, memory->info);
  free(memory);
}

static void free_varying(void *data, uint64_t size, void *info) {
  (void)size;
  if (info) ((ListDestructor)info)(data);
  free(data);
}

Memory *NRT_MemInfo_new_varsize_dtor(uint64_t size, ListDestructor destructor) {
  Memory *memory = malloc(sizeof(Memory));
  void *data = malloc(size ? size : 1);
  if (!memory || !data) {
    free(memory);
    free(data);
    return NULL;
  }
  *memory = (Memory){1, free_varying, (void *)destructor, data, size, NULL};
  return memory;
}

void *NRT_Allocate(uint64_t size) { return malloc(size); }
void NRT_Free(void *data) { free(data); }

double numba_ldexp(double value, int exponent) { return ldexp(value, exponent); }
double numba_frexp(double value, int *exponent) { return frexp(value, exponent); }
