// The C allocator of a test program counts its calls, and with it operator new and Eigen. For one file of a program; not under sanitizers, which
// have an allocator of their own.
#pragma once

// Before the definitions: it declares some of these functions again.
#include <Eigen/Core>
#include <atomic>
#include <cstdlib>

namespace {
std::atomic<long> calls{0};
}

extern "C" {
void* __libc_malloc(size_t);            // NOLINT: names of the C library
void* __libc_calloc(size_t, size_t);    // NOLINT
void* __libc_realloc(void*, size_t);    // NOLINT
void* __libc_memalign(size_t, size_t);  // NOLINT
void* malloc(size_t n) {
  ++calls;
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  ++calls;
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  ++calls;
  return __libc_realloc(p, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  ++calls;
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** p, size_t alignment, size_t n) {
  ++calls;
  *p = __libc_memalign(alignment, n);
  return *p ? 0 : 12;
}
}
