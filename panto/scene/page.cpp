// The built page, taken into the program byte by byte, so that it needs no files when it runs.
#include "panto/scene/report.hpp"

#ifdef PANTO_PAGE_FILE

// clang-format off
__asm__(
    ".pushsection .rodata\n"
    ".global panto_page_begin\n"
    ".hidden panto_page_begin\n"
    ".global panto_page_end\n"
    ".hidden panto_page_end\n"
    "panto_page_begin:\n"
    ".incbin \"" PANTO_PAGE_FILE "\"\n"
    "panto_page_end:\n"
    ".byte 0\n"
    ".popsection\n");
// clang-format on

extern "C" {
__attribute__((visibility("hidden"))) extern const char panto_page_begin[];
__attribute__((visibility("hidden"))) extern const char panto_page_end[];
}

namespace panto::scene {
std::string_view page() {
  return {panto_page_begin, static_cast<size_t>(panto_page_end - panto_page_begin)};
}
}  // namespace panto::scene

#else

namespace panto::scene {
std::string_view page() { return {}; }
}  // namespace panto::scene

#endif
