// Random programs of allocations, frees and windows against a model that is too simple to be wrong.
// Operations run one at a time, on one thread or passed around among several, so that after every
// one of them the model says exactly what each window has to say.

#include "window_model.hpp"

#include "../support/scale.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <semaphore.h>
#include <cstdlib>

namespace {

using namespace allocscope_test;

// Programs of this many steps: short enough that "the last window ends" happens often.
constexpr int steps_of_a_program = 4000;

// ThreadSanitizer sees nothing where there is one thread.
constexpr long on_one_thread([[maybe_unused]] long rounds) {
#if defined(__SANITIZE_THREAD__)
    return 0;
#else
    return rounds;
#endif
}

TEST_CASE("windows agree with a plain model after every step, on one thread") {
    const long programs = on_one_thread(scaled(60));
    for (long seed = 1; seed <= programs; ++seed) {
        window_model model(static_cast<std::uint64_t>(seed), 1);
        for (int i = 0; i < steps_of_a_program && !model.failed(); ++i) model.step(0);
        model.end_windows();
        model.release_everything();
        INFO("seed " << seed << ": " << model.failure());
        REQUIRE_FALSE(model.failed());
    }
}

TEST_CASE("windows agree with a plain model under a window that never ends") {
    const long programs = on_one_thread(scaled(25));
    const allocscope::scope outer{"outer"};
    for (long seed = 1; seed <= programs; ++seed) {
        window_model model(static_cast<std::uint64_t>(1000000 + seed), 1);
        for (int i = 0; i < steps_of_a_program && !model.failed(); ++i) model.step(0);
        model.end_windows();
        model.release_everything();
        INFO("seed " << seed << ": " << model.failure());
        REQUIRE_FALSE(model.failed());
    }
}

// The right to act goes from seat to seat, each time for a few steps. Now and then the thread on a
// seat ends and a new one, which is another thread to every window, takes its place.
struct baton_game {
    window_model model;
    dice roll;
    int seats;
    long steps_left;
    int last_thread = 0;
    sem_t turns[8];
    sem_t has_left;

    baton_game(std::uint64_t seed, int seat_count, long steps, int slots)
        : model(seed, seat_count, slots), roll(seed + 77), seats(seat_count), steps_left(steps) {
        for (sem_t& turn : turns) sem_init(&turn, 0, 0);
        sem_init(&has_left, 0, 0);
    }
    ~baton_game() {
        for (sem_t& turn : turns) sem_destroy(&turn);
        sem_destroy(&has_left);
    }
    baton_game(const baton_game&) = delete;
    baton_game& operator=(const baton_game&) = delete;
};

void wait_for(sem_t& signal) {
    while (sem_wait(&signal) != 0) continue;
}

struct player {
    baton_game* game;
    int seat;
    int thread;  // never used twice
};

void sit_down(player& who);

void* play(void* self) {
    player& me = *static_cast<player*>(self);
    baton_game& game = *me.game;
    while (true) {
        wait_for(game.turns[me.seat]);
        for (std::uint64_t i = 1 + game.roll.below(60); i > 0 && game.steps_left > 0; --i) {
            game.steps_left = game.model.failed() ? 0 : game.steps_left - 1;
            game.model.step(me.thread);
        }
        if (game.steps_left <= 0) {
            sem_post(&game.turns[(me.seat + 1) % game.seats]);  // so that everybody comes to an end
            sem_post(&game.has_left);
            return nullptr;
        }
        const auto next = game.roll.below(static_cast<std::uint64_t>(game.seats));
        const bool leaves = game.roll.one_in(30);
        if (leaves) sit_down(me);
        sem_post(&game.turns[next]);
        if (leaves) return nullptr;
    }
}

void sit_down(player& who) {
    who.thread = ++who.game->last_thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, play, &who) != 0) std::abort();
    pthread_attr_destroy(&attributes);
}

void play_with(int seats, std::uint64_t seed, long steps, int slots = 12) {
    static player players[8];
    baton_game game(seed, seats, steps, slots);
    for (int i = 0; i < seats; ++i) {
        players[i] = {&game, i, 0};
        sit_down(players[i]);
    }
    sem_post(&game.turns[0]);
    for (int i = 0; i < seats; ++i) wait_for(game.has_left);
    game.model.end_windows();
    game.model.release_everything();
    INFO("threads " << seats << ", seed " << seed << ": " << game.model.failure());
    REQUIRE_FALSE(game.model.failed());
}

TEST_CASE("windows agree with a plain model when threads take turns and free for each other") {
    const long programs = scaled(15);
    for (long seed = 1; seed <= programs; ++seed) {
        for (const int threads : {2, 3, 8}) {
            play_with(threads, static_cast<std::uint64_t>(seed), steps_of_a_program);
        }
    }
}

TEST_CASE("windows agree with a plain model over a long run of eight threads") {
    play_with(8, 4711, scaled(50000));
}

TEST_CASE("windows agree with a plain model when a hundred are open") {
    window_model model(12, 1, most_windows);
    for (long i = on_one_thread(scaled(30000)); i > 0 && !model.failed(); --i) model.step(0);
    model.end_windows();
    model.release_everything();
    INFO(model.failure());
    REQUIRE_FALSE(model.failed());
    play_with(5, 13, scaled(30000), most_windows);
}

}  // namespace
