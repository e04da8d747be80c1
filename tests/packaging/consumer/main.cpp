#include <string_view>

#include "panto/base/status.hpp"

int main() { return std::string_view(panto::to_string(panto::Status::kOk)).empty() ? 1 : 0; }
