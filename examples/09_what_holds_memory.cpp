// What holds my memory? A report by bytes, and what came between two moments of one window.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/09_what_holds_memory.cpp -o what_holds_memory
//     ./what_holds_memory
//
// The bytes of pixels are allocated in kit::buffer, for everybody who has one. Its line is the same
// for thumbnails and photographs, so it answers nothing. Declared to be library code, kit gives its
// rows to whoever called it.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/report.hpp>

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kit {

class buffer {
public:
    explicit buffer(std::size_t bytes) : bytes_(new unsigned char[bytes]) {}

private:
    std::unique_ptr<unsigned char[]> bytes_;
};

}  // namespace kit

namespace gallery {

struct picture {
    std::string title;
    kit::buffer pixels;
};

class album {
public:
    void load_thumbnails() {
        for (int i = 0; i < 200; ++i) {
            std::string title = "holidays, picture number " + std::to_string(i);
            kit::buffer pixels(64 * 64);
            add({std::move(title), std::move(pixels)});
        }
    }

    void open_photograph() {
        kit::buffer pixels(1920 * 1080 * 3);
        add({"photograph", std::move(pixels)});
    }

private:
    void add(picture made) { shown_.push_back(std::make_unique<picture>(std::move(made))); }

    std::vector<std::unique_ptr<picture>> shown_;
};

}  // namespace gallery

int main() {
    allocscope::library_frames("kit::");  // rows go to the callers of kit
    gallery::album album;
    allocscope::scope window{"gallery"};
    album.load_thumbnails();
    const allocscope::snapshot earlier = window.stats();
    album.open_photograph();
    const allocscope::snapshot now = window.stats();

    allocscope::text_options by_bytes;
    by_bytes.sort = allocscope::row_order::bytes;
    allocscope::write_text(now, std::cout, by_bytes);
    allocscope::write_text(now.difference_from(earlier), std::cout, by_bytes);
}
