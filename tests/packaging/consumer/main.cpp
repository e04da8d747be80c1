#if __has_include("panto/base/status.hpp")
#include "panto/base/status.hpp"
#endif

int main() { return 0; }
