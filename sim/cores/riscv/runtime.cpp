// What compiled C++ calls without being asked: copies and fills of memory, and the hooks of a run time without a system.
#include <stddef.h>
#include <stdint.h>

extern "C" {
void* memcpy(void* to, const void* from, size_t size) {
    auto target = static_cast<uint8_t*>(to);
    auto source = static_cast<const uint8_t*>(from);
    if (((uintptr_t(target) | uintptr_t(source)) & 3) == 0)
        for (; size >= 4; size -= 4, target += 4, source += 4)
            *reinterpret_cast<uint32_t*>(target) = *reinterpret_cast<const uint32_t*>(source);
    for (; size; size--) *target++ = *source++;
    return to;
}
void* memmove(void* to, const void* from, size_t size) {
    auto target = static_cast<uint8_t*>(to);
    auto source = static_cast<const uint8_t*>(from);
    if (uintptr_t(target) - uintptr_t(source) < size) {
        while (size--) target[size] = source[size];
        return to;
    }
    constexpr size_t words = 4;  // at a time, one after the other: they may overlap the words before them
    if (((uintptr_t(target) | uintptr_t(source)) & 3) == 0)
        for (; size >= 4 * words; size -= 4 * words, target += 4 * words, source += 4 * words)
            for (size_t i = 0; i < words; i++)
                reinterpret_cast<uint32_t*>(target)[i] = reinterpret_cast<const uint32_t*>(source)[i];
    memcpy(target, source, size);
    return to;
}
void* memset(void* to, int value, size_t size) {
    auto target = static_cast<uint8_t*>(to);
    uint32_t word = uint8_t(value) * 0x01010101u;
    for (; size && (uintptr_t(target) & 3); size--) *target++ = value;
    for (; size >= 4; size -= 4, target += 4) *reinterpret_cast<uint32_t*>(target) = word;
    for (; size; size--) *target++ = value;
    return to;
}
int memcmp(const void* left, const void* right, size_t size) {
    auto a = static_cast<const uint8_t*>(left);
    auto b = static_cast<const uint8_t*>(right);
    for (; size; size--, a++, b++)
        if (*a != *b) return *a < *b ? -1 : 1;
    return 0;
}
size_t strlen(const char* text) {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
void __cxa_pure_virtual() { __builtin_trap(); }
void abort() { __builtin_trap(); }
void* __dso_handle;

#ifndef TENSIM_NO_START
void tensim_entry();
extern void (*const tensim_constructors[])();
extern void (*const tensim_constructors_end[])();
__attribute__((section(".text.start"), used)) void _start() {
    for (auto constructor = tensim_constructors; constructor != tensim_constructors_end; constructor++) (*constructor)();
    tensim_entry();
    asm volatile(".insn i 0x0b, 0, x0, x0, 256");
    __builtin_unreachable();
}
#endif
}
void operator delete(void*) noexcept {}
void operator delete(void*, size_t) noexcept {}
