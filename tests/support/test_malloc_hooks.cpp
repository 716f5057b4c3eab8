// The one translation unit with the hooks of malloc and its family, for tests that say
// `// hooks: malloc`.
#include <allocscope/define_once/malloc_family.hpp>
