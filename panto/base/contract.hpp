// Contract checks that stay on in release: misuse of the library ends with a message, not with a
// wrong number.
#pragma once

#include <string>

namespace panto {

[[noreturn]] void contract_failed(const char* condition, const char* file, int line,
                                  const std::string& message);

}  // namespace panto

#define PANTO_EXPECT(condition, message)                                                   \
  do {                                                                                     \
    if (!(condition)) ::panto::contract_failed(#condition, __FILE__, __LINE__, (message)); \
  } while (false)
