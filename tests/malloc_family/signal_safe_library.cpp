// A shared library with a malloc that handlers may call; the hooks chain to it.
#include "../support/signal_safe_malloc.hpp"
