#include "panto/base/contract.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace panto {

void contract_failed(const char* condition, const char* file, int line,
                     const std::string& message) {
  throw std::logic_error(fmt::format("{}:{}: {} (required: {})", file, line, message, condition));
}

}  // namespace panto
