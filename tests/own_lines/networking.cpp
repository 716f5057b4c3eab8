// Boost.Asio: the program's handlers are called through many frames of the library.

#include "share.hpp"

#include <boost/asio.hpp>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;

class session : public std::enable_shared_from_this<session> {
public:
    explicit session(tcp::socket socket) : socket_(std::move(socket)) {}

    void start() {
        asio::async_read_until(
            socket_, buffer_, '\n',
            [self = shared_from_this()](boost::system::error_code, std::size_t) {});
    }

private:
    tcp::socket socket_;
    asio::streambuf buffer_;
};

class server {
public:
    explicit server(asio::io_context& io)
        : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        accept();
    }

    tcp::endpoint where() const { return acceptor_.local_endpoint(); }

private:
    void accept() {
        acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
            if (error) return;
            sessions_.push_back(std::make_shared<session>(std::move(socket)));
            sessions_.back()->start();
            accept();
        });
    }

    tcp::acceptor acceptor_;
    std::vector<std::shared_ptr<session>> sessions_;
};

int main() {
    const allocscope::scope window{"Boost.Asio"};
    asio::io_context io;
    const server listening(io);
    tcp::socket client(io);
    client.connect(listening.where());
    asio::steady_timer timer(io, std::chrono::hours(1));
    timer.async_wait([text = std::string(100, 'x')](boost::system::error_code) {});
    io.run_for(std::chrono::milliseconds(20));
    const auto strand = asio::make_strand(io);
    asio::post(strand, [numbers = std::vector<int>(10)] {});
    asio::thread_pool pool(1);
    asio::streambuf buffer;
    std::ostream(&buffer) << std::string(300, 'x');
    const allocscope::snapshot seen = window.stats();
    const int misspelled =
        testing::lacks_types(seen, {"session", "std::shared_ptr<session>",
                                    "boost::asio::detail::epoll_reactor", "int", "char"});
    return testing::own_lines(seen, __FILE__, 20) + misspelled;
}
