// with_window.cpp - allocscope compiled in, as its users do it: with replaced_operators.cpp.

#include "recording_window.hpp"

#include "../window_modes.hpp"

#include <cstdio>    // fprintf
#include <cstdlib>   // atoi, exit
#include <iostream>  // cerr
#include <memory>    // make_shared

namespace benchmarks {

namespace {

window_mode mode_named(const std::string& name) {
    if (name == "off") return std::nullopt;
    if (name == "counters") return counters();
    if (name == "sampled") return sampled();
    if (name.rfind("exact ", 0) == 0) {
        return exact(static_cast<std::uint32_t>(std::atoi(name.c_str() + 6)));
    }
    std::fprintf(stderr, "no mode %s; recording_window.hpp names them\n", name.c_str());
    std::exit(2);
}

}  // namespace

std::function<void()> begin_recording(const std::string& mode) {
    const window_mode wanted = mode_named(mode);
    if (!wanted) return [] {};
    const auto window = std::make_shared<allocscope::scope>("against peers", *wanted);
    return [window] { std::cerr << window->stop(); };
}

}  // namespace benchmarks
