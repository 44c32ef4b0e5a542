// What the fake nvJPEG asks of the fake driver.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
// fakecuda_fault is fault(): 0, or what FAKECUDA_FAIL has a call answer.
int fakecuda_fault(const char *function);
// fakecuda_setting is setting().
long long fakecuda_setting(const char *name, long long otherwise);
// fakecuda_context is 0 where the calling thread has a context that is of use.
int fakecuda_context(void);
// fakecuda_holds says whether memory of the GPU holds a range.
int fakecuda_holds(uintptr_t address, size_t bytes);
// fakecuda_enqueue queues work, which answers 0 or a CUresult; forget is called after it.
int fakecuda_enqueue(void *stream, int (*work)(void *), void (*forget)(void *), void *argument);
// fakecuda_object counts an object of nvJPEG's that is made (1) or freed (-1).
void fakecuda_object(int by);
// fakecuda_allocation counts memory that nvJPEG allocates for batches.
void fakecuda_allocation(void);
}
